"""An OpenAI-compatible server on loopback, answering by script."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.peers.model.replies import (
    Reply,
    Script,
    completion,
    last_user_text,
    stream,
    tool_results,
)
from tests.peers.model.scripts import echo
from tests.peers.server import Peer, json_answer, reset

_ERRORS: dict[str, tuple[int, str, str, str]] = {
    "429": (429, "rate_limit_error", "rate_limit_exceeded", "Rate limit reached for requests"),
    "500": (500, "server_error", "", "The server had an error while processing your request."),
    "400": (400, "invalid_request_error", "", "This request is not right."),
    "401": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
}


@dataclass(eq=False, slots=True)
class ModelCall:
    """One request for a completion.

    Attributes:
        body: The request, decoded.
        at: When it came, on the monotonic clock, in seconds.
        outcome: `waiting`, `ok`, a fault's name, or `client_left`.
        finished_at: When it was answered; None while it is not.
    """

    body: dict[str, Any]
    at: float = field(default_factory=time.monotonic)
    outcome: str = "waiting"
    finished_at: float | None = None

    @property
    def last_user_text(self) -> str:
        """What the person said last."""
        return last_user_text(self.body)

    @property
    def tool_results(self) -> list[str]:
        """The tool results since then."""
        return tool_results(self.body)

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]


class ModelPeer(Peer):
    """A model that says what a script tells it to.

    Args:
        port: The port on 127.0.0.1; 0 takes any free one.
        script: What to answer; it is called in the peer's thread and must not block.
        api_key: The key to insist on; empty takes any.
    """

    cancels_when_the_client_leaves = True

    def __init__(self, port: int = 0, *, script: Script = echo, api_key: str = "") -> None:
        super().__init__(port)
        self._script = script
        self._api_key = api_key
        self.requests: list[ModelCall] = []
        self.in_flight = 0
        self.in_flight_peak = 0

    @property
    def url(self) -> str:
        """The base URL for clients, with `/v1`."""
        return f"{self.origin}/v1"

    def script(self, script: Script) -> None:
        """Answer by `script` from now on."""
        self._script = script

    def forget(self) -> None:
        """Drop the journal and the peak; a long benchmark does so between rounds."""
        with self.changed:
            self.requests.clear()
            self.in_flight_peak = self.in_flight

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request of a client."""
        if self._api_key and request.headers.get("Authorization") != f"Bearer {self._api_key}":
            return _refusal("401", Reply())
        if request.method == "GET" and request.path.rstrip("/") == "/v1/models":
            model = {"id": "peer", "object": "model", "created": 0, "owned_by": "peer"}
            return json_answer({"object": "list", "data": [model]})
        if request.method != "POST" or request.path != "/v1/chat/completions":
            return json_answer({"error": {"message": f"no such route: {request.path}"}}, status=404)
        call = ModelCall(json.loads(await request.read()))
        self._begin(call)
        try:
            reply = self._script(call.body)
            answer = await _perform(request, call, reply)
            call.outcome = reply.fault or "ok"
        except (asyncio.CancelledError, ConnectionError):
            call.outcome = "client_left"
            raise
        finally:
            self._finish(call)
        return answer

    def _begin(self, call: ModelCall) -> None:
        with self.changed:
            self.requests.append(call)
            self.in_flight += 1
            self.in_flight_peak = max(self.in_flight_peak, self.in_flight)
            self.notify()

    def _finish(self, call: ModelCall) -> None:
        with self.changed:
            call.finished_at = time.monotonic()
            self.in_flight -= 1
            self.notify()


async def _perform(request: web.BaseRequest, call: ModelCall, reply: Reply) -> web.StreamResponse:
    await _hold_back(reply)
    if reply.fault == "hang":
        await asyncio.get_running_loop().create_future()
    if reply.fault == "reset":
        return reset(request)
    if reply.fault is not None and reply.fault != "cut_mid_stream":
        return _refusal(reply.fault, reply)
    if call.body.get("stream"):
        return await _streamed(request, call, reply)
    if reply.fault:
        return reset(request)
    if reply.gate_after is not None:
        await reply.gate_after.passed()
    return json_answer(completion(call.body, reply))


async def _hold_back(reply: Reply) -> None:
    if reply.gate is not None:
        await reply.gate.passed()
    if reply.delay_first:
        await asyncio.sleep(reply.delay_first)


async def _streamed(request: web.BaseRequest, call: ModelCall, reply: Reply) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
    )
    chunks = [_event(json.dumps(chunk)) for chunk in stream(call.body, reply)]
    chunks.append(_event("[DONE]"))
    half = len(chunks) // 2
    await response.prepare(request)
    if not (reply.delay_between or reply.fault or reply.gate_after):
        await response.write(b"".join(chunks))
        await response.write_eof()
        return response
    for number, chunk in enumerate(chunks):
        if number == half and reply.gate_after is not None:
            await reply.gate_after.passed()
        if number == half and reply.fault:
            return _cut(request, response)
        await response.write(chunk)
        if reply.delay_between:
            await asyncio.sleep(reply.delay_between)
    await response.write_eof()
    return response


def _cut(request: web.BaseRequest, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        # Closed, not aborted: what was written so far still arrives.
        request.transport.close()
    return response


def _event(data: str) -> bytes:
    return f"data: {data}\n\n".encode()


def _refusal(kind: str, reply: Reply) -> web.Response:
    headers = {} if reply.retry_after is None else {"retry-after": f"{reply.retry_after:g}"}
    if kind == "502html":
        body = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
        return web.Response(status=502, body=body, content_type="text/html", headers=headers)
    status, family, code, words = _ERRORS[kind]
    error = {"message": words, "type": family, "param": None, "code": code or None}
    return json_answer({"error": error}, status=reply.status or status, headers=headers)
