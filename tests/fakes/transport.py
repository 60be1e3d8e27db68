"""A platform that does what a test tells it to, and remembers everything."""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

from delivery.addresses import Address
from delivery.errors import MessageGone, OutcomeUnknown, TransportError
from delivery.ports import OutgoingPart, Receipt


@dataclass(frozen=True)
class Call:
    """One call of the transport: `send`, `edit`, `delete` or `typing`."""

    operation: str
    address: Address
    message_id: str = ""
    part: OutgoingPart | None = None

    @property
    def text(self) -> str:
        return self.part.body.text if self.part else ""


@dataclass
class FakeTransport:
    """A chat app in memory.

    Attributes:
        calls: Everything that was asked of it, in order.
        screen: What people see: the text of each message by its id, in order of appearance.
        before: Awaited before a call is carried out; may raise.
        drops_copies: A second send with the same idempotency key gives the first one's receipt.
        loses_every: The answer of every so many-th send or edit is lost (0: none).
        knows: Tells whether the ledger knows what is about to be sent or edited.
        unknown: What it did not know.
    """

    calls: list[Call] = field(default_factory=list)
    screen: dict[str, str] = field(default_factory=dict)
    places: dict[str, Address] = field(default_factory=dict)
    before: Callable[[Call], Awaitable[None]] | None = None
    drops_copies: bool = False
    loses_every: int = 0
    knows: Callable[[OutgoingPart], Awaitable[bool]] | None = None
    unknown: list[Call] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    _script: list[tuple[str, str, TransportError | Exception, bool]] = field(default_factory=list)
    _ids: itertools.count = field(default_factory=lambda: itertools.count(1))

    def fail(
        self, *errors: Exception, on: str = "send", chat: str = "", arrives: bool = False
    ) -> None:
        """The next calls of `on` (in `chat`, if given) end with these errors, one each.

        Args:
            errors: What is raised.
            on: The operation.
            chat: Only there; empty for anywhere.
            arrives: It is carried out all the same.
        """
        self._script += [(on, chat, error, arrives) for error in errors]

    def show(self, text: str, address: Address) -> str:
        """A message that is there already; its id."""
        message_id = f"m{next(self._ids)}"
        self.screen[message_id], self.places[message_id] = text, address
        return message_id

    def of(self, operation: str) -> list[Call]:
        """The calls of one operation."""
        return [call for call in self.calls if call.operation == operation]

    @property
    def messages(self) -> list[Call]:
        """The calls that send or change something."""
        return [call for call in self.calls if call.operation in {"send", "edit"}]

    @property
    def texts(self) -> list[str]:
        """What people see, oldest message first."""
        return list(self.screen.values())

    async def send(self, part: OutgoingPart) -> Receipt:
        error, arrives = await self._begin(Call("send", part.address, part=part))
        if error is not None and not arrives:
            raise error
        message_id = self.keys.get(part.idempotency_key, "") if self.drops_copies else ""
        if not message_id:
            message_id = self.show(part.body.text, part.address)
        self.keys.setdefault(part.idempotency_key, message_id)
        if error is not None:
            raise error
        return Receipt(message_id)

    async def edit(self, message_id: str, part: OutgoingPart) -> Receipt:
        error, arrives = await self._begin(Call("edit", part.address, message_id, part))
        if error is not None and not arrives:
            raise error
        if message_id not in self.screen:
            raise MessageGone
        self.screen[message_id] = part.body.text
        if error is not None:
            raise error
        return Receipt(message_id)

    async def delete(self, address: Address, message_id: str) -> None:
        error, _ = await self._begin(Call("delete", address, message_id))
        if error is not None:
            raise error
        if self.screen.pop(message_id, None) is None:
            raise MessageGone

    async def typing(self, address: Address) -> None:
        error, _ = await self._begin(Call("typing", address))
        if error is not None:
            raise error

    async def _begin(self, call: Call) -> tuple[Exception | None, bool]:
        self.calls.append(call)
        if call.part is not None and self.knows is not None and not await self.knows(call.part):
            self.unknown.append(call)
        if self.before is not None:
            await self.before(call)
        for index, (operation, chat, error, arrives) in enumerate(self._script):
            if operation == call.operation and chat in {"", call.address.chat_id}:
                del self._script[index]
                return error, arrives
        if self.loses_every and call in self.messages[-1:]:
            is_hit = len(self.messages) % self.loses_every == 0
            return (OutcomeUnknown("cut"), True) if is_hit else (None, False)
        return None, False


@dataclass
class ReadableTransport(FakeTransport):
    """One whose history can be read: each message carries its idempotency key."""

    async def look(self, part: OutgoingPart, *, since: datetime) -> Receipt | None:
        error, _ = await self._begin(Call("look", part.address, part=part))
        if error is not None:
            raise error
        found = self.keys.get(part.idempotency_key)
        return Receipt(found) if found else None
