"""The tools of one run: what the model is told of them, and each call passing the caller's gate."""

import asyncio
import functools
import inspect
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from pydantic import ValidationError
from pydantic_ai.exceptions import IncompleteToolCall, UnexpectedModelBehavior
from pydantic_ai.messages import ModelResponse, RetryInfo, ToolCallPart, ToolReturnPart
from pydantic_ai.tools import Tool, ToolDefinition
from pydantic_core import SchemaValidator, core_schema, to_jsonable_python

from gateway.agents.events import (
    AskedCall,
    Defer,
    Execute,
    OutcomeUnknown,
    Refuse,
    Replay,
    ToolFinished,
    ToolStarting,
)
from gateway.agents.handover import Handover, RunClosed
from gateway.agents.history import storable
from gateway.agents.requests import TurnContext
from gateway.agents.tools import AgentTool, Risk, ToolContext, ToolError, ToolFunction

logger = logging.getLogger(__name__)

#: How often a model may get one tool's arguments wrong before it is told plainly and for good.
ARGUMENT_TRIES = 3

OUTCOME_UNKNOWN = (
    "The outcome of this call is unknown: the process that ran it died before the result was "
    "stored. It may have been carried out and it may not. Do not assume either; check first, or "
    "ask, before you do it again."
)

_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


class _Deferred(Exception):
    """The result of a call comes later, from a person."""


class _Refused(Exception):
    """The model has to call again, and better; the message is for it to read."""


class _NoSuchTool(_Refused):
    """There is no tool of that name."""


class Gate:
    """The caller's say on each tool call of one run."""

    def __init__(self, handover: Handover, context: TurnContext) -> None:
        self.deferred: list[AskedCall] = []
        self._handover = handover
        self._context = context

    async def call(
        self, tool: AgentTool, args: dict[str, Any], call_id: str, *, is_last_try: bool
    ) -> Any:
        """Ask what to do with one call, and do it.

        Args:
            tool: The tool.
            args: Its arguments, which fit its schema.
            call_id: The call, unique within the history.
            is_last_try: The model has been refused so often that once more would end the run.

        Returns:
            The tool's result as JSON.

        Raises:
            _Deferred: The result comes later, from a person.
            _Refused: The caller refused the arguments.
        """
        starting = ToolStarting(call_id, tool.name, _as_json(args))
        decision = await self._handover.exchange(starting)
        match decision:
            case Execute():
                return await self._execute(tool, args, call_id)
            case Replay(result):
                return result
            case OutcomeUnknown():
                return OUTCOME_UNKNOWN
            case Defer():
                self._defer(tool, starting)
            case Refuse(message):
                if is_last_try:
                    return {"error": message}
                raise _Refused(message)
        raise TypeError(f"not a decision on a tool call: {decision!r}")

    def _defer(self, tool: AgentTool, call: ToolStarting) -> NoReturn:
        kind: Literal["question", "approval"] = "question" if tool.risk is Risk.ASKS else "approval"
        self.deferred.append(AskedCall(call.call_id, call.name, call.args, kind))
        raise _Deferred

    async def _execute(self, tool: AgentTool, args: dict[str, Any], call_id: str) -> Any:
        context = ToolContext(turn=self._context, call_id=call_id, effect=self._effect)
        try:
            result = _as_json(await tool.function(context, **args))
        except RunClosed:
            raise
        except ToolError as error:
            result = {"error": str(error)}
        except Exception as error:
            # A tool is strange code: its fault is for the model to deal with, not the turn's end.
            logger.exception("A tool failed.", extra={"action": "tool_failed", "tool": tool.name})
            result = {"error": f"The tool failed ({type(error).__name__})."}
        await self._handover.exchange(ToolFinished(call_id, tool.name, result))
        return result

    async def _effect(self, name: str, payload: dict[str, Any]) -> Any:
        effects = self._context.effects
        if effects is None:
            raise ToolError("This turn may not change anything.")
        return await self._handover.ask(functools.partial(effects, name, _as_json(payload)))


def _as_json(value: Any) -> Any:
    return storable(to_jsonable_python(value))


@dataclass(frozen=True)
class _Prepared:
    """A tool, how the model sees it, and the check of its arguments."""

    tool: AgentTool
    definition: ToolDefinition
    validator: Any  # of pydantic's core, which gives it no common type

    def arguments(self, call: ToolCallPart) -> dict[str, Any]:
        """The arguments of `call`, checked.

        Raises:
            ValidationError: They do not fit, or are not even JSON.
        """
        given = call.args
        if isinstance(given, str):
            checked = self.validator.validate_json(given or "{}")
        else:
            checked = self.validator.validate_python(given or {})
        return dict(checked)


