"""The offline demo agent as a model, so that it takes the very path every real model takes."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence

from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_core import to_json

from gateway.agents.demo_script import Heard, Script, ToolResult, respond


def demo_model() -> FunctionModel:
    """The demo agent; it opens no connection and reads no file."""
    return FunctionModel(_answer, stream_function=_stream, model_name="demo")


async def _answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    script = _script(messages, info)
    if script.pause_seconds:
        await asyncio.sleep(script.pause_seconds * (len(script.pieces) - 1))
    calls = [ToolCallPart(call.name, dict(call.args), _new_call_id()) for call in script.calls]
    return ModelResponse(parts=[*([TextPart(script.text)] if script.pieces else []), *calls])


async def _stream(
    messages: list[ModelMessage], info: AgentInfo
) -> AsyncIterator[str | DeltaToolCalls]:
    script = _script(messages, info)
    for index, piece in enumerate(script.pieces):
        if index and script.pause_seconds:
            await asyncio.sleep(script.pause_seconds)
        yield piece
    for index, call in enumerate(script.calls, start=1):
        arguments = to_json(dict(call.args)).decode()
        delta = DeltaToolCall(name=call.name, json_args=arguments, tool_call_id=_new_call_id())
        yield {index: delta}


def _script(messages: Sequence[ModelMessage], info: AgentInfo) -> Script:
    tools = frozenset(tool.name for tool in info.function_tools)
    script = respond(_heard(messages, tools))
    if script.failure:
        raise ModelHTTPError(script.failure, "demo", body="The demo agent was asked to fail.")
    return script


def _heard(messages: Sequence[ModelMessage], tools: frozenset[str]) -> Heard:
    """What was said last, and what the tools gave since."""
    results = [
        ToolResult(part.tool_name, part.content)
        for part in messages[-1].parts
        if isinstance(part, ToolReturnPart)
    ]
    for message in reversed(messages):
        for part in reversed(message.parts):
            if isinstance(part, UserPromptPart):
                prompt = part.content if isinstance(part.content, str) else ""
                said_since = part in messages[-1].parts
                return Heard(prompt=prompt, results=[] if said_since else results, tools=tools)
    return Heard(prompt="", results=results, tools=tools)


def _new_call_id() -> str:
    return f"call_{secrets.token_hex(12)}"
