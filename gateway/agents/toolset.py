"""The tools as the agent library sees them, each call passing the caller's gate."""

import functools
import inspect
import logging
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry
from pydantic_ai.tools import RunContext, Tool, ToolDefinition
from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema, to_jsonable_python
from typing_extensions import override

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


class Gate:
    """The caller's say on each tool call of one run."""

    def __init__(self, handover: Handover, context: TurnContext) -> None:
        self.deferred: list[AskedCall] = []
        self._handover = handover
        self._context = context

    async def call(self, tool: AgentTool, args: dict[str, Any], ctx: RunContext["Gate"]) -> Any:
        """Ask what to do with one call, and do it.

        Returns:
            The tool's result as JSON.

        Raises:
            CallDeferred, ApprovalRequired: The result comes later, from a person.
            ModelRetry: The caller refused the arguments.
        """
        starting = ToolStarting(ctx.tool_call_id or "", tool.name, _as_json(args))
        decision = await self._handover.exchange(starting)
        match decision:
            case Execute():
                return await self._execute(tool, args, starting.call_id)
            case Replay(result):
                return result
            case OutcomeUnknown():
                return OUTCOME_UNKNOWN
            case Defer():
                self._defer(tool, starting)
            case Refuse(message):
                if ctx.last_attempt:  # one more refusal would end the whole run
                    return {"error": message}
                raise ModelRetry(message)
        raise TypeError(f"not a decision on a tool call: {decision!r}")

    def _defer(self, tool: AgentTool, call: ToolStarting) -> NoReturn:
        if tool.risk is Risk.ASKS:
            self.deferred.append(AskedCall(call.call_id, call.name, call.args, "question"))
            raise CallDeferred
        self.deferred.append(AskedCall(call.call_id, call.name, call.args, "approval"))
        raise ApprovalRequired

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


class GatedToolset(AbstractToolset[Gate]):
    """A fixed set of tools; built once and shared by all runs that may use exactly these."""

    def __init__(self, tools: Mapping[str, AgentTool]) -> None:
        self._tools = tools
        self._prepared = {name: _prepare(tool, self) for name, tool in tools.items()}

    @property
    @override
    def id(self) -> str | None:
        """No id: it is the only toolset of its agent."""
        return None

    @override
    async def get_tools(self, ctx: RunContext[Gate]) -> dict[str, ToolsetTool[Gate]]:
        """The tools the model is told of."""
        return self._prepared

    @override
    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[Gate],
        tool: ToolsetTool[Gate],
    ) -> Any:
        """One call, through the gate of the run it belongs to."""
        return await ctx.deps.call(self._tools[name], tool_args, ctx)


def _prepare(tool: AgentTool, toolset: GatedToolset) -> ToolsetTool[Gate]:
    if tool.parameters is None:
        derived = _derive(tool.function, tool.name)
        definition, validator = derived.tool_def, derived.function_schema.validator
    else:
        definition = ToolDefinition(name=tool.name, parameters_json_schema=dict(tool.parameters))
        validator = _ANY_OBJECT
    if tool.description:
        definition.description = tool.description
    return ToolsetTool(
        toolset=toolset, tool_def=definition, max_retries=ARGUMENT_TRIES, args_validator=validator
    )


def _derive(function: ToolFunction, name: str) -> Tool[Gate]:
    """The schema of `function`, whose first argument is ours and not the model's to give."""
    signature = inspect.signature(function)
    own, *others = signature.parameters.values()

    @functools.wraps(function)
    async def shown(**arguments: Any) -> Any:
        return await function(None, **arguments)

    vars(shown)["__signature__"] = signature.replace(parameters=others)
    shown.__annotations__ = {k: v for k, v in function.__annotations__.items() if k != own.name}
    return Tool(shown, takes_ctx=False, name=name)
