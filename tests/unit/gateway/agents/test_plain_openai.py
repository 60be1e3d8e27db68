"""The client that sends a request as it is: the server must not see any difference."""

import asyncio

import pytest
from openai import AsyncOpenAI, AuthenticationError, Omit
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from gateway.agents.plain_openai import PlainOpenAI
from tests.peers.model import ModelPeer

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
HISTORY = [
    ModelRequest(parts=[SystemPromptPart("Be kind."), UserPromptPart("hello 👋")]),
    ModelResponse(
        parts=[
            ThinkingPart("hm"),
            TextPart("Both."),
            ToolCallPart("note", {"text": "milk"}, "call_1"),
            ToolCallPart("note", '{"text": ', "call_2"),
        ]
    ),
    ModelRequest(
        parts=[
            ToolReturnPart("note", {"stored": True}, "call_1"),
            ToolReturnPart("note", "That is not JSON.", "call_2", outcome="retried"),
            UserPromptPart(["and", "two pieces"]),
        ]
    ),
]
SETTINGS = {"temperature": 0.5, "max_tokens": 99, "extra_body": {"own": 1}, "timeout": 9.0}


async def ask(kind, peer, *, stream, settings=None):
    async with kind(base_url=peer.url, api_key="sk-key", max_retries=0) as client:
        model = OpenAIChatModel("peer", provider=OpenAIProvider(openai_client=client))
        parameters = ModelRequestParameters(
            function_tools=[ToolDefinition(name="note", parameters_json_schema=SCHEMA)]
        )
        if not stream:
            return (await model.request(HISTORY, settings, parameters)).parts
        async with model.request_stream(HISTORY, settings, parameters) as response:
            async for _ in response:
                pass
            return response.get().parts


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("settings", [None, SETTINGS])
def test_a_request_and_its_answer_are_those_of_the_library(peer, stream, settings):
    answers = [
        asyncio.run(ask(kind, peer, stream=stream, settings=settings))
        for kind in (AsyncOpenAI, PlainOpenAI)
    ]
    theirs, ours = peer.requests

    assert ours.body == theirs.body
    assert [part.content for part in answers[1]] == [part.content for part in answers[0]]


def test_what_is_not_given_is_not_sent(peer):
    async def run():
        async with PlainOpenAI(base_url=peer.url, api_key="sk-key") as client:
            await client.chat.completions.create(
                model="peer", messages=[{"role": "user", "content": "hi"}], stop=Omit(), seed=None
            )

    asyncio.run(run())

    assert set(peer.requests[0].body) == {"model", "messages"}


def test_the_key_is_shown_and_a_refusal_is_the_librarys_own():
    async def run(key):
        async with PlainOpenAI(base_url=strict.url, api_key=key, max_retries=0) as client:
            return await client.chat.completions.create(model="peer", messages=[])

    with ModelPeer(api_key="sk-right") as strict:
        answer = asyncio.run(run("sk-right"))
        with pytest.raises(AuthenticationError):
            asyncio.run(run("sk-wrong"))

    assert answer.object == "chat.completion"
