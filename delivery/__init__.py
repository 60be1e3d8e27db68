"""How a reply leaves, and the proof that it left.

The lowest app: it knows no platform, no session and no agent.
"""
