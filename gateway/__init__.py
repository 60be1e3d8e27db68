"""What comes in, who may speak, and whose turn it is."""
