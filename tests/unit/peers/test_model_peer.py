"""The model peer as the openai client and pydantic-ai, unmodified, see it."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import openai
import pytest
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import DeferredToolResults, ToolDefinition
from pydantic_ai.toolsets import ExternalToolset

from tests.peers.model import Gate, ModelPeer, Reply, ToolCall, by_keyword, echo, in_turn


@pytest.fixture
def model() -> Iterator[ModelPeer]:
    with ModelPeer() as running:
        yield running


@pytest.fixture
async def client(model: ModelPeer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=model.url, api_key="any", max_retries=0, timeout=30
    ) as ready:
        yield ready


def agent_of(client: openai.AsyncOpenAI) -> Agent[None, str]:
    agent = Agent(OpenAIChatModel("peer", provider=OpenAIProvider(openai_client=client)))

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return agent


async def say(client: openai.AsyncOpenAI, text: str) -> str:
    answer = await client.chat.completions.create(
        model="peer", messages=[{"role": "user", "content": text}]
    )
    return answer.choices[0].message.content or ""


async def stream(client: openai.AsyncOpenAI, text: str) -> list[str]:
    chunks = await client.chat.completions.create(
        model="peer",
        messages=[{"role": "user", "content": text}],
        stream=True,
        stream_options={"include_usage": True},
    )
    return [c.choices[0].delta.content or "" for c in [c async for c in chunks] if c.choices]


async def test_it_lists_its_model(client: openai.AsyncOpenAI) -> None:
    assert [one.id for one in (await client.models.list()).data] == ["peer"]


async def test_it_echoes_by_default(model: ModelPeer, client: openai.AsyncOpenAI) -> None:
    assert await say(client, "grüße 你好") == "You said: grüße 你好"
    assert [(r.last_user_text, r.outcome) for r in model.requests] == [("grüße 你好", "ok")]


async def test_a_stream_has_a_role_the_text_an_end_and_the_usage(
    model: ModelPeer, client: openai.AsyncOpenAI
) -> None:
    model.script(lambda request: Reply(chunks=["one ", "two ", "three"]))

    chunks = [
        chunk
        async for chunk in await client.chat.completions.create(
            model="peer",
            messages=[{"role": "user", "content": "hello"}],
            stream=True,
            stream_options={"include_usage": True},
        )
    ]

    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].delta.content for c in chunks[1:4]] == ["one ", "two ", "three"]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens > 0


async def test_tool_arguments_come_in_fragments(
    model: ModelPeer, client: openai.AsyncOpenAI
) -> None:
    arguments = {"question": "Which of these two long names?", "choices": ["a", "b"]}
    model.script(lambda request: Reply(tool_calls=[ToolCall("clarify", arguments)]))

    chunks = await client.chat.completions.create(
        model="peer", messages=[{"role": "user", "content": "x"}], stream=True
    )
    fragments = [
        call.function.arguments or ""
        async for chunk in chunks
        for call in chunk.choices[0].delta.tool_calls or ()
    ]

    assert len(fragments) > 3
    assert json.loads("".join(fragments)) == arguments


async def test_an_agent_calls_a_tool_and_quotes_its_result(
    model: ModelPeer, client: openai.AsyncOpenAI
) -> None:
    model.script(by_keyword)
    agent = agent_of(client)

    whole = await agent.run('tool add {"a": 2, "b": 40}')
    async with agent.run_stream('tool add {"a": 1, "b": 1}') as streamed:
        output = await streamed.get_output()

    assert (whole.output, output) == ("Result: 42", "Result: 2")
    assert whole.usage.requests == 2
    assert model.requests[1].tool_results == ["42"]
    assert model.requests[0].tools == ["add"]


async def test_an_agent_streams_word_by_word(model: ModelPeer, client: openai.AsyncOpenAI) -> None:
    model.script(by_keyword)
    async with agent_of(client).run_stream("stream 5") as streamed:
        deltas = [text async for text in streamed.stream_text(delta=True, debounce_by=None)]

    assert deltas == [f"word{n} " for n in range(1, 6)]


@pytest.mark.parametrize(
    ("said", "tool", "questions"),
    [("ask: Which? | red | blue", "clarify", 1), ("ask3", "ask_user", 3)],
)
async def test_a_question_suspends_the_run_and_its_answer_ends_it(
    model: ModelPeer, client: openai.AsyncOpenAI, said: str, tool: str, questions: int
) -> None:
    model.script(by_keyword)
    agent = Agent(
        OpenAIChatModel("peer", provider=OpenAIProvider(openai_client=client)),
        output_type=[str, DeferredToolRequests],
        toolsets=[ExternalToolset([ToolDefinition(name=tool)])],
    )

    first = await agent.run(said)
    assert isinstance(first.output, DeferredToolRequests)
    (call,) = first.output.calls
    answers = DeferredToolResults(calls={call.tool_call_id: "blue"})
    second = await agent.run(message_history=first.all_messages(), deferred_tool_results=answers)

    assert call.tool_name == tool
    assert len(call.args_as_dict().get("questions", [1])) == questions
    assert second.output == "Result: blue"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("429", openai.RateLimitError),
        ("500", openai.InternalServerError),
        ("502html", openai.InternalServerError),
        ("400", openai.BadRequestError),
        ("401", openai.AuthenticationError),
        ("reset", openai.APIConnectionError),
    ],
)
async def test_a_fault_is_what_the_client_calls_it(
    model: ModelPeer, client: openai.AsyncOpenAI, fault: str, error: type[Exception]
) -> None:
    model.script(in_turn(Reply(fault=fault, retry_after=3), Reply(text="again")))

    with pytest.raises(error):
        await say(client, "x")

    assert await say(client, "x") == "again"
    assert [call.outcome for call in model.requests] == [fault, "ok"]


async def test_a_429_says_when_to_come_back(model: ModelPeer, client: openai.AsyncOpenAI) -> None:
    model.script(lambda request: Reply(fault="429", retry_after=3))

    with pytest.raises(openai.RateLimitError) as caught:
        await say(client, "x")

    assert caught.value.response.headers["retry-after"] == "3"


async def test_a_stream_can_be_cut_in_the_middle(
    model: ModelPeer, client: openai.AsyncOpenAI
) -> None:
    model.script(lambda request: Reply(chunks=["one ", "two ", "three"], fault="cut_mid_stream"))

    with pytest.raises(Exception, match=r"(?i)peer closed|incomplete|connection"):
        await stream(client, "x")


async def test_a_hanging_model_times_out(model: ModelPeer, client: openai.AsyncOpenAI) -> None:
    model.script(lambda request: Reply(fault="hang"))

    with pytest.raises(openai.APITimeoutError):
        await say(client.with_options(timeout=0.2), "x")

    await model.until(lambda: model.requests[0].outcome == "client_left")


async def test_a_client_that_leaves_is_noticed(
    model: ModelPeer, client: openai.AsyncOpenAI
) -> None:
    model.script(lambda request: Reply(text="a b c", chunks=3, gate_after=Gate()))
    reading = asyncio.create_task(stream(client, "x"))
    await model.until(lambda: model.in_flight == 1)

    reading.cancel()

    await model.until(lambda: model.in_flight == 0)
    assert model.requests[0].outcome == "client_left"


async def test_the_most_at_once_is_counted(model: ModelPeer, client: openai.AsyncOpenAI) -> None:
    gate = Gate()
    model.script(lambda request: Reply(text="done", gate=gate))
    asking = [asyncio.create_task(say(client, str(n))) for n in range(5)]
    await model.until(lambda: model.in_flight == 5)
    gate.open()

    assert await asyncio.gather(*asking) == ["done"] * 5
    assert (model.in_flight, model.in_flight_peak) == (0, 5)


async def test_keywords_need_no_arguments(model: ModelPeer, client: openai.AsyncOpenAI) -> None:
    model.script(by_keyword)

    assert await say(client, "slow 0.01") == "Done after 0.01 s."
    assert (await say(client, "markdown")).startswith("# A long answer")
    assert await say(client, "what") == "You said: what"
    with pytest.raises(openai.InternalServerError):
        await say(client, "fail")


async def test_a_key_can_be_insisted_on() -> None:
    with ModelPeer(api_key="right", script=echo) as model:
        for key, passes in (("right", True), ("wrong", False)):
            async with openai.AsyncOpenAI(base_url=model.url, api_key=key, max_retries=0) as client:
                if passes:
                    assert await say(client, "x") == "You said: x"
                else:
                    with pytest.raises(openai.AuthenticationError):
                        await say(client, "x")


def test_an_unknown_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="no such fault"):
        Reply(fault="bad luck")
