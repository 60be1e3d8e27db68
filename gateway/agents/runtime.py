"""The agent as a synchronous worker sees it: start a run, iterate over its events, stop it.

    runtime = AgentRuntime(ModelConfig(name="demo"), tools=standard_tools())
    with runtime.start(RunRequest(prompt="hello")) as run:
        for event in run:
            match event:
                case ModelAnswered(): store(event.messages); event.ack()
                case ToolStarting():  run.decide(event, decision_for(event))
                …

The agent library is imported when the first run starts, not when this module is.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from gateway.agents.events import Decision, Event, ToolStarting
from gateway.agents.handover import Handover
from gateway.agents.loop import EdgeLoop
from gateway.agents.requests import ModelConfig, RunRequest
from gateway.agents.tools import ToolRegistry, standard_tools

if TYPE_CHECKING:
    from gateway.agents.turn import Engine, Turn


_importing = threading.Lock()


class _Library(NamedTuple):
    """Our modules that need the agent library."""

    models: ModuleType
    turn: ModuleType


def _library() -> _Library:
    """The agent library, imported when first asked for: 64 MB and 0.7 s, only where agents run.

    One thread at a time: its modules import one another in circles, and two threads that begin
    together find them half made and leave them so.
    """
    with _importing:
        from gateway.agents import models, turn  # noqa: PLC0415 - see above

        return _Library(models, turn)


class AgentRuntime:
    """Runs agents for the synchronous threads of one process.

    Args:
        config: Where the models are.
        tools: The tools a run may ask for by name; None takes the standard ones.
        edge: The loop to run on; None makes one of its own.
        wait: How to wait between two tries of a model call, in seconds.
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        tools: ToolRegistry | None = None,
        edge: EdgeLoop | None = None,
        wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._config = config
        self._tools = standard_tools() if tools is None else tools
        self._edge = edge or EdgeLoop()
        self._wait = wait
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._engine_loop: asyncio.AbstractEventLoop | None = None

    @property
    def tools(self) -> ToolRegistry:
        """The tools a run may ask for."""
        return self._tools

    def start(self, request: RunRequest) -> "AgentRun":
        """Start a run; whatever is wrong with the request ends it as `Failed`, not as an error."""
        library = _library()
        loop = self._edge.loop()
        engine = self._engine_on(loop)
        handover = Handover(
            loop,
            preview_seconds=request.preview_seconds,
            quiet_seconds=request.quiet_seconds,
        )
        turn = library.turn.Turn(engine, request, handover)
        self._edge.submit(turn.run())
        return AgentRun(handover, turn, loop, tick_seconds=request.tick_seconds)

    def disconnect(self) -> None:
        """Close the connections to the models; a later `start` opens them afresh."""
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None and self._engine_loop is self._edge.loop():
            self._edge.submit(engine.shelf.close()).result(timeout=5)

    def warm_up(self) -> None:
        """Import the agent library and build what runs share, so that the first run is quick."""
        self._engine_on(self._edge.loop())
        run = self.start(RunRequest(prompt="hello", model="demo", stream=True))
        for _ in run:
            pass

    def close(self) -> None:
        """Stop all runs and close all connections; a later `start` begins afresh."""
        self.disconnect()
        self._edge.stop()

    def _engine_on(self, loop: asyncio.AbstractEventLoop) -> "Engine":
        """The shared engine; a new one after a fork, because connections belong to their loop."""
        library = _library()
        with self._lock:
            if self._engine is None or self._engine_loop is not loop:
                shelf = library.models.ModelShelf(self._config, wait=self._wait)
                self._engine = library.turn.Engine(shelf, self._tools)
                self._engine_loop = loop
            return self._engine


class AgentRun:
    """One run of the agent: iterate over it once, in one thread.

    The run is stopped when the iteration is left early, for whatever reason: nobody would carry
    out what it asks for.
    """

    def __init__(
        self,
        handover: Handover,
        turn: "Turn",
        loop: asyncio.AbstractEventLoop,
        *,
        tick_seconds: float | None,
    ) -> None:
        self._handover = handover
        self._turn = turn
        self._loop = loop
        self._tick_seconds = tick_seconds

    def __iter__(self) -> Iterator[Event]:
        try:
            yield from self._handover.events(tick_seconds=self._tick_seconds)
        finally:
            self.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.cancel()

    def __del__(self) -> None:
        self.cancel()

    def decide(self, event: ToolStarting, decision: Decision) -> None:
        """Say what becomes of a tool call; from any thread, once."""
        event.reply(decision)

    def cancel(self) -> None:
        """Stop the run: the connection to the model closes, running tools are cancelled.

        From any thread, at any time, any number of times. The iteration ends with `Cancelled`,
        unless the run had already come to another end.
        """
        if self._handover.is_stopped or self._handover.has_ended:
            return
        self._handover.is_stopped = True
        with suppress(RuntimeError):  # the loop is gone, and the run with it
            self._loop.call_soon_threadsafe(self._turn.stop)
