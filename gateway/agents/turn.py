"""One run of the agent on the loop, step by step: the model is asked, its tools are run, and again.

This is a loop of our own around the models of the agent library. The library's own graph does the
same for every kind of agent there may be; for ours, which ends in words or in questions, it took
three quarters of a turn's processor time.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic_ai.exceptions import (
    ContentFilterError,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
)
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters

from gateway.agents.events import (
    Asked,
    Cancelled,
    Ending,
    Failed,
    Finished,
    ModelAnswered,
    ModelStarting,
    Usage,
)
from gateway.agents.failures import explain, timed_out
from gateway.agents.handover import Handover
from gateway.agents.history import cut_to_response, storable
from gateway.agents.models import ModelShelf, PatientModel
from gateway.agents.requests import RunRequest
from gateway.agents.tools import ToolRegistry
from gateway.agents.toolset import Calls, Gate, Toolset
from gateway.messages import clean
from gateway.states import FailureKind

logger = logging.getLogger(__name__)

#: A tool that will not be cancelled may go on for so long before the caller is told regardless.
_GRACE_SECONDS = 2.0
#: Answers without any usable content that are asked for again.
EMPTY_ANSWERS = 2


class Engine:
    """What all turns of a process share: the models, and the tools by what a turn may use."""

    def __init__(self, shelf: ModelShelf, registry: ToolRegistry) -> None:
        self.shelf = shelf
        self._registry = registry
        self._toolsets: dict[frozenset[str], Toolset] = {}

    def toolset(self, names: frozenset[str]) -> Toolset:
        """Exactly these tools.

        Raises:
            UnknownTool: One of them is not registered.
        """
        if names not in self._toolsets:
            tools = {name: self._registry.get(name) for name in sorted(names)}
            self._toolsets[names] = Toolset(tools)
        return self._toolsets[names]


class Turn:
    """One run; everything here happens on the loop."""

    def __init__(self, engine: Engine, request: RunRequest, handover: Handover) -> None:
        self._engine = engine
        self._request = request
        self._handover = handover
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
        request, engine = self._request, self._engine
        listener = self._handover if request.stream else None
        steps = Steps(
            request,
            engine.shelf.patient(request.model, listener),
            engine.toolset(request.tools),
            self._handover,
            engine.shelf.config.max_requests,
        )
        self._handover.end(await steps.run())


class Steps:
    """The steps of one run.

    Args:
        request: What the run was started with.
        model: Who is asked.
        toolset: The tools of the run.
        handover: Where the caller hears of it.
        most_requests: How often the model may be asked.
    """

    def __init__(
        self,
        request: RunRequest,
        model: PatientModel,
        toolset: Toolset,
        handover: Handover,
        most_requests: int,
    ) -> None:
        self._request = request
        self._model, self._handover, self._most = model, handover, most_requests
        self._gate = Gate(handover, request.context)
        self._calls = Calls(toolset, self._gate)
        self._parameters = ModelRequestParameters(
            function_tools=toolset.definitions,
            instruction_parts=[InstructionPart(request.instructions)]
            if request.instructions
            else None,
        )
        self._messages = _stored(request)
        self._new: list[ModelMessage] = []  # since the last checkpoint
        self._asked = self._empty = 0
        if request.prompt is not None:
            self._add(ModelRequest([UserPromptPart(request.prompt)], timestamp=_now()))

    async def run(self) -> Ending:
        """Go on until there is an answer, or people have to be asked.

        Returns:
            How it ended.

        Raises:
            ModelAPIError: No model could answer.
            UnexpectedModelBehavior: What it answered cannot be used.
            UsageLimitExceeded: It was asked too often.
        """
        if not self._messages:
            raise ValueError("a run needs a prompt or a history")
        last = self._messages[-1]
        # Whatever was said before the first question is in the queue for its own turn.
        is_new = self._request.prompt is not None
        response = last if isinstance(last, ModelResponse) else await self._ask(takes_in=not is_new)
        while True:
            if response.tool_calls:
                results = await self._run_tools(response)
                if self._gate.deferred:
                    return Asked(tuple(self._gate.deferred))
                self._add(ModelRequest(results, timestamp=_now()))
            elif text := _text(response):
                return Finished(clean(text), _dump(self._new), _usage(self._new))
            else:
                self._ask_for_words(response)
            response = await self._ask()

    async def _ask(self, *, takes_in: bool = True) -> ModelResponse:
        if self._asked >= self._most:
            raise UsageLimitExceeded(f"the model was asked {self._most} times for one answer")
        if takes_in and self._request.is_steered:
            await self._take_in()
        response = await self._model.ask(self._messages, self._parameters)
        self._asked += 1
        self._add(response)
        return response

    async def _take_in(self) -> None:
        """Put what was said meanwhile at the end of what the model is about to read."""
        said = await self._handover.exchange(ModelStarting())
        parts = [UserPromptPart(words) for words in said]
        last = self._new[-1] if self._new else None
        if parts and isinstance(last, ModelRequest):
            last.parts = [*last.parts, *parts]
        elif parts:
            self._add(ModelRequest(parts, timestamp=_now()))

    async def _run_tools(self, response: ModelResponse) -> Sequence[Any]:
        # The caller stores what the model said before any tool runs; what it gave us is stored.
        if self._new:
            new, self._new = self._new, []
            await self._handover.exchange(ModelAnswered(_dump(new), _usage(new)))
        return await self._calls.answer(response)

    def _ask_for_words(self, response: ModelResponse) -> None:
        """The model answered without a word; let it be asked again.

        Raises:
            OutputTokenLimitExceeded, ContentFilterError, UnexpectedModelBehavior: As it is no use.
        """
        if response.finish_reason == "length":
            raise OutputTokenLimitExceeded("all that the model may write went before any answer")
        if response.finish_reason == "content_filter":
            raise ContentFilterError("the answer was filtered out")
        self._empty += 1
        if self._empty > EMPTY_ANSWERS:
            raise UnexpectedModelBehavior(f"{self._empty} answers without any content")
        # The library knows these very words as its own, and lets them speak for the system.
        wanted = "return text or call a tool" if self._parameters.function_tools else "return text"
        feedback = RetryFeedbackPart(f"Please {wanted}.", retry=RetryInfo(cause="no_output"))
        self._add(ModelRequest([feedback], timestamp=_now()))

    def _add(self, message: ModelMessage) -> None:
        self._messages.append(message)
        self._new.append(message)


def _stored(request: RunRequest) -> list[ModelMessage]:
    history = request.history
    if request.prompt is None:
        history = cut_to_response(history)
    return ModelMessagesTypeAdapter.validate_python(history)


def _text(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def _now() -> datetime:
    return datetime.now(tz=UTC)


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
