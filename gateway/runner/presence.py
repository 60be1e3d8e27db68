"""Typing notices: shown while a turn runs, never in its way ([D12])."""

import asyncio
import contextlib
from collections.abc import Callable

from delivery.addresses import Address
from delivery.errors import TransportError
from delivery.pacing import Budget
from delivery.ports import Outlet, StopsTyping, Transport

BEFORE = 0.2  # seconds; an answer that is quicker needs no notice
MOST_A_SECOND = 8.0  # of one account; under pressure typing is the first to go ([D9])
LONGEST = 1800.0  # seconds; nothing types for ever, whatever hint was lost


class Presence:
    """The typing notices of one account; none is resumed after a restart."""

    def __init__(self, transport: Transport, outlet: Outlet, *, is_able: bool) -> None:
        self.transport, self.outlet, self.is_able = transport, outlet, is_able
        self.has_room: Callable[[Address], bool] = lambda _address: True
        self._typing: dict[int, asyncio.Task[None]] = {}
        self._shown: dict[int, Address] = {}  # where it was shown, and has not ended
        self._ending: set[asyncio.Task[None]] = set()
        self._budget = Budget(MOST_A_SECOND)

    def start(self, turn: int, address: Address) -> None:
        """Turn `turn` is being worked on for somebody at `address`."""
        if not self.is_able or turn in self._typing:
            return
        self._typing[turn] = asyncio.create_task(self._type(turn, address), name=f"typing {turn}")

    def end(self, turn: int) -> None:
        """It ended, waits or was stopped."""
        task = self._typing.pop(turn, None)
        if task is not None:
            task.cancel()
        place = self._shown.pop(turn, None)
        if place is not None and isinstance(self.transport, StopsTyping):
            quiet = asyncio.create_task(self._quiet(self.transport, place))
            self._ending.add(quiet)
            quiet.add_done_callback(self._ending.discard)

    @property
    def turns(self) -> set[int]:
        """The turns that it types for."""
        return set(self._typing)

    async def stop(self) -> None:
        """Show nothing any more."""
        for turn in list(self._typing):
            self.end(turn)
        if self._ending:
            await asyncio.wait(self._ending, timeout=2)

    @staticmethod
    async def _quiet(transport: StopsTyping, address: Address) -> None:
        with contextlib.suppress(TransportError):
            await transport.stop_typing(address)

    async def _type(self, turn: int, address: Address) -> None:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + LONGEST
        try:
            await asyncio.sleep(BEFORE)
            with contextlib.suppress(TransportError):
                while loop.time() < ends_at:
                    if self.has_room(address) and self._budget.take(loop.time()):
                        self._shown[turn] = address
                        await self.transport.typing(address)
                    await asyncio.sleep(self.outlet.typing_period.total_seconds())
        finally:
            if self._typing.get(turn) is asyncio.current_task():
                del self._typing[turn]
