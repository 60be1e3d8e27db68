"""An OpenAI-compatible model server for tests and benchmarks: `ModelPeer`."""

from tests.peers.model.peer import ModelCall, ModelPeer
from tests.peers.model.replies import Reply, Script, ToolCall
from tests.peers.model.scripts import by_keyword, echo, in_turn
from tests.peers.server import Gate

__all__ = [
    "Gate",
    "ModelCall",
    "ModelPeer",
    "Reply",
    "Script",
    "ToolCall",
    "by_keyword",
    "echo",
    "in_turn",
]
