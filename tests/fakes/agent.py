"""A runtime whose agent does what it is told: its plan stands in the message that began the turn.

"please ca|s" calls two tools at once, a clarify and a dangerous one, and when both have results
one more, an ask_user. Any other message is answered without a tool. What is left of the plan
stands in the ids of the calls, so that a run is carried on from the stored history alone.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from clarify.risks import RiskLevel
from gateway.agents import history
from gateway.agents.dangers import Danger, exact_call
from gateway.agents.events import (
    Asked,
    AskedCall,
    Decision,
    Defer,
    Event,
    Execute,
    Finished,
    ModelAnswered,
    ToolFinished,
    ToolStarting,
)
from gateway.agents.requests import RunRequest
from gateway.agents.tools import AgentTool, Risk, ToolRegistry, standard_tools

_numbers = itertools.count(1)
OPTIONS = [{"label": "Logs"}, {"label": "Metrics"}]
PLACE = {
    "id": "place",
    "header": "Place",
    "question": "Where should it go?",
    "options": [{"label": "Staging"}, {"label": "Production"}],
}
EXTRAS = {
    "id": "extras",
    "header": "Extras",
    "question": "What else?",
    "options": OPTIONS,
    "multiSelect": True,
}
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "c": ("clarify", {"question": "Which one?", "choices": ["Staging", "Production"]}),
    "o": ("clarify", {"question": "What is it called?"}),
    "s": ("ask_user", {"questions": [PLACE, EXTRAS]}),
    "m": ("ask_user", {"questions": [EXTRAS]}),
    "q": ("clarify", {"question": ""}),  # against the contract
    "a": ("wipe", {"target": "build", "level": "high"}),
    "b": ("wipe", {"target": "cache", "level": "high"}),
    "x": ("wipe", {"target": "everything", "level": "critical"}),
    "r": ("look", {}),
}
ASKING = {"clarify", "ask_user"}


class WorkerDied(BaseException):
    """The instant at which a pretended worker is killed."""


def danger(arguments: Any) -> Danger:
    exact = exact_call("wipe", arguments)
    return Danger(**{**vars(exact), "level": RiskLevel(arguments["level"])})


async def _never(_context: object) -> str:
    raise AssertionError("the stand-in carries its tools out itself")


def tools() -> ToolRegistry:
    registry = standard_tools()
    registry.add(AgentTool(name="wipe", risk=Risk.DANGEROUS, function=_never, danger=danger))
    registry.add(AgentTool(name="look", risk=Risk.SAFE, function=_never))
    return registry


class PlanRuntime:
    """Stands in for `AgentRuntime`, for one run.

    Args:
        perform: Carries a tool out: (call id, name, arguments) -> result.
        dies_after: The worker is killed before it reads so many events and one; None: never.
    """

    def __init__(
        self, perform: Callable[[str, str, Any], Any], *, dies_after: int | None = None
    ) -> None:
        self.tools, self.perform, self.dies_after = tools(), perform, dies_after

    def start(self, request: RunRequest) -> "PlanRun":
        return PlanRun(self, request)


class PlanRun:
    """Stands in for `AgentRun`."""

    def __init__(self, runtime: PlanRuntime, request: RunRequest) -> None:
        self.runtime, self.request = runtime, request
        self.decision: Decision | None = None
        self.results: dict[str, Any] = {}

    def __enter__(self) -> "PlanRun":
        return self

    def __exit__(self, *_facts: object) -> None:
        """Nothing is open."""

    def cancel(self) -> None:
        """It is never in the middle of anything."""

    def decide(self, _event: ToolStarting, decision: Decision) -> None:
        self.decision = decision

    def __iter__(self) -> Iterator[Event]:
        for number, event in enumerate(self._events()):
            if number == self.runtime.dies_after:
                raise WorkerDied
            yield event

    def _events(self) -> Iterator[Event]:
        stored = list(self.request.history)
        said: list[dict[str, Any]] = []
        if self.request.prompt is None:
            calls = history.tool_calls(stored[-1])
        else:
            said = [history.user_message(self.request.prompt)]
            calls = calls_of(self.request.prompt)
            if calls:
                yield ModelAnswered((*said, response(calls)))
        while calls:
            waiting = yield from self._round(calls)
            if waiting:
                yield Asked(tuple(waiting))
                return
            said = [self._returns(calls)]
            calls = next_calls(calls)
            if calls:
                yield ModelAnswered((*said, response(calls)))
        yield Finished("Done.", (*said, history.assistant_message("Done.")))

    def _round(self, calls: list[dict[str, Any]]) -> Iterator[Any]:
        waiting = []
        for call in calls:
            call_id, name, args = call["tool_call_id"], call["tool_name"], call["args"]
            yield ToolStarting(call_id, name, args)
            if isinstance(self.decision, Defer):
                kind = "question" if name in ASKING else "approval"
                waiting.append(AskedCall(call_id, name, args, kind))
            elif isinstance(self.decision, Execute):
                self.results[call_id] = self.runtime.perform(call_id, name, args)
                yield ToolFinished(call_id, name, self.results[call_id])
            else:
                self.results[call_id] = str(self.decision)
        return waiting

    def _returns(self, calls: list[dict[str, Any]]) -> dict[str, Any]:
        parts = [
            {
                "part_kind": "tool-return",
                "tool_name": call["tool_name"],
                "tool_call_id": call["tool_call_id"],
                "content": self.results[call["tool_call_id"]],
            }
            for call in calls
        ]
        return {"kind": "request", "parts": parts}


def response(calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"kind": "response", "parts": calls}


def calls_of(prompt: str) -> list[dict[str, Any]]:
    """The first calls of the plan in `prompt`; none if there is no plan in it."""
    word, _, plan = prompt.partition(" ")
    return planned(plan) if word == "please" and set(plan) <= {*TOOLS, "|"} else []


def next_calls(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the plan says after `calls`."""
    return planned(calls[0]["tool_call_id"].partition(":")[2])


def planned(plan: str) -> list[dict[str, Any]]:
    now, _, later = plan.partition("|")
    number = next(_numbers)
    return [
        {
            "part_kind": "tool-call",
            "tool_name": TOOLS[letter][0],
            "tool_call_id": f"{number}.{place}:{later}",
            "args": TOOLS[letter][1],
        }
        for place, letter in enumerate(now)
    ]
