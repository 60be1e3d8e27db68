"""OpenAI's client, sending what it is given as it is.

Before each request the client library walks through all of it and compares every value with the
types that the API declares, to rename keys and to encode dates and files. A chat has none of those,
and the agent library writes JSON as the API takes it already. The walk costs 0.15 ms for each
message of the history, so that it came to be four fifths of a turn in a long chat.
"""

from functools import cached_property
from typing import Any, cast

from openai import AsyncOpenAI, AsyncStream, NotGiven, Omit
from openai.resources.chat import AsyncChat, AsyncCompletions
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from typing_extensions import override

# What is said of a request beside its body, by its name here and among the client's options.
_OPTIONS = {
    "extra_headers": "headers",
    "extra_query": "params",
    "extra_body": "extra_json",
    "timeout": "timeout",
}
_NOTHING = (Omit, NotGiven, type(None))


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
