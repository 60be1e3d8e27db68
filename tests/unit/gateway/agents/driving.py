"""A caller as small as one can be: it stores JSON and decides by simple rules."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from gateway.agents.events import (
    Defer,
    Event,
    Execute,
    Finished,
    ModelAnswered,
    ModelStarting,
    OutcomeUnknown,
    Replay,
    ToolFinished,
    ToolStarting,
)
from gateway.agents.requests import ModelConfig, RunRequest, TurnContext
from gateway.agents.runtime import AgentRun, AgentRuntime
from gateway.agents.tools import AgentTool, Risk, ToolRegistry, standard_tools

EVERY_TOOL = standard_tools().names()


class WorkerDied(Exception):
    """Raised by a test at the instant its pretended worker is killed."""


class Caller:
    """The durable side of a turn, in memory.

    Attributes:
        history: The stored messages.
        results: The stored results by call id.
        started: The calls that were written down as started.
        effects: The side effects that really happened.
    """

    def __init__(self, runtime: AgentRuntime, *, tools: frozenset[str] = EVERY_TOOL) -> None:
        self.runtime = runtime
        self.tools = tools
        self.history: list[Any] = []
        self.results: dict[str, Any] = {}
        self.started: set[str] = set()
        self.effects: list[Any] = []
        self.on_event: Callable[[Event], None] = lambda event: None
        self.said_meanwhile: Callable[[], tuple[str, ...]] = tuple
        self.decide_freshly: Callable[[ToolStarting], Any] = ask_for_what_asks

    def say(self, prompt: str | None, **options: Any) -> list[Event]:
        """One run, to its end."""
        return list(self.follow(self.start(prompt, **options)))

    def start(self, prompt: str | None, **options: Any) -> AgentRun:
        options.setdefault("tools", self.tools)
        context = options.pop("context", TurnContext(effects=self.do))
        history = json.loads(json.dumps(self.history))
        return self.runtime.start(
            RunRequest(prompt=prompt, history=history, context=context, **options)
        )

    def follow(self, run: AgentRun) -> Iterable[Event]:
        for event in run:
            self.on_event(event)
            match event:
                case ModelStarting():
                    event.give(self.said_meanwhile())
                case ModelAnswered():
                    self.history += event.messages
                    event.ack()
                case ToolStarting():
                    run.decide(event, self.decision(event))
                case ToolFinished():
                    self.results[event.call_id] = event.result
                    event.ack()
                case Finished():
                    self.history += event.messages
            yield event

    def decision(self, call: ToolStarting) -> Any:
        if call.call_id in self.results:
            return Replay(self.results[call.call_id])
        if call.call_id in self.started:
            return OutcomeUnknown()
        decision = self.decide_freshly(call)
        if isinstance(decision, Execute):
            self.started.add(call.call_id)
        return decision

    def do(self, name: str, payload: dict[str, Any]) -> Any:
        self.effects.append((name, payload["text"]))
        return f"{name} number {len(self.effects)}"


def ask_for_what_asks(call: ToolStarting) -> Any:
    is_safe = standard_tools().get(call.name).risk is Risk.SAFE
    return Execute() if is_safe else Defer()


def kinds(events: Iterable[Event]) -> list[str]:
    """The names of the events; texts, ticks and beginnings of model calls left out."""
    names = [type(event).__name__ for event in events]
    return [name for name in names if name not in {"ModelStarting", "TextSoFar", "Tick"}]


def registry(*tools: AgentTool) -> ToolRegistry:
    made = standard_tools()
    for tool in tools:
        made.add(tool)
    return made


async def never_wait(seconds: float) -> None:
    """A waiter that does not."""


def config_for(url: str, **changes: Any) -> ModelConfig:
    return ModelConfig(name="peer", base_url=url, api_key="sk-very-secret-key", **changes)
