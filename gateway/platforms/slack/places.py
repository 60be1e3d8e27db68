"""What the readers of Slack's payloads share: who we are, and where something was said. Pure."""

from dataclasses import dataclass
from typing import Any

from gateway.messages import ChatType

PLATFORM = "slack"
Raw = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Us:
    """Who the account is, as far as its payloads are read by it.

    Attributes:
        account: Its name in this installation.
        user_id: The bot's own user; empty while it is not known.
        replies_in_threads: In a channel, an answer goes below the message that asked.
    """

    account: str
    user_id: str = ""
    replies_in_threads: bool = True


class NotForUs(Exception):
    """A well-formed payload that nothing is to be done about; its text is the reason."""

    def __init__(self, reason: str, *, event_id: str = "") -> None:
        super().__init__(reason)
        self.event_id = event_id


def chat_type_of(channel: str, kind: str = "") -> ChatType:
    """What kind of place a conversation is.

    A private talk of several people is a group like any channel: there, too, somebody may mean
    another one.

    Args:
        channel: Its id.
        kind: What the event calls it: `im`, `mpim`, `channel`, `group` or nothing.
    """
    is_private = kind == "im" or (not kind and channel.startswith("D"))
    return ChatType.DM if is_private else ChatType.GROUP


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Where one of our messages with controls stands, as the message itself says it.

    A press tells the channel and the message, but not always the workspace or the thread under
    which we keep them: an organization's app is told the presser's workspace, and the first
    message of a thread names itself as its thread.

    Attributes:
        scope: The workspace, as in the address it was sent to.
        thread: The thread, as in that address.
    """

    scope: str
    thread: str

    def encoded(self, row: int) -> str:
        """The id of a block; no two rows of a message have the same. At most 255 characters."""
        return f"{row}|{self.scope}|{self.thread}"[:255]

    @classmethod
    def decoded(cls, block_id: str) -> "Spot | None":
        """The spot that `encoded` wrote; None if it is no such text."""
        words = block_id.split("|")
        if len(words) != 3 or not words[0].isdecimal():
            return None
        return cls(scope=words[1], thread=words[2])
