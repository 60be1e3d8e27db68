"""An answer streamed by an OpenAI-compatible server, made cheap to read. Pure.

A model sends a word at a time, and the client library spends about a fifth of a millisecond on each
piece: with a hundred turns speaking at once that is more than a whole core. So the pieces are read
here, told to whoever listens, and passed on joined together, as if the server had sent few large
ones. Everything that is not plainly a piece of text or of a tool's arguments is passed on as it is.

Source: https://platform.openai.com/docs/api-reference/chat-streaming (read November 2026) and the
event stream format, https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

import json
from collections.abc import Callable
from typing import Any

_THINKING, _DONE_THINKING = "<think>", "</think>"

# What a piece is a piece of: the text, or the arguments of the tool call with that index.
_Kind = tuple[str, int]


class StreamJoiner:
    """Joins the small pieces of one answer while it streams through.

    Args:
        say: Told each piece of visible text as soon as it is read.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._rest = b""
        self._held: dict[str, Any] | None = None
        self._kind: _Kind | None = None
        self._pieces: list[str] = []
        self._is_thinking = False

    def feed(self, data: bytes) -> bytes:
        """Read some of the stream.

        Returns:
            What can be passed on now, in whole lines; often nothing.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        return b"".join(self._read(line.rstrip(b"\r")) for line in lines)

    def finish(self) -> bytes:
        """The rest, once the stream has ended in good order."""
        last, self._rest = self._rest, b""
        return (self._read(last) if last else b"") + self._release()

    def _read(self, line: bytes) -> bytes:
        if not line or line.startswith(b":"):  # the end of an event, or a sign of life
            return b""
        if not line.startswith(b"data:"):
            return line + b"\n"
        payload = line[5:].strip()
        chunk = _parse(payload)
        kind, piece = _piece(chunk)
        if chunk is None or kind is None:
            self._note_thinking(piece)
            return self._release() + b"data: " + payload + b"\n\n"
        if kind[0] == "text" and piece and not self._is_thinking:
            self._say(piece)
        if kind == self._kind:
            self._pieces.append(piece)
            return b""
        released = self._release()
        self._held, self._kind, self._pieces = chunk, kind, [piece]
        return released

    def _note_thinking(self, piece: str) -> None:
        if piece:
            self._is_thinking = piece == _THINKING

    def _release(self) -> bytes:
        """What is held back, as one event; nothing if nothing is."""
        if self._held is None or self._kind is None:
            return b""
        delta = self._held["choices"][0]["delta"]
        joined = "".join(self._pieces)
        if self._kind[0] == "text":
            delta["content"] = joined
        else:
            delta["tool_calls"][0]["function"]["arguments"] = joined
        payload = json.dumps(self._held).encode()
        self._held, self._kind, self._pieces = None, None, []
        return b"data: " + payload + b"\n\n"


def _parse(payload: bytes) -> dict[str, Any] | None:
    try:
        chunk = json.loads(payload)
    except ValueError:  # `[DONE]`, or something that is the client library's to complain about
        return None
    return chunk if isinstance(chunk, dict) else None


def _piece(chunk: dict[str, Any] | None) -> tuple[_Kind | None, str]:
    """What `chunk` is a piece of, and the piece; no kind where it must be passed on as it is."""
    delta = _plain_delta(chunk)
    match delta:
        case {"content": str(text)} if len(delta) == 1:
            # The client library knows the marks of a thinking model only as pieces of their own.
            return (None if text in {_THINKING, _DONE_THINKING} else ("text", 0)), text
        case {"tool_calls": [{"index": int(index), "function": dict(function)} as call]}:
            is_plain = len(delta) == 1 and not (call.get("id") or function.get("name"))
            arguments = function.get("arguments")
            if is_plain and isinstance(arguments, str):
                return ("arguments", index), arguments
    return None, ""


def _plain_delta(chunk: dict[str, Any] | None) -> dict[str, Any]:
    """What the only choice of an unfinished answer adds; empty where there is more to it."""
    match chunk:
        case {"choices": [{"delta": dict(delta)} as choice], **others} if not others.get("usage"):
            more = (choice.get(name) for name in ("finish_reason", "logprobs", "index"))
            if not any(more):
                return {k: v for k, v in delta.items() if v is not None and k != "role"}
    return {}
