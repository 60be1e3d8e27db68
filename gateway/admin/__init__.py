"""Pages for staff: what came in, who may speak, whose turn it is."""

from gateway.admin import access, accounts, conversations, inbound, turns

__all__ = ["access", "accounts", "conversations", "inbound", "turns"]
