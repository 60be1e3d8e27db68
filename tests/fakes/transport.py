"""A platform that does what a test tells it to, and remembers everything."""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from delivery.addresses import Address
from delivery.errors import MessageGone, TransportError
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
    """

    calls: list[Call] = field(default_factory=list)
    screen: dict[str, str] = field(default_factory=dict)
    places: dict[str, Address] = field(default_factory=dict)
    before: Callable[[Call], Awaitable[None]] | None = None
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
    def texts(self) -> list[str]:
        """What people see, oldest message first."""
        return list(self.screen.values())

    async def send(self, part: OutgoingPart) -> Receipt:
        error, arrives = await self._begin(Call("send", part.address, part=part))
        if error is not None and not arrives:
            raise error
        message_id = self.show(part.body.text, part.address)
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
        if self.before is not None:
            await self.before(call)
        for index, (operation, chat, error, arrives) in enumerate(self._script):
            if operation == call.operation and chat in {"", call.address.chat_id}:
                del self._script[index]
                return error, arrives
        return None, False
