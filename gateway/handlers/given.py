"""A command as somebody gave it, and what it says in return."""

from dataclasses import dataclass
from datetime import datetime

from clarify.models import Prompt
from clarify.questions import Answerer
from gateway.commands import Command
from gateway.deeds import Deed
from gateway.heard import Heard
from gateway.messages import InboundMessage
from gateway.models import Conversation, Turn


@dataclass(frozen=True)
class Done:
    """What a command says, and the prompt it closed or the turn it began, if any."""

    say: str
    prompt: Prompt | None = None
    turn: Turn | None = None
    deeds: tuple[Deed, ...] = ()


@dataclass(frozen=True)
class Given:
    """A command, as somebody gave it in a conversation."""

    command: Command
    heard: Heard

    @property
    def event(self) -> InboundMessage:
        """The message that it stood in."""
        return self.heard.event

    @property
    def conversation(self) -> Conversation:
        """Where it counts."""
        return self.heard.conversation

    @property
    def speaker(self) -> Answerer:
        """Who gave it."""
        return self.heard.speaker

    @property
    def now(self) -> datetime:
        """The present."""
        return self.heard.now

    @property
    def lane(self) -> str:
        """Where it was given."""
        return self.event.source.address.lane
