"""Between the loop and the thread: events one way, words back, both without a wait on the loop."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any

from gateway.agents.events import (
    Asked,
    Cancelled,
    Ending,
    Event,
    Failed,
    Finished,
    ModelAnswered,
    ModelStarting,
    TextSoFar,
    Tick,
    ToolFinished,
    ToolStarting,
)
from gateway.messages import clean


class RunClosed(Exception):
    """Nobody listens to this run any more, so nobody will carry out what it asks."""


@dataclass(frozen=True)
class _Errand:
    """Something to be done in the consumer's thread."""

    work: Callable[[], Any]
    done: Callable[[Any, BaseException | None], None]


class _TextWaiting:
    """In the queue in place of a text: the text itself is read when it is taken."""


_TEXT = _TextWaiting()
_ENDINGS = (Asked, Finished, Failed, Cancelled)


class Handover:
    """The two-way mailbox of one run.

    Methods named `*_soon`, `exchange`, `ask` and `end` belong to the loop, the others to the
    consumer's thread.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        preview_seconds: float,
        quiet_seconds: float = 0.0,
    ) -> None:
        self.is_stopped = False
        self.has_ended = False
        self._loop = loop
        self._queue: SimpleQueue[Event | _Errand | _TextWaiting] = SimpleQueue()
        self._preview_seconds = preview_seconds
        self._pieces: list[str] = []
        self._text_is_waiting = False
        self._next_text_at = loop.time() + quiet_seconds
        self._timer: asyncio.TimerHandle | None = None

    # ---- the loop's side

    def begin_response(self) -> None:
        """The model starts speaking anew: what it said before is another response."""
        self._pieces = []

    @property
    def text(self) -> str:
        """What the model has said of its present response."""
        return "".join(self._pieces)

    def say_soon(self, piece: str) -> None:
        """The model said some more; the consumer sees it when the next text is due."""
        self._pieces.append(piece)
        if self._text_is_waiting or self._timer is not None:
            return
        wait = self._next_text_at - self._loop.time()
        if wait <= 0:
            self._offer_text()
        else:
            self._timer = self._loop.call_later(wait, self._offer_text)

    def _offer_text(self) -> None:
        self._timer = None
        self._next_text_at = self._loop.time() + self._preview_seconds
        self._text_is_waiting = True
        self._queue.put(_TEXT)

    async def exchange(
        self, event: ModelStarting | ModelAnswered | ToolStarting | ToolFinished
    ) -> Any:
        """Give an event that needs a word, and wait for the word."""
        word: asyncio.Future[Any] = self._loop.create_future()
        self._queue.put(replace(event, reply=lambda value: self._settle(word, value, None)))
        return await word

    async def ask(self, work: Callable[[], Any]) -> Any:
        """Have `work` done in the consumer's thread.

        Returns:
            What it returned; what it raised is raised here.
        """
        done: asyncio.Future[Any] = self._loop.create_future()
        self._queue.put(_Errand(work, lambda value, error: self._settle(done, value, error)))
        return await done

    def end(self, ending: Ending) -> None:
        """Give the last event; every later one is dropped."""
        if self.has_ended:
            return
        self.has_ended = True
        if self._timer is not None:
            self._timer.cancel()
        self._queue.put(ending)

    # ---- the consumer's side

    def _settle(self, word: "asyncio.Future[Any]", value: Any, error: BaseException | None) -> None:
        def settle() -> None:
            if word.done():
                return
            if error is None:
                word.set_result(value)
            else:
                word.set_exception(error)

        with suppress(RuntimeError):  # the loop is gone, and the run with it
            self._loop.call_soon_threadsafe(settle)

    def events(self, *, tick_seconds: float | None) -> Iterator[Event]:
        """The events in order, up to and including the last one."""
        shown = ""
        while True:
            try:
                item = self._queue.get(timeout=tick_seconds)
            except Empty:
                yield Tick()
                continue
            if isinstance(item, _Errand):
                self._run(item)
            elif isinstance(item, _TextWaiting):
                self._text_is_waiting = False
                text = clean(self.text)
                if text and text != shown and not self.is_stopped:
                    shown = text
                    yield TextSoFar(text)
            elif isinstance(item, _ENDINGS):
                yield item
                return
            elif not (self.is_stopped and isinstance(item, ToolStarting)):
                # A stopped run starts no tool, but what has already happened is still told.
                yield item

    def _run(self, errand: _Errand) -> None:
        if self.is_stopped:
            errand.done(None, RunClosed())
            return
        try:
            value = errand.work()
        except Exception as error:  # noqa: BLE001 - it is raised again, inside the tool that asked
            errand.done(None, error)
        else:
            errand.done(value, None)
