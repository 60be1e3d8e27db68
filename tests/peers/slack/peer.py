"""A Slack workspace on loopback."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import WSMsgType, web

from tests.peers.faults import BEFORE, Fault, Faults
from tests.peers.journal import Call, Journal
from tests.peers.server import half_of, json_answer, reset
from tests.peers.slack.api import WebApi
from tests.peers.slack.mailbox import Mailbox, Sign
from tests.peers.slack.person import People
from tests.peers.slack.world import APP, Ephemeral, Refused, World

TOKEN = "xoxb-100000000000-peer-token-that-opens-nothing"
APP_TOKEN = "xapp-1-A0PEER001-100000000000-opens-nothing-either"
SIGNING_SECRET = "00112233445566778899aabbccddeeff"
MOST_SOCKETS = 10
_WORDS = {"401": "invalid_auth", "403": "account_inactive", "400": "invalid_arguments"}


class SlackPeer(People):
    """One workspace with one app in it, people who use it, and faults that strike it.

    Use it as a context manager, or `start` and `stop` it. Everything a test says or asks is
    thread-safe; what the bot does arrives over HTTP and WebSockets.

    Args:
        port: The port on 127.0.0.1; 0 takes any free one.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.token, self.app_token, self.signing_secret = TOKEN, APP_TOKEN, SIGNING_SECRET
        self.world = World()
        self.api = WebApi(self.world, self.tell, lambda: self.origin)
        self.faults = Faults(self.changed)
        self.calls = Journal()
        self.mailbox = Mailbox(self.loop)
        self.dialled = 0
        self.says_hello = True

    @property
    def url(self) -> str:
        """The base of the Web API."""
        return f"{self.origin}/api/"

    @property
    def updates(self) -> Mailbox:
        """What the app is yet to be told."""
        return self.mailbox

    def push_to(self, url: str, *, retries: int = 0) -> Sign:
        """Tell the app in signed requests from now on; what it answers."""
        self.mailbox.pushes = Sign(url, self.signing_secret, retries)
        return self.mailbox.pushes

    def renew(self, reason: str = "refresh_requested") -> None:
        """Tell each socket that it will be closed."""
        self._on_loop(lambda: self._tell_all({"type": "disconnect", "reason": reason}))

    def cut_sockets(self) -> None:
        """Let every socket die without a word."""
        self._on_loop(self._cut)

    async def _tell_all(self, said: dict[str, Any]) -> None:
        for socket in list(self.mailbox.sockets):
            await socket.send_str(json.dumps(said))

    async def _cut(self) -> None:
        for socket in list(self.mailbox.sockets):
            transport = socket._req.transport if socket._req is not None else None
            if transport is not None:
                transport.abort()

    # --- requests -------------------------------------------------------------------------------

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request of the app's."""
        place, _, rest = request.path.lstrip("/").partition("/")
        if place == "api":
            return await self._call(request, rest)
        if place == "link":
            return await self._link(request)
        if place == "actions":
            return await self._unseen(request, rest)
        if place == "upload":
            self.world.files[rest]["content"] = await request.read()
            return web.Response(text=f"OK - {self.world.files[rest]['size']}")
        if place == "files":
            return self._download(request, rest)
        return web.Response(status=404)

    async def _call(self, request: web.BaseRequest, method: str) -> web.StreamResponse:
        params = await _params_of(request)
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        wanted = self.app_token if method == "apps.connections.open" else self.token
        call = Call(method, params)
        with self.changed:
            self.calls.add(call)
            fault = self.faults.striking(method, call.chat)
            self.notify()
        if fault is not None:
            call.outcome = fault.kind
            return await self._struck(request, call, fault)
        if bearer != wanted:
            return _refusal(Refused("invalid_auth"))
        return self._act(call)

    def _act(self, call: Call) -> web.Response:
        try:
            with self.changed:
                if call.method == "apps.connections.open":
                    answer: dict[str, Any] = self._open_link()
                else:
                    answer = self.api.find(call.method)(call.params)
                call.outcome, call.result = "ok", answer.get("ts")
                self.notify()
        except Refused as refused:
            call.outcome = refused.error
            return _refusal(refused)
        return json_answer({"ok": True, **answer})

    def _open_link(self) -> dict[str, Any]:
        if "apps.connections.open" in self.api.scopes_lacking:
            raise Refused("missing_scope", needed="connections:write")
        self.dialled += 1
        return {"url": f"{self.origin.replace('http', 'ws')}/link/?ticket={self.dialled}"}

    async def _struck(
        self, request: web.BaseRequest, call: Call, fault: Fault
    ) -> web.StreamResponse:
        if fault.kind in BEFORE:
            return await _refused_by(request, fault)
        if fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        elif fault.kind == "hold":
            await fault.gate.passed()
        return await _spoilt(request, self._act(call), fault)

    async def _unseen(self, request: web.BaseRequest, trigger: str) -> web.Response:
        said = json.loads(await request.read())
        fault = self.faults.striking("response_url", None)
        if fault is not None or trigger not in self.world.response_urls:
            return web.Response(status=404, text="expired_url")
        channel, user = self.world.response_urls[trigger]
        with self.changed:
            seen = Ephemeral(channel, user, said["text"], said.get("thread_ts") or "")
            self.world.ephemeral.append(seen)
            self.notify()
        return web.Response(text="ok")

    def _download(self, request: web.BaseRequest, file_id: str) -> web.Response:
        file = self.world.files[file_id]
        if request.headers.get("Authorization") != f"Bearer {self.token}" or file.get("is_locked"):
            page = "<!DOCTYPE html><html><body>Sign in to Slack</body></html>"
            kind = file.get("lies_about") or "text/html"
            return web.Response(body=page.encode(), content_type=kind)
        return web.Response(body=file["content"], content_type=file["mimetype"])

    async def _link(self, request: web.BaseRequest) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        mailbox = self.mailbox
        if len(mailbox.sockets) >= MOST_SOCKETS:
            await socket.close()
            return socket
        if self.says_hello:
            hello = {"type": "hello", "num_connections": len(mailbox.sockets) + 1}
            info = {"connection_info": {"app_id": APP}, "debug_info": {"host": "peer"}}
            await socket.send_str(json.dumps({**hello, **info}))
        with self.changed:
            mailbox.sockets.append(socket)
            mailbox.most_open = max(mailbox.most_open, len(mailbox.sockets))
            self.notify()
        try:
            await mailbox.flush()
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._heard(frame.data)
        finally:
            with self.changed:
                mailbox.sockets.remove(socket)
                self.notify()
            if self.loop.is_running():
                await mailbox.flush()
        return socket

    def _heard(self, data: str) -> None:
        with self.changed:
            self.mailbox.acknowledge(json.loads(data))
            self.notify()


