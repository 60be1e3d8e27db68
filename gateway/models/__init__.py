"""Tables of the gateway app."""

from gateway.models.access import AllowEntry, AuditEvent
from gateway.models.accounts import Account, AccountState, ProcessBeat
from gateway.models.chats import ChatPolicy, HomeChannel
from gateway.models.conversations import Conversation, Session, TranscriptEntry
from gateway.models.inbound import Decision, InboundEvent
from gateway.models.media import Direction, MediaFile, MediaState, Upload
from gateway.models.turns import Note, ToolCall, ToolState, Turn

__all__ = [
    "Account",
    "AccountState",
    "AllowEntry",
    "AuditEvent",
    "ChatPolicy",
    "Conversation",
    "Decision",
    "Direction",
    "HomeChannel",
    "InboundEvent",
    "MediaFile",
    "MediaState",
    "Note",
    "ProcessBeat",
    "Session",
    "ToolCall",
    "ToolState",
    "TranscriptEntry",
    "Turn",
    "Upload",
]
