"""The models by name, and the patience they are called with."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import Protocol

import httpx2
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
    repair_messages,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.providers import infer_provider_class

from gateway.agents.demo import demo_model
from gateway.agents.failures import ModelMisconfigured, explain, is_transient, is_worth_a_fallback
from gateway.agents.requests import ModelConfig
from gateway.agents.tap import Tap, TappedClient, current_tap
from gateway.messages import clean

DEMO = "demo"
_FIRST_PAUSE_SECONDS = 0.5

Wait = Callable[[float], Awaitable[object]]
_random = secrets.SystemRandom()


class Listener(Protocol):
    """Who hears what the model says while it says it."""

    def begin_response(self) -> None:
        """The model starts an answer; what was heard before belongs to another one."""
        ...

    def say_soon(self, piece: str) -> None:
        """The model said `piece`."""
        ...


class ModelShelf:
    """All models of one process, built once, with one HTTP client on the loop they live on."""

    def __init__(self, config: ModelConfig, *, wait: Wait = asyncio.sleep) -> None:
        self.config = config
        self._wait = wait
        self._models: dict[str, Model] = {}
        self._client: TappedClient | None = None

    def get(self, name: str) -> Model:
        """The model of that name.

        Args:
            name: `demo`, `provider:name` of the agent library, or a name at the configured server.

        Raises:
            ModelMisconfigured: The name, or the package or key it needs, is not right.
        """
        if name not in self._models:
            self._models[name] = self._build(name)
        return self._models[name]

    def patient(self, name: str, listener: Listener | None) -> "PatientModel":
        """The model of that name as one run calls it: with retries, a fallback and a listener."""
        wanted, fallback = name or self.config.name, self.config.fallback
        backup = self.get(fallback) if fallback and fallback != wanted else None
        return PatientModel(self.get(wanted), backup, self.config, listener, self._wait)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        self._models.clear()
        if client is not None:
            await client.aclose()

    def _build(self, name: str) -> Model:
        if name == DEMO:
            return demo_model()
        try:
            if self._is_of_the_library(name):
                return infer_model(name)
            return self._build_compatible(name)
        except (UserError, ImportError, ValueError) as error:
            first_line = str(error).partition("\n")[0]
            raise ModelMisconfigured(f"The model {name} cannot be used: {first_line}") from error

    def _is_of_the_library(self, name: str) -> bool:
        """Whether `name` is `provider:name`, and not a local server's name such as `llama3:8b`."""
        provider, colon, _ = name.partition(":")
        if not colon or not self.config.base_url:
            return bool(colon)
        try:
            infer_provider_class(provider)
        except ValueError:
            return False
        return True

    def _build_compatible(self, name: str) -> Model:
        # The client library costs 30 MB and half a second, which the demo agent need not pay.
        from gateway.agents.plain_openai import PlainChatModel, PlainOpenAI  # noqa: PLC0415

        config = self.config
        if self._client is None:
            self._client = TappedClient(limits=self._limits(), timeout=self._timeout())
        client = PlainOpenAI(
            base_url=config.base_url or "https://api.openai.com/v1",
            api_key=config.api_key or "none",  # a server of one's own may want no key
            http_client=self._client,
            max_retries=0,  # PatientModel tries again, and honours long waits as well
            timeout=self._timeout(),
        )
        return PlainChatModel(name, client)

    def _limits(self) -> httpx2.Limits:
        most = self.config.max_connections
        return httpx2.Limits(max_connections=most, max_keepalive_connections=most)

    def _timeout(self) -> httpx2.Timeout:
        return httpx2.Timeout(
            connect=self.config.connect_timeout_seconds,
            read=self.config.read_timeout_seconds,
            write=self.config.connect_timeout_seconds,
            pool=self.config.connect_timeout_seconds,
        )


