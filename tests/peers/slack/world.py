"""What there is in the workspace: people, conversations, messages, files, forms."""

import itertools
import time
from dataclasses import dataclass, field
from typing import Any

TEAM, APP, BOT, BOT_USER = "T0PEER001", "A0PEER001", "B0PEER001", "U0PEERBOT"
Message = dict[str, Any]


class Refused(Exception):
    """Slack says no, in one word; `needed` is a scope that is lacking."""

    def __init__(self, error: str, *, needed: str = "") -> None:
        super().__init__(error)
        self.error, self.needed = error, needed


@dataclass
class Channel:
    """A conversation: `im`, `mpim`, `group` (private) or `channel`."""

    id: str
    kind: str = "channel"
    is_archived: bool = False
    has_bot: bool = True
    person: str = ""
    messages: dict[str, Message] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """A message as a person sees it now."""

    message_id: str
    text: str
    by_bot: bool
    user: str
    thread: str
    buttons: tuple[tuple[tuple[str, str], ...], ...]
    edited: bool
    files: tuple[str, ...]
    blocks: tuple[dict[str, Any], ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """What is written on its buttons, and beside its boxes to tick."""
        return tuple(label for row in self.buttons for label, _ in row)


@dataclass(frozen=True)
class Ephemeral:
    """Words that one person alone saw."""

    channel: str
    user: str
    text: str
    thread: str


class World:
    """Everything in the workspace; the peer's lock guards it."""

    def __init__(self) -> None:
        self.channels: dict[str, Channel] = {}
        self.users: dict[str, str] = {BOT_USER: "hermes"}
        self.files: dict[str, dict[str, Any]] = {}
        self.views: dict[str, dict[str, Any]] = {}
        self.triggers: dict[str, float] = {}
        self.statuses: list[tuple[str, str, str]] = []
        self.ephemeral: list[Ephemeral] = []
        self.response_urls: dict[str, tuple[str, str]] = {}
        self._numbers = itertools.count(1)
        self._started = int(time.time())

    def number(self) -> int:
        """A number that was never given before."""
        return next(self._numbers)

    def ts(self) -> str:
        """The name of a new message: when, and which of that second."""
        return f"{int(time.time())}.{self.number():06d}"

    def user(self, user_id: str) -> str:
        """The name of a person, made up at first sight."""
        return self.users.setdefault(user_id, f"person {user_id[-3:].lower()}")

    def channel(self, channel_id: str, **fields: Any) -> Channel:
        """A conversation, made at first sight: by the first letter of its id."""
        if channel_id not in self.channels:
            kind = {"D": "im", "G": "group"}.get(channel_id[0], "channel")
            self.channels[channel_id] = Channel(channel_id, **{"kind": kind, **fields})
        return self.channels[channel_id]

    def reachable(self, channel_id: object) -> Channel:
        """A conversation that the bot may write to.

        Raises:
            Refused: It may not.
        """
        found = self.channels.get(str(channel_id))
        if found is None:
            raise Refused("channel_not_found")
        if found.is_archived:
            raise Refused("is_archived")
        if not found.has_bot:
            raise Refused("not_in_channel")
        return found

    def store(self, channel: Channel, message: Message) -> Message:
        """Let a message stand in a conversation."""
        ts = self.ts()
        stored = {"type": "message", **message, "ts": ts}
        channel.messages[ts] = stored
        thread = stored.get("thread_ts")
        if thread in channel.messages:  # the first of a thread names itself, from now on
            channel.messages[thread].setdefault("thread_ts", thread)
        return stored

    def shown(self, channel: Channel) -> list[Shown]:
        """What people see there, oldest first."""
        return [_shown(message) for message in channel.messages.values()]


def _shown(message: Message) -> Shown:
    thread = message.get("thread_ts") or ""
    return Shown(
        message_id=message["ts"],
        text=message.get("text") or "",
        by_bot=message.get("user") == BOT_USER,
        user=message.get("user") or "",
        thread="" if thread == message["ts"] else thread,
        buttons=tuple(_row(block) for block in message.get("blocks") or () if _row(block)),
        edited="edited" in message,
        files=tuple(file["name"] for file in message.get("files") or ()),
        blocks=tuple(message.get("blocks") or ()),
    )


def _row(block: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    row: list[tuple[str, str]] = []
    for element in block.get("elements") or ():
        if element["type"] == "button":
            row.append((element["text"]["text"], element["value"]))
        options = element.get("options") or ()
        row.extend((option["text"]["text"], option["value"]) for option in options)
    return tuple(row)
