"""A receiver as others write it: signatures are judged by the `standardwebhooks` package.

It acts on each `webhook-id` once, as receivers are asked to, and writes down every try.

Source: the specification of Standard Webhooks, "Idempotency" and "Deliverability and reliability".
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from standardwebhooks import Webhook, WebhookVerificationError

from tests.peers.faults import BEFORE, Fault, Faults
from tests.peers.server import Peer, half_of, json_answer, reset

SECRET = "whsec_dGhlIHNlY3JldCBvZiB0aGUgcGVlciBvZiB0ZXN0cw=="
METHOD = "POST"  # what a fault calls a delivery


@dataclass(eq=False)
class Post:
    """One try that came.

    Attributes:
        message_id: Its `webhook-id`.
        headers: By their names in lower case.
        body: The bytes.
        outcome: `ok`, `again` (known already), `forged`, a status or a fault's kind.
        at: When it came, on the monotonic clock, in seconds.
    """

    message_id: str
    headers: Mapping[str, str]
    body: bytes
    outcome: str = "waiting"
    at: float = field(default_factory=time.monotonic)

    @property
    def event(self) -> Any:
        """What it says."""
        return json.loads(self.body)


class WebhookPeer(Peer):
    """A receiver.

    Args:
        port: The port on 127.0.0.1; 0 takes any free one.
        secret: What it knows of the sender.
    """

    cancels_when_the_client_leaves = True

    def __init__(self, port: int = 0, *, secret: str = SECRET) -> None:
        super().__init__(port)
        self.secret = secret
        self.faults = Faults(self.changed)
        self.posts: list[Post] = []
        self.acted_on: dict[str, Post] = {}  # by id, each once
        self.next_answers: deque[tuple[int, dict[str, str]]] = deque()

    @property
    def url(self) -> str:
        """Where it wants webhooks posted to."""
        return f"{self.origin}/in"

    def answer_next(self, status: int, **headers: str) -> None:
        """Answer the next post so, without acting on it."""
        with self.changed:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            self.next_answers.append((status, named))

    def texts(self) -> list[str]:
        """What it was told, in the order in which it acted on it."""
        with self.changed:
            return [post.event["data"]["text"] for post in self.acted_on.values()]

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """One post."""
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        post = Post(headers.get("webhook-id", ""), headers, body)
        with self.changed:
            self.posts.append(post)
            status = self.next_answers.popleft() if self.next_answers else None
            fault = self.faults.striking(METHOD, None) if status is None else None
            self.notify()
        if status is not None:
            post.outcome = str(status[0])
            return web.Response(status=status[0], headers=status[1])
        try:
            Webhook(self.secret).verify(body, dict(headers), json_parse=False)
        except (WebhookVerificationError, ValueError):
            post.outcome = "forged"
            return json_answer({"error": "the signature is not right"}, status=401)
        if fault is not None:
            return await self._struck(request, post, fault)
        return self._act(post)

    def _act(self, post: Post) -> web.Response:
        with self.changed:
            post.outcome = "again" if post.message_id in self.acted_on else "ok"
            self.acted_on.setdefault(post.message_id, post)
            self.notify()
        return json_answer({"received": True})

    async def _struck(
        self, request: web.BaseRequest, post: Post, fault: Fault
    ) -> web.StreamResponse:
        if fault.kind in BEFORE:
            post.outcome = fault.kind
            return await self._refused(request, fault)
        if fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        if fault.kind == "hold":
            await fault.gate.passed()
        answer = self._act(post)
        if fault.kind == "lost_ack":
            return reset(request)
        if fault.kind == "hang":
            await asyncio.get_running_loop().create_future()
        if fault.kind == "truncated":
            return await half_of(request, answer)
        if fault.kind == "delay_after":
            await asyncio.sleep(fault.seconds)
        return answer

    async def _refused(self, request: web.BaseRequest, fault: Fault) -> web.Response:
        if fault.kind == "reset_before":
            return reset(request)
        if fault.kind == "hang_before":
            await asyncio.get_running_loop().create_future()
        if fault.kind == "502html":
            return web.Response(status=502, text="<h1>Bad gateway</h1>", content_type="text/html")
        wait = {"Retry-After": str(fault.retry_after)} if fault.kind == "429" else {}
        return web.Response(status=int(fault.kind), headers=wait)