class PatientModel:
    """A model that is asked again when it stumbles, and another one when it does not get up.

    Who asks it gets whole answers. It streams below if somebody listens, so a stream that breaks
    in the middle is simply asked for again: nothing has been done with half an answer.
    """

    def __init__(
        self,
        chosen: Model,
        fallback: Model | None,
        config: ModelConfig,
        listener: Listener | None,
        wait: Wait,
    ) -> None:
        self._chosen = chosen
        self._fallback = fallback
        self._config = config
        self._listener = listener
        self._wait = wait

    async def ask(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> ModelResponse:
        """Ask, with patience.

        Args:
            messages: The whole history; it is not changed.
            parameters: The instructions, and the tools to tell of.

        Raises:
            ModelAPIError: No model could answer; the last one's reason.
        """
        try:
            response = await self._insist(self._chosen, messages, parameters)
        except Exception as error:
            if self._fallback is None or not is_worth_a_fallback(error):
                raise
            response = await self._insist(self._fallback, messages, parameters)
        _clean(response)
        _make_call_ids_unique(response, messages)
        return response

    async def _insist(
        self, model: Model, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> ModelResponse:
        prepared = _prepared(model, messages, parameters)
        tries = max(1, self._config.max_tries)
        for attempt in range(1, tries):
            try:
                return await self._ask(model, prepared, parameters)
            except Exception as error:
                pause = self._pause_after(error, attempt)
                if pause is None:
                    raise
            await self._wait(pause)
        return await self._ask(model, prepared, parameters)

    def _pause_after(self, error: Exception, attempt: int) -> float | None:
        """Seconds to wait before the next try; None when there should be none."""
        if not is_transient(error):
            return None
        asked = explain(error).retry_after
        if asked is not None:
            return asked if asked <= self._config.longest_wait_seconds else None
        # Many turns stumble over the same outage; they should not all come back at once.
        backoff: float = _FIRST_PAUSE_SECONDS * 3 ** (attempt - 1)
        return backoff * _random.uniform(0.75, 1.25)

    async def _ask(
        self, model: Model, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> ModelResponse:
        listener = self._listener
        if listener is None:
            return await model.request(messages, None, parameters)
        listener.begin_response()
        tap = Tap(listener.say_soon)
        token = current_tap.set(tap)
        try:
            async with model.request_stream(messages, None, parameters) as stream:
                async for event in stream:
                    if not tap.is_open and (piece := _visible_text(event)):
                        listener.say_soon(piece)
                return stream.get()
        finally:
            current_tap.reset(token)


def _prepared(
    model: Model, messages: list[ModelMessage], parameters: ModelRequestParameters
) -> list[ModelMessage]:
    """`messages` as `model` takes them, made whole: each call with its result, in good order."""
    whole = repair_messages(messages)
    prepared = model.prepare_messages(whole, parameters)
    return whole if prepared is whole else repair_messages(prepared)


def _visible_text(event: ModelResponseStreamEvent) -> str:
    if isinstance(event, PartDeltaEvent):
        return event.delta.content_delta if isinstance(event.delta, TextPartDelta) else ""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    return ""


def _clean(response: ModelResponse) -> None:
    """What no database and no request holds is taken out before anybody works with it."""
    for part in response.parts:
        if isinstance(part, TextPart | ThinkingPart):
            part.content = clean(part.content)
        elif isinstance(part, ToolCallPart) and isinstance(part.args, str):
            part.args = clean(part.args)


def _make_call_ids_unique(response: ModelResponse, messages: list[ModelMessage]) -> None:
    """Give a call a fresh id where the model repeats one, or gives one that cannot be stored.

    Results are stored under these ids, and some servers number the calls of every response from
    zero again: a later call would be given the result of an earlier one.
    """
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    if not calls:
        return
    taken = {
        part.tool_call_id
        for message in messages
        if isinstance(message, ModelResponse)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    }
    for call in calls:
        call_id = call.tool_call_id
        if not call_id or call_id in taken or clean(call_id) != call_id:
            call.tool_call_id = f"call_{secrets.token_hex(12)}"
        taken.add(call.tool_call_id)
