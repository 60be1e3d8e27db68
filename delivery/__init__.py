"""How a reply leaves, and the proof that it left. The lowest app: it knows no platform and no agent."""
