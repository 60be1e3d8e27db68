"""Time that jumps to the next thing that is due, for whole hours in a second."""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

BEGINNING = datetime(2026, 3, 1, 12, tzinfo=UTC)


class _Jump(selectors.DefaultSelector):
    """Waits for nothing: the time is simply later."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        events = super().select(0)
        if not events:
            if timeout is None:
                raise RuntimeError("everybody waits, and for nothing")
            self.now += max(timeout, 0.0)
        return events


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while something happens."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        return self._jump.now


def run(scene: Coroutine[Any, Any, Any]) -> Any:
    """What `scene` gives, in no time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(scene)


def clock() -> datetime:
    """The present, inside `run`."""
    return BEGINNING + timedelta(seconds=asyncio.get_running_loop().time())