class Toolset:
    """A fixed set of tools; built once and shared by all runs that may use exactly these."""

    def __init__(self, tools: Mapping[str, AgentTool]) -> None:
        self._prepared = {name: _prepare(tool) for name, tool in tools.items()}
        self.definitions = [prepared.definition for prepared in self._prepared.values()]

    def get(self, name: str) -> _Prepared:
        """The tool that the model calls `name`.

        Raises:
            _NoSuchTool: There is none.
        """
        if name not in self._prepared:
            known = ", ".join(sorted(self._prepared)) or "none"
            raise _NoSuchTool(f"There is no tool called {name!r}. The tools are: {known}.")
        return self._prepared[name]


class Calls:
    """The tool calls of one run, answered response by response.

    Args:
        toolset: The tools there are.
        gate: The caller's say on each call.
    """

    def __init__(self, toolset: Toolset, gate: Gate) -> None:
        self._toolset, self._gate = toolset, gate
        # How often in a row a tool was called wrongly: by responses, not by calls.
        self._refusals: dict[str, int] = {}

    async def answer(self, response: ModelResponse) -> list[ToolReturnPart]:
        """Let the calls of `response` be answered, all at once.

        Returns:
            The results in the order of the calls. Calls that wait for a person have none; the
            gate knows them.

        Raises:
            UnexpectedModelBehavior: The model called one tool wrongly too often.
        """
        answers = await _together([self._answer(call) for call in response.tool_calls])
        parts = [part for part in answers if part is not None]
        refused = {part.tool_name for part in parts if part.outcome == "retried"}
        self._refusals = {name: self._refusals.get(name, 0) + 1 for name in refused}
        for name, times in self._refusals.items():
            if times > ARGUMENT_TRIES:
                cut_off = response.finish_reason == "length"
                kind = IncompleteToolCall if cut_off else UnexpectedModelBehavior
                raise kind(f"the tool {name!r} was called wrongly {times} times in a row")
        return parts

    async def _answer(self, call: ToolCallPart) -> ToolReturnPart | None:
        name, call_id = call.tool_name, call.tool_call_id
        is_last_try = self._refusals.get(name, 0) >= ARGUMENT_TRIES
        try:
            prepared = self._toolset.get(name)
            arguments = prepared.arguments(call)
            result = await self._gate.call(
                prepared.tool, arguments, call_id, is_last_try=is_last_try
            )
        except _Deferred:
            return None
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False, include_input=False)
            return _retried(call, "validation_error", to_jsonable_python(faults))
        except _Refused as refusal:
            cause = "unknown_tool" if isinstance(refusal, _NoSuchTool) else "model_retry"
            return _retried(call, cause, str(refusal))
        return ToolReturnPart(name, result, call_id)


def _retried(call: ToolCallPart, cause: Any, content: Any) -> ToolReturnPart:
    return ToolReturnPart(
        call.tool_name,
        content,
        call.tool_call_id,
        outcome="retried",
        retry=RetryInfo(cause=cause),
    )


async def _together(work: Sequence[Any]) -> list[ToolReturnPart | None]:
    """The results of several coroutines that run at once; the first error ends all of them."""
    if len(work) == 1:
        return [await work[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def _prepare(tool: AgentTool) -> _Prepared:
    if tool.parameters is None:
        derived = _derive(tool.function, tool.name)
        definition, validator = derived.tool_def, derived.function_schema.validator
    else:
        definition = ToolDefinition(name=tool.name, parameters_json_schema=dict(tool.parameters))
        validator = _ANY_OBJECT
    if tool.description:
        definition.description = tool.description
    return _Prepared(tool, definition, validator)


def _derive(function: ToolFunction, name: str) -> Tool[Any]:
    """The schema of `function`, whose first argument is ours and not the model's to give."""
    signature = inspect.signature(function)
    own, *others = signature.parameters.values()

    @functools.wraps(function)
    async def shown(**arguments: Any) -> Any:
        return await function(None, **arguments)

    vars(shown)["__signature__"] = signature.replace(parameters=others)
    shown.__annotations__ = {k: v for k, v in function.__annotations__.items() if k != own.name}
    return Tool(shown, takes_ctx=False, name=name)
