"""The tools an agent may be given, and what each of them may do. Imports no agent library.

A tool is a typed async function whose first argument is a `ToolContext`; its docstring is what the
model reads. It must be async, because a thread cannot be stopped. It does nothing durable itself:
it asks for an effect, which the caller of the run carries out in its own thread.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from clarify.guidance import (
    ASK_USER_DESCRIPTION,
    ASK_USER_SCHEMA,
    CLARIFY_DESCRIPTION,
    CLARIFY_SCHEMA,
)
from gateway.agents.dangers import Danger, exact_call
from gateway.agents.requests import TurnContext


class Risk(StrEnum):
    """What has to happen before a tool runs."""

    SAFE = "safe"  # it simply runs
    DANGEROUS = "dangerous"  # a person approves first
    ASKS = "asks"  # a person's answer is its result; it never runs here


class UnknownTool(Exception):
    """No tool is registered under that name."""


class ToolError(Exception):
    """The tool could not do it; the message is for the model, and the run goes on."""


@dataclass(frozen=True)
class ToolContext:
    """What a running tool knows.

    Attributes:
        turn: Where the turn takes place.
        call_id: This call, unique within the history: a key for idempotent effects.
        effect: Has a side effect carried out by the caller: (name, payload) -> result.
    """

    turn: TurnContext
    call_id: str
    effect: Callable[[str, dict[str, Any]], Awaitable[Any]]


ToolFunction = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, kw_only=True)
class AgentTool:
    """One tool as the registry knows it.

    Attributes:
        name: What the model calls.
        risk: What has to happen first.
        function: What runs; for a tool that asks it is never called.
        description: What the model reads; empty takes the function's docstring.
        parameters: The arguments as a JSON schema, not checked here; None derives and checks them
            from the function's annotations.
        danger: What a call with these arguments would do; None shows the call as it is. It is
            total: a call that it cannot judge is the worst of its kind.
    """

    name: str
    risk: Risk
    function: ToolFunction
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    danger: Callable[[Mapping[str, Any]], Danger] | None = None

    def danger_of(self, arguments: Mapping[str, Any]) -> Danger:
        """What a call with `arguments`, as JSON, would do; asked of dangerous tools only."""
        if self.danger is None:
            return exact_call(self.name, arguments)
        return self.danger(arguments)


class ToolRegistry:
    """The tools of this installation, by name."""

    def __init__(self, tools: Iterable[AgentTool] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def add(self, tool: AgentTool) -> None:
        """Register `tool`, in place of one with the same name."""
        self._tools[tool.name] = tool

    def get(self, name: str) -> AgentTool:
        """The tool of that name.

        Raises:
            UnknownTool: There is none.
        """
        try:
            return self._tools[name]
        except KeyError:
            raise UnknownTool(f"no tool is called {name!r}") from None

    def names(self, *risks: Risk) -> frozenset[str]:
        """The names of all tools, or of those with one of `risks`."""
        return frozenset(
            name for name, tool in self._tools.items() if not risks or tool.risk in risks
        )


async def note(context: ToolContext, text: str) -> Any:
    """Write a short note down for later.

    Args:
        context: Where the turn takes place.
        text: What to remember, in one or two sentences.
    """
    return await context.effect("note", {"text": text, "call_id": context.call_id})


async def send_file(
    context: ToolContext, path: str, caption: str = "", as_voice: bool = False
) -> Any:
    """Send a file of this conversation's directory to the person.

    Naming a path in an answer sends nothing; only this does. Files that people sent lie in inbox/.

    Args:
        context: Where the turn takes place.
        path: The file, relative to the directory.
        caption: A short text that goes with it; may be empty.
        as_voice: For a sound: send it as a voice message.
    """
    payload = {"path": path, "caption": caption, "as_voice": as_voice, "call_id": context.call_id}
    return await context.effect("send_file", payload)


async def send_message(context: ToolContext, target: str, text: str) -> Any:
    """Send a message to another place that this conversation may send to.

    Your answer reaches the person by itself; this is for telling somebody elsewhere.

    Args:
        context: Where the turn takes place.
        target: The name of the place, as your instructions list them.
        text: What to send, in Markdown.
    """
    payload = {"target": target, "text": text, "call_id": context.call_id}
    return await context.effect("send_message", payload)


async def schedule(
    context: ToolContext,
    action: str,
    when: str = "",
    prompt: str = "",
    target: str = "here",
    job: int = 0,
) -> Any:
    """Make, list or cancel jobs of the person you speak with: things to be done at certain times.

    Args:
        context: Where the turn takes place.
        action: create, list or cancel.
        when: For create: "every 2h", "weekdays at 9:00 Europe/Berlin", "in 20 minutes",
            "2026-12-24 18:00", or a cron expression of five fields.
        prompt: For create: what you will be told to do each time, complete in itself, because
            you will not remember this conversation.
        target: For create: where the result goes: here, none, or the name of another place that
            your instructions list.
        job: For cancel: the number of the job, as list gives it.
    """
    payload = {
        "action": action,
        "when": when,
        "prompt": prompt,
        "target": target,
        "job": job,
        "call_id": context.call_id,
    }
    return await context.effect("schedule", payload)


async def current_time(_context: ToolContext, time_zone: str = "UTC") -> str:
    """The present date and time.

    Args:
        time_zone: An IANA name such as Europe/Berlin.
    """
    try:
        zone = UTC if time_zone == "UTC" else ZoneInfo(time_zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ToolError(f"There is no time zone called {time_zone!r}.") from error
    return datetime.now(zone).isoformat(timespec="seconds")


async def pretend_delete(_context: ToolContext, target: str) -> str:
    """Delete something for good (a pretence: nothing is really deleted).

    Args:
        target: What to delete.
    """
    return f"Pretended to delete {target}; nothing was touched."


async def _answered_by_a_person(_context: ToolContext, **_arguments: Any) -> Any:
    raise ToolError("Only a person can answer this.")


def asking_tool(name: str, description: str, parameters: Mapping[str, Any]) -> AgentTool:
    """A tool whose result is a person's answer."""
    return AgentTool(
        name=name,
        risk=Risk.ASKS,
        function=_answered_by_a_person,
        description=description,
        parameters=parameters,
    )


def standard_tools() -> ToolRegistry:
    """The tools that come with the gateway; `pretend_delete` is there for the demo agent."""
    return ToolRegistry(
        (
            AgentTool(name="note", risk=Risk.SAFE, function=note),
            AgentTool(name="current_time", risk=Risk.SAFE, function=current_time),
            AgentTool(name="send_file", risk=Risk.SAFE, function=send_file),
            AgentTool(name="send_message", risk=Risk.SAFE, function=send_message),
            AgentTool(name="schedule", risk=Risk.SAFE, function=schedule),
            AgentTool(name="pretend_delete", risk=Risk.DANGEROUS, function=pretend_delete),
            asking_tool("clarify", CLARIFY_DESCRIPTION, CLARIFY_SCHEMA),
            asking_tool("ask_user", ASK_USER_DESCRIPTION, ASK_USER_SCHEMA),
        )
    )
