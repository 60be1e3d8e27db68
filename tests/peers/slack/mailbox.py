"""What the app is told: over sockets until it acknowledges, or in signed requests.

Source: docs.slack.dev/apis/events-api/using-socket-mode and
docs.slack.dev/authentication/verifying-requests-from-slack.
"""

import asyncio
import contextlib
import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import web


@dataclass(eq=False)
class Envelope:
    """One thing the app is told until it says that it has it."""

    id: str
    kind: str
    payload: dict[str, Any]
    attempts: int = 0
    sent_to: web.WebSocketResponse | None = None
    answer: dict[str, Any] | None = None
    is_acknowledged: bool = False

    def frame(self) -> str:
        """The envelope on a socket."""
        said: dict[str, Any] = {
            "envelope_id": self.id,
            "type": self.kind,
            "payload": self.payload,
            "accepts_response_payload": self.kind != "events_api",
        }
        if self.attempts > 1:
            said |= {"retry_attempt": self.attempts - 1, "retry_reason": "timeout"}
        return json.dumps(said)


@dataclass
class Sign:
    """Where signed requests go, and what they are signed with."""

    url: str
    secret: str
    retries: int = 0
    answers: list[tuple[int, str]] = field(default_factory=list)


class Mailbox:
    """Everything the app is yet to be told; used on the peer's loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.envelopes: list[Envelope] = []
        self.sockets: list[web.WebSocketResponse] = []
        self.pushes: Sign | None = None
        self.is_paused = False
        self.most_open = 0
        self._turn = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def pending(self) -> int:
        """How much is not acknowledged yet."""
        return sum(not one.is_acknowledged for one in self.envelopes)

    def post(self, envelope: Envelope) -> None:
        """Let the app be told; any thread may."""
        self.envelopes.append(envelope)
        self._loop.call_soon_threadsafe(self._spawn)

    def _spawn(self) -> None:
        task = self._loop.create_task(self.flush())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def flush(self) -> None:
        """Tell what no socket that still stands was told."""
        for one in list(self.envelopes):
            if one.is_acknowledged or self.is_paused:
                continue
            if self.pushes is not None:
                await self._push(one, self.pushes)
            elif self.sockets and (one.sent_to is None or one.sent_to not in self.sockets):
                self._turn += 1
                socket = self.sockets[self._turn % len(self.sockets)]
                one.sent_to, one.attempts = socket, one.attempts + 1
                with contextlib.suppress(ConnectionError):  # it died just now; another hears it
                    await socket.send_str(one.frame())

    def acknowledge(self, said: dict[str, Any]) -> None:
        """The app has an envelope."""
        for one in self.envelopes:
            if one.id == said.get("envelope_id"):
                one.is_acknowledged, one.answer = True, said.get("payload")

    async def _push(self, one: Envelope, sign: Sign) -> None:
        if one.attempts:
            return
        one.attempts = 1
        body, content_type = _body(one)
        async with aiohttp.ClientSession() as session:
            for attempt in range(sign.retries + 1):
                headers = signed(body, sign.secret) | {"Content-Type": content_type}
                if attempt:
                    headers |= {"X-Slack-Retry-Num": str(attempt)}
                    headers |= {"X-Slack-Retry-Reason": "http_timeout"}
                async with session.post(sign.url, data=body, headers=headers) as answer:
                    text = await answer.text()
                    sign.answers.append((answer.status, text))
                    one.is_acknowledged = answer.status == 200


def _body(one: Envelope) -> tuple[bytes, str]:
    form = "application/x-www-form-urlencoded"
    if one.kind == "events_api":
        return json.dumps(one.payload).encode(), "application/json"
    if one.kind == "slash_commands":
        return urlencode(one.payload).encode(), form
    return urlencode({"payload": json.dumps(one.payload)}).encode(), form


def signed(body: bytes, secret: str, *, at: int | None = None) -> dict[str, str]:
    """The headers by which an app knows that a request is Slack's."""
    stamp = str(int(time.time()) if at is None else at)
    base = b"v0:" + stamp.encode() + b":" + body
    mark = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={mark}"}
