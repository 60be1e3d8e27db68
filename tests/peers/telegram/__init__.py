"""A Telegram Bot API server for tests and benchmarks: `TelegramPeer`."""

from tests.peers.faults import Fault, Flood
from tests.peers.server import Gate
from tests.peers.telegram.api import CallbackAnswer, Typing
from tests.peers.telegram.peer import TOKEN, TelegramPeer
from tests.peers.telegram.person import PERSON
from tests.peers.telegram.world import Shown

__all__ = [
    "PERSON",
    "TOKEN",
    "CallbackAnswer",
    "Fault",
    "Flood",
    "Gate",
    "Shown",
    "TelegramPeer",
    "Typing",
]
