"""One platform as the conformance suite sees it: an adapter, and a peer to stand in for the rest.

A new platform subclasses `Harness`, says what it can do by `platform.capabilities`, and gets every
test of `Conformance` that asks for no more than that.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from delivery.addresses import Address
from delivery.content import Button, Controls, Rendered
from delivery.ports import OutgoingPart
from gateway.ports import AccountConfig, Adapter, Platform
from tests.peers.faults import Fault
from tests.peers.server import Peer

ACCOUNT = "main"


@dataclass(frozen=True)
class Seen:
    """A message of the bot's as a person sees it now."""

    message_id: str
    text: str
    labels: tuple[str, ...] = ()
    thread: str = ""


class Harness(ABC):
    """A platform, its peer, and what people do there.

    Attributes:
        platform: The platform.
        peer: The server that stands in for it.
        private: The chat of one person with the bot.
        group: A chat of several people.
        secrets: What may stand in no error and no log.
        methods: The peer's method behind `connect`, `receive`, `send`, `edit`.
    """

    platform: Platform
    peer: Peer
    private: str
    group: str
    secrets: tuple[str, ...]
    methods: dict[str, str]
    scope: str = ""

    @abstractmethod
    def config(self, **options: str) -> AccountConfig:
        """An account with good credentials on the peer."""

    @abstractmethod
    def wrong_config(self) -> AccountConfig:
        """One whose credential looks right and is refused."""

    @abstractmethod
    def impatient(self) -> dict[str, str]:
        """The options with which silence of a third of a second counts as none."""

    # --- what people do -------------------------------------------------------------------------

    @abstractmethod
    def say(self, text: str, *, thread: str = "") -> str:
        """Let a person write, in their own chat or in a thread of the group; the message's id."""

    @abstractmethod
    def press(self, message_id: str, label: str) -> None:
        """Let a person press a button in their own chat."""

    @abstractmethod
    def say_nonsense(self) -> None:
        """Let the platform tell something that nobody can read."""

    @abstractmethod
    def share_file(self, data: bytes, name: str) -> None:
        """Let a person send a file."""

    @abstractmethod
    def seen(self, chat: str) -> list[Seen]:
        """What the bot shows in a chat now, oldest first."""

    def told(self, press_text: str) -> bool:
        """Whether a presser read `press_text`."""
        raise NotImplementedError

    # --- what happens ---------------------------------------------------------------------------

    @abstractmethod
    def open_thread(self) -> str:
        """A thread in the group that the bot may write to."""

    @abstractmethod
    def close_thread(self, thread: str) -> None:
        """Let a thread be gone."""

    @abstractmethod
    def close_chat(self) -> None:
        """Let the person's chat be closed to the bot."""

    @abstractmethod
    def remove(self, message_id: str) -> None:
        """Let a message in the person's chat be deleted behind the bot's back."""

    @abstractmethod
    def cut(self) -> None:
        """Let the connection over which news come die without a word."""

    def fault(self, operation: str, kind: str, **fields: Any) -> Fault:
        """Let something go wrong with an operation from now on."""
        return self.peer.faults.add(  # type: ignore[attr-defined]
            Fault(kind=kind, method=self.methods[operation], **fields)
        )

    # --- what the suite builds with it ------------------------------------------------------------

    def adapter(self, **options: str) -> Adapter:
        """An adapter, not connected yet."""
        return self.platform.build_adapter(self.config(**options))

    def address(self, chat: str = "", thread: str = "") -> Address:
        """Where something goes; the person's own chat if no other is named."""
        chat = chat or (self.group if thread else self.private)
        return Address(
            platform=self.platform.kind,
            account=ACCOUNT,
            scope_id=self.scope,
            chat_type="dm" if chat == self.private else "group",
            chat_id=chat,
            thread_id=thread,
        )

    def part(
        self, text: str = "hello", *, chat: str = "", thread: str = "", **fields: Any
    ) -> OutgoingPart:
        """A message about to be sent."""
        fields.setdefault("idempotency_key", f"key-{text}"[:32])
        body = Rendered(text=text, plain=text, length=len(text))
        return OutgoingPart(address=self.address(chat, thread), **{"body": body, **fields})


def buttons(*labels: str) -> Controls:
    """Buttons in one row."""
    row = tuple(Button(label=label, data=f"q:0123456789abcdef:{label}") for label in labels)
    return Controls(rows=(row,))