async def _params_of(request: web.BaseRequest) -> dict[str, Any]:
    raw = await request.read()
    if request.content_type == "application/json":
        return dict(json.loads(raw or b"{}"))
    params: dict[str, Any] = dict(request.query)
    params.update(parse_qsl(raw.decode(), keep_blank_values=True))
    return params


def _refusal(refused: Refused, status: int = 200) -> web.Response:
    body = {"ok": False, "error": refused.error}
    if refused.needed:
        body |= {"needed": refused.needed, "provided": "chat:write"}
    return json_answer(body, status=status)


async def _refused_by(request: web.BaseRequest, fault: Fault) -> web.StreamResponse:
    if fault.kind == "reset_before":
        return reset(request)
    if fault.kind == "hang_before":
        return await _hang(request, fault)
    if fault.kind == "502html":
        return web.Response(status=502, body=b"<html>Bad Gateway</html>", content_type="text/html")
    if fault.kind == "429":
        headers = {"Retry-After": str(fault.retry_after)}
        return json_answer({"ok": False, "error": "ratelimited"}, 429, headers)
    if fault.kind in {"500", "503"}:
        words = "internal_error" if fault.kind == "500" else "service_unavailable"
        return _refusal(Refused(fault.description or words), int(fault.kind))
    return _refusal(Refused(fault.description or _WORDS.get(fault.kind, "invalid_arguments")))


async def _spoilt(
    request: web.BaseRequest, answer: web.Response, fault: Fault
) -> web.StreamResponse:
    if fault.kind == "lost_ack":
        return reset(request)
    if fault.kind == "hang":
        return await _hang(request, fault)
    if fault.kind == "delay_after":
        await asyncio.sleep(fault.seconds)
    elif fault.kind == "garbage":
        return web.Response(body=b"<!doctype html><p>hello", content_type="text/html")
    elif fault.kind == "truncated":
        return await half_of(request, answer)
    return answer


async def _hang(request: web.BaseRequest, fault: Fault) -> web.Response:
    if fault.seconds:
        await asyncio.sleep(fault.seconds)
    else:
        await fault.gate.passed()
    return reset(request)
