"""What delivery needs from above, declared here and registered by the upper apps. Pure."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, runtime_checkable

from delivery.addresses import Address
from delivery.content import Controls, Limit, Rendered


class Certainty(StrEnum):
    """What may be done when nobody knows whether a send arrived ([D5])."""

    IDEMPOTENT = "idempotent"  # the platform drops a second send with the same key: resend, no mark
    EDITABLE = "editable"  # a known earlier message can be edited into it: edit, no mark
    READABLE = "readable"  # the platform lets us look: look first, resend only if absent
    UNCERTAIN = "uncertain"  # none of these: resend with a visible mark


@dataclass(frozen=True)
class Receipt:
    """The platform's explicit word that it accepted a message.

    `media_id` is what it calls the file that came along, if it can be sent again by that.
    """

    message_id: str
    media_id: str = ""


@dataclass(frozen=True, kw_only=True)
class OutgoingPart:
    """One platform message about to be sent.

    Attributes:
        address: Where to.
        body: What, already rendered and fitting.
        controls: Native buttons, if any.
        reply_to: The platform id of the message this answers; empty for none.
        idempotency_key: The same for every try of this part; at most 32 ASCII characters.
    """

    address: Address
    body: Rendered
    idempotency_key: str
    controls: Controls = field(default_factory=Controls)
    reply_to: str = ""


class Transport(Protocol):
    """The way out to one account of one platform.

    Every method raises only `delivery.errors.TransportError` and its subclasses (and lets
    cancellation through). None of them sleeps or retries: that is the outbox's work.
    """

    async def send(self, part: OutgoingPart) -> Receipt:
        """Send one new message.

        Returns:
            The receipt, only when the platform said explicitly that it accepted the message.
        """
        ...

    async def edit(self, message_id: str, part: OutgoingPart) -> Receipt:
        """Replace the text and controls of a message this account sent.

        Editing to what is already there is success.
        """
        ...

    async def delete(self, address: Address, message_id: str) -> None:
        """Remove a message this account sent."""
        ...

    async def typing(self, address: Address) -> None:
        """Show that an answer is being made, for as long as the platform shows it."""
        ...


@runtime_checkable
class StopsTyping(Protocol):
    """A transport whose typing notice would stay although the answer is there."""

    async def stop_typing(self, address: Address) -> None:
        """Take the notice away."""
        ...


@runtime_checkable
class Readable(Protocol):
    """What a transport also has whose certainty is `READABLE`."""

    async def look(self, part: OutgoingPart, *, since: datetime) -> Receipt | None:
        """Look whether `part` has arrived, by what it carries of its `idempotency_key`.

        Args:
            part: As it was given to `send`.
            since: It was sent after this; by our clock, so look some minutes further back.

        Returns:
            Its receipt if it is there; None only when it certainly is not.

        Raises:
            TransportError: It could not be looked at.
        """
        ...


@dataclass(frozen=True)
class Rate:
    """At most `calls` messages in any stretch of `seconds`."""

    calls: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Rates:
    """How much a platform lets one account send; None where only its complaints tell.

    Attributes:
        account: Everywhere together.
        private: In each chat of one person with us.
        group: In each other chat.
        media: Files, everywhere together.
    """

    account: Rate | None = None
    private: Rate | None = None
    group: Rate | None = None
    media: Rate | None = None


class Dialect(Protocol):
    """How canonical Markdown looks on one platform. Pure: no I/O, linear time, never raises."""

    limit: Limit

    def render(self, markdown: str, *, reserve: int = 0) -> list[Rendered]:
        """Render and split.

        Args:
            markdown: CommonMark with GFM tables, task lists and strikethrough; any text at all.
            reserve: How much of the limit, in its unit, every part must leave free.

        Returns:
            The parts in sending order, each within the limit less `reserve`. Their visible text,
            joined, is the visible text of the answer. At least one part; an answer without any
            visible text gives one part that says so.
        """
        ...

    def mark(self, part: Rendered, marker: str) -> Rendered:
        """The same part with `marker` as its own first line, formatting kept.

        The caller has left room for it with `reserve`.
        """
        ...

    def measure(self, text: str) -> int:
        """The length of `text` in the platform's own unit."""
        ...


@dataclass(frozen=True, kw_only=True)
class Outlet:
    """What delivery must know of a platform, without opening a connection.

    `shows_at_once`: people see a message as soon as it is recorded, before anything is sent.
    `groups_need_reply`: in a group it may hear only what mentions it or replies to it.
    `supports_forms`: a press can be answered with a field for own words.
    `threads_hang`: a thread stands below a message, and is no room of its own.
    """

    dialect: Dialect
    certainty: Certainty
    supports_editing: bool
    supports_buttons: bool
    typing_period: timedelta
    minimum_edit_interval: timedelta
    group_edit_interval: timedelta
    shows_at_once: bool = False
    groups_need_reply: bool = False
    supports_forms: bool = False
    threads_hang: bool = False
    rates: Rates = field(default_factory=Rates)


def problem_with(transport: Transport, certainty: Certainty) -> str:
    """Why `transport` cannot keep what `certainty` promises; empty if it can."""
    if certainty is Certainty.READABLE and not isinstance(transport, Readable):
        return "a platform that can be looked at needs an adapter with `look`"
    return ""
