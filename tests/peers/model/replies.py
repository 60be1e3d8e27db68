"""What a scripted model says, and how it looks on the wire. Pure.

Source: platform.openai.com/docs/api-reference/chat (chat completion and its chunks, read 2026-11).
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.peers.server import Gate

Request = dict[str, Any]
Chunk = dict[str, Any]
_CREATED = 1_790_000_000
_PIECE = 12  # characters of text or of tool arguments in one chunk, unless the reply says more
_numbers = count(1)

FAULTS = frozenset({"429", "500", "502html", "400", "401", "reset", "cut_mid_stream", "hang"})


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool; `arguments` may be text that is not JSON, as models sometimes give."""

    name: str
    arguments: dict[str, Any] | str
    id: str = ""

    @property
    def arguments_text(self) -> str:
        """The arguments as they go over the wire."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer of the model.

    Attributes:
        text: What it says; may stand beside tool calls.
        tool_calls: What it wants done.
        chunks: How the text is cut for streaming: a number of pieces, or the pieces themselves.
        delay_first: Seconds before the first byte.
        delay_between: Seconds between chunks.
        gate: What it waits for before the first byte.
        gate_after: What it waits for after half of the chunks.
        fault: `429` `500` `502html` `400` `401`: refused; `reset`: connection reset;
            `cut_mid_stream`: reset after half of the chunks; `hang`: never answered.
        status: The HTTP status of a refusal, if not the fault's own.
        retry_after: The `retry-after` header of a refusal, in seconds.
        finish_reason: Why it stopped; empty for `stop` or `tool_calls`.
    """

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    chunks: int | Sequence[str] = 0
    delay_first: float = 0.0
    delay_between: float = 0.0
    gate: Gate | None = None
    gate_after: Gate | None = None
    fault: str | None = None
    status: int = 0
    retry_after: float | None = None
    finish_reason: str = ""

    def __post_init__(self) -> None:
        if self.fault is not None and self.fault not in FAULTS:
            raise ValueError(f"no such fault: {self.fault}")

    @property
    def pieces(self) -> list[str]:
        """The text as it is streamed."""
        if not isinstance(self.chunks, int):
            return list(self.chunks)
        size = -(-len(self.text) // self.chunks) if self.chunks else _PIECE
        return _cut(self.text, max(size, 1))

    @property
    def finish(self) -> str:
        """Why the model stopped."""
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")


Script = Callable[[Request], Reply]


def last_user_text(request: Request) -> str:
    """The words of the last message a person wrote; empty if there is none."""
    for message in reversed(request.get("messages", [])):
        if message.get("role") == "user":
            return text_in(message)
    return ""


def tool_results(request: Request) -> list[str]:
    """The tool results that came after the last message a person wrote, oldest first."""
    found: list[str] = []
    for message in reversed(request.get("messages", [])):
        if message.get("role") == "user":
            break
        if message.get("role") == "tool":
            found.append(text_in(message))
    return found[::-1]


def text_in(message: dict[str, Any]) -> str:
    """The text of a message, whether its content is text or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if part.get("type") == "text")


def completion(request: Request, reply: Reply) -> dict[str, Any]:
    """The whole answer as one object."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{next(_numbers)}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_text},
            }
            for call in reply.tool_calls
        ]
    return {
        **_head(request, "chat.completion"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}
        ],
        "usage": usage_of(request, reply),
    }


def stream(request: Request, reply: Reply) -> Iterator[Chunk]:
    """The chunks of a streamed answer: role, text, tool calls in fragments, end, usage."""
    head = _head(request, "chat.completion.chunk")
    yield _chunk(head, {"role": "assistant", "content": ""})
    for piece in reply.pieces:
        yield _chunk(head, {"content": piece})
    for index, call in enumerate(reply.tool_calls):
        function = {"name": call.name, "arguments": ""}
        opened = {"index": index, "id": call.id or f"call_{next(_numbers)}", "type": "function"}
        yield _chunk(head, {"tool_calls": [{**opened, "function": function}]})
        for fragment in _cut(call.arguments_text, _PIECE):
            part = {"index": index, "function": {"arguments": fragment}}
            yield _chunk(head, {"tool_calls": [part]})
    yield _chunk(head, {}, reply.finish)
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": usage_of(request, reply)}


def usage_of(request: Request, reply: Reply) -> dict[str, int]:
    """Tokens, counted as a quarter of the characters."""
    asked = sum(len(text_in(message)) for message in request.get("messages", [])) // 4 + 1
    said = sum(len(call.arguments_text) for call in reply.tool_calls) + len(reply.text)
    answered = said // 4 + 1
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
    }


def _head(request: Request, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{next(_numbers)}",
        "object": kind,
        "created": _CREATED,
        "model": request.get("model", "peer"),
        "system_fingerprint": "fp_peer",
    }


def _chunk(head: dict[str, Any], delta: dict[str, Any], finish: str | None = None) -> Chunk:
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
