"""OpenAI's client and the library's model, without what they do anew at each request.

Before each request the client library walks through all of it and compares every value with the
types that the API declares, to rename keys and to encode dates and files. A chat has none of those,
and the agent library writes JSON as the API takes it already. The walk costs 0.15 ms for each
message of the history, so that it came to be four fifths of a turn in a long chat.

The model makes the schemas of all tools over for each request, though they never change.
"""

from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from openai import AsyncOpenAI, AsyncStream, NotGiven, Omit
from openai.resources.chat import AsyncChat, AsyncCompletions
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition
from typing_extensions import override

# What is said of a request beside its body, by its name here and among the client's options.
_OPTIONS = {
    "extra_headers": "headers",
    "extra_query": "params",
    "extra_body": "extra_json",
    "timeout": "timeout",
}
_NOTHING = (Omit, NotGiven, type(None))


class PlainChatModel(OpenAIChatModel):
    """The model; the tools of a run are made ready once for all runs that have the same list."""

    def __init__(self, name: str, client: AsyncOpenAI) -> None:
        super().__init__(name, provider=OpenAIProvider(openai_client=client))
        # By the identity of the list, which is kept beside, so that no other can have the same.
        self._ready: dict[int, tuple[list[ToolDefinition], list[ToolDefinition]]] = {}

    @override
    def customize_request_parameters(
        self, model_request_parameters: ModelRequestParameters
    ) -> ModelRequestParameters:
        """The parameters with the tools as the server wants them."""
        parameters, tools = model_request_parameters, model_request_parameters.function_tools
        if id(tools) not in self._ready:
            made = super().customize_request_parameters(parameters)
            self._ready[id(tools)] = tools, made.function_tools
        return replace(parameters, function_tools=self._ready[id(tools)][1])


class PlainOpenAI(AsyncOpenAI):
    """The client; only the way to completions differs."""

    @cached_property
    @override
    def chat(self) -> AsyncChat:
        """The chats."""
        return _PlainChat(self)


class _PlainChat(AsyncChat):
    @cached_property
    @override
    def completions(self) -> AsyncCompletions:
        return _PlainCompletions(self._client)


class _PlainCompletions(AsyncCompletions):
    @override
    async def create(self, **given: Any) -> Any:
        """Ask for a completion; `given` is the request as the API takes it, and options."""
        body = {name: value for name, value in given.items() if not isinstance(value, _NOTHING)}
        options = {"security": {"bearer_auth": True}}
        options |= {_OPTIONS[name]: body.pop(name) for name in _OPTIONS if name in body}
        return await self._client.post(
            "/chat/completions",
            cast_to=ChatCompletion,
            body=body,
            options=cast("Any", options),
            stream=bool(body.get("stream")),
            stream_cls=AsyncStream[ChatCompletionChunk],
        )
