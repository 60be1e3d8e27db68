"""One run of the agent on the loop: the graph of the agent library, with our checkpoints."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, UsageLimits
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.run import AgentRun as GraphRun

from gateway.agents.events import (
    Asked,
    Cancelled,
    Failed,
    Finished,
    ModelAnswered,
    Usage,
)
from gateway.agents.failures import explain, timed_out
from gateway.agents.handover import Handover
from gateway.agents.history import cut_to_response, storable
from gateway.agents.models import ModelShelf
from gateway.agents.requests import RunRequest
from gateway.agents.tools import ToolRegistry
from gateway.agents.toolset import Gate, GatedToolset
from gateway.messages import clean
from gateway.states import FailureKind

logger = logging.getLogger(__name__)

#: A tool that will not be cancelled may go on for so long before the caller is told regardless.
_GRACE_SECONDS = 2.0
#: Answers without any usable content that are asked for again.
_EMPTY_ANSWERS = 2

Output = str | DeferredToolRequests
GatedAgent = Agent[Gate, Output]


class Engine:
    """What all turns of a process share: the models, and one agent per set of tools."""

    def __init__(self, shelf: ModelShelf, registry: ToolRegistry) -> None:
        self.shelf = shelf
        self._registry = registry
        self._agents: dict[frozenset[str], GatedAgent] = {}

    def agent(self, names: frozenset[str]) -> GatedAgent:
        """The agent with exactly these tools.

        Raises:
            UnknownTool: One of them is not registered.
        """
        if names not in self._agents:
            tools = {name: self._registry.get(name) for name in sorted(names)}
            self._agents[names] = Agent(
                output_type=[str, DeferredToolRequests],
                deps_type=Gate,
                name="hermes",
                toolsets=[GatedToolset(tools)] if tools else [],
                retries={"output": _EMPTY_ANSWERS},
            )
        return self._agents[names]


class Turn:
    """One run; everything here happens on the loop."""

    def __init__(self, engine: Engine, request: RunRequest, handover: Handover) -> None:
        self._engine = engine
        self._request = request
        self._handover = handover
        self._gate = Gate(handover, request.context)
        self._told = 0
        self._task: asyncio.Task[Any] | None = None
        self._is_stopping = False
        self._has_expired = False

    async def run(self) -> None:
        """Run to the end, which is always told as one event and never raised."""
        if self._is_stopping:
            self._handover.end(Cancelled())
            return
        self._task = asyncio.current_task()
        timer = asyncio.get_running_loop().call_later(
            self._request.time_limit_seconds, self._expire
        )
        try:
            await self._drive()
        except asyncio.CancelledError:
            self._handover.end(self._why_cancelled())
        except Exception as error:
            failure = explain(error, api_key=self._engine.shelf.config.api_key)
            # Only what is ours to mend is worth a trace; a provider's trouble is told in `detail`.
            trace = failure.kind is FailureKind.INTERNAL
            facts = {"action": "run_failed", "kind": failure.kind.value}
            logger.warning("A run failed.", exc_info=trace, extra=facts)
            self._handover.end(failure)
        finally:
            timer.cancel()

    def stop(self) -> None:
        """Stop as soon as may be; safe to call at any time, any number of times."""
        if self._is_stopping:
            return
        self._is_stopping = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            asyncio.get_running_loop().call_later(
                _GRACE_SECONDS, lambda: self._handover.end(self._why_cancelled())
            )

    def _expire(self) -> None:
        self._has_expired = True
        self.stop()

    def _why_cancelled(self) -> Failed | Cancelled:
        if self._has_expired:
            return timed_out(self._request.time_limit_seconds)
        return Cancelled(self._handover.text)

    async def _drive(self) -> None:
        request = self._request
        stored = request.history
        if request.prompt is None:
            stored = cut_to_response(stored)
        listener = self._handover if request.stream else None
        shelf = self._engine.shelf
        async with self._engine.agent(request.tools).iter(
            request.prompt,
            message_history=ModelMessagesTypeAdapter.validate_python(stored),
            instructions=request.instructions or None,
            deps=self._gate,
            model=shelf.patient(request.model, listener),
            usage_limits=UsageLimits(request_limit=shelf.config.max_requests),
            infer_name=False,
        ) as run:
            node = run.next_node
            while not Agent.is_end_node(node):
                node = await run.next(node)
                if Agent.is_call_tools_node(node) and node.model_response.tool_calls:
                    await self._checkpoint(run)
        self._finish(run)

    def _finish(self, run: "GraphRun[Gate, Output]") -> None:
        if run.result is None:
            raise RuntimeError("the graph ended without a result")
        output = run.result.output
        if isinstance(output, DeferredToolRequests):
            self._handover.end(Asked(tuple(self._gate.deferred)))
        else:
            new = self._new_messages(run)
            self._handover.end(Finished(clean(output), _dump(new), _usage(new)))

    async def _checkpoint(self, run: "GraphRun[Gate, Output]") -> None:
        """Have the caller store what is new, if anything is, before any tool runs."""
        new = self._new_messages(run)
        if new:
            await self._handover.exchange(ModelAnswered(_dump(new), _usage(new)))

    def _new_messages(self, run: "GraphRun[Gate, Output]") -> list[ModelMessage]:
        new = run.new_messages()[self._told :]
        self._told += len(new)
        return new


_EMPTY: tuple[object, ...] = (None, [], {})


def _dump(messages: Sequence[ModelMessage]) -> tuple[dict[str, Any], ...]:
    dumped = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
    return tuple(storable(_lean(message)) for message in dumped)


def _lean(message: dict[str, Any]) -> dict[str, Any]:
    """The message without what is empty or comes anew with each run.

    The instructions alone would be stored again with every message of a long history.
    """
    lean = {
        key: value
        for key, value in message.items()
        if value is not None and key not in {"instructions", "run_id", "conversation_id"}
    }
    if "usage" in lean:  # a dozen counters, nearly all of them nought
        lean["usage"] = {name: value for name, value in lean["usage"].items() if value}
    lean["parts"] = [
        {key: value for key, value in part.items() if key == "content" or value not in _EMPTY}
        for part in message["parts"]
    ]
    return lean


def _usage(messages: Sequence[ModelMessage]) -> Usage:
    total = Usage()
    for message in messages:
        if isinstance(message, ModelResponse):
            cost = message.usage
            total += Usage(
                input_tokens=cost.input_tokens,
                output_tokens=cost.output_tokens,
                cache_read_tokens=cost.cache_read_tokens,
                cache_write_tokens=cost.cache_write_tokens,
                requests=1,
            )
    return total
