"""A Telegram Bot API server on loopback."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from aiohttp import web

from tests.peers.faults import BEFORE, Fault, Faults
from tests.peers.journal import Call, Journal
from tests.peers.server import json_answer
from tests.peers.telegram import wire
from tests.peers.telegram.api import BotApi, CallbackAnswer, Typing
from tests.peers.telegram.content import number, parsed
from tests.peers.telegram.person import People
from tests.peers.telegram.updates import WEBHOOK_ACTIVE, UpdateQueue
from tests.peers.telegram.webhook import Webhook
from tests.peers.telegram.world import Refused, Shown, World

TOKEN = "123456789:AAPeerTokenThatOpensNothingAnywhere_"
BOT = {
    "id": 123456789,
    "is_bot": True,
    "first_name": "Hermes",
    "username": "hermes_peer_bot",
    "can_join_groups": True,
    "can_read_all_group_messages": True,
    "supports_inline_queries": False,
    "can_connect_to_business": False,
    "has_main_web_app": False,
}


class TelegramPeer(People):
    """The Bot API for one bot, with people who use it and faults that strike it.

    Use it as a context manager, or `start` and `stop` it. Everything a test says or asks is
    thread-safe; what the bot does arrives over HTTP.

    Args:
        port: The port on 127.0.0.1; 0 takes any free one.
        token: The bot's token; any other is refused.
        callback_seconds: How long a button press may be answered.
    """

    def __init__(self, port: int = 0, *, token: str = TOKEN, callback_seconds: float = 30) -> None:
        super().__init__(port)
        self.token = token
        self.world = World({**BOT, "id": int(token.partition(":")[0])})
        self.updates = UpdateQueue(self)
        self.api = BotApi(self.world, callback_seconds)
        self.faults = Faults(self.changed)
        self.calls = Journal()
        self.webhook = Webhook(self.updates, self._carry_out)
        self._own_methods: dict[str, Callable[[dict[str, Any]], Any]] = {
            "setwebhook": self.webhook.set,
            "deletewebhook": self.webhook.delete,
            "getwebhookinfo": self.webhook.info,
        }

    @property
    def url(self) -> str:
        """The base of the API, without `/bot<token>`."""
        return self.origin

    @property
    def file_url(self) -> str:
        """The base of downloads, without `/bot<token>`."""
        return f"{self.origin}/file"

    @property
    def answers_to_callbacks(self) -> list[CallbackAnswer]:
        """What pressers of buttons read, in order."""
        return list(self.api.answers)

    @property
    def typing_seen(self) -> list[Typing]:
        """The chat actions people saw, in order."""
        return list(self.api.typing)

    def answers_to(self, callback_id: str) -> list[CallbackAnswer]:
        """What one press was answered with."""
        return [one for one in list(self.api.answers) if one.callback_id == callback_id]

    def messages(self, chat: int) -> list[Shown]:
        """What a person in `chat` sees now, oldest first."""
        with self.changed:
            place = self.world.chats.get(chat)
            return self.world.shown(place) if place is not None else []

    def from_bot(self, chat: int) -> list[Shown]:
        """What a person in `chat` sees now of the bot's, oldest first."""
        return [message for message in self.messages(chat) if message.by_bot]

    def outage(self) -> AbstractContextManager[Fault]:
        """Every method answers 500 inside the `with` block."""
        return self.faults.during(Fault(kind="500"))

    def forget(self) -> None:
        """Drop what was said and journalled so far; a long benchmark does so between rounds."""
        with self.changed:
            self.calls.clear()
            self.api.answers.clear()
            self.api.typing.clear()
            self.api.drafts.clear()
            for chat in self.world.chats.values():
                chat.messages.clear()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request of the bot's."""
        path = request.path
        if path.startswith("/file/bot"):
            return await self._give_file(request, path.removeprefix("/file/bot"))
        token, _, method = path.removeprefix("/bot").partition("/")
        params = await wire.params_of(request)
        if not path.startswith("/bot") or ":" not in token or "/" in method:
            return wire.refusal(Refused(404, "Not Found"))
        if token != self.token:
            return wire.refusal(Refused(401, "Unauthorized"))
        call = Call(method, params)
        with self.changed:
            self.calls.add(call)
            fault = self.faults.striking(method, call.chat)
            self.notify()
        if fault is None:
            return await self._act(call)
        call.outcome = fault.kind
        return await self._struck(request, call, fault)

    async def _act(self, call: Call) -> web.Response:
        """Do what the call asks, and answer it; the answer is written down under the lock."""
        method = call.method.lower()
        try:
            if method == "getupdates":
                result: Any = await self._get_updates(call)
                return self._settled(call, result)
            with self.changed:
                return self._settled(call, self._method(method)(call.params))
        except Refused as refused:
            with self.changed:
                call.outcome = f"{refused.code} {refused.description}"
                self.notify()
            return wire.refusal(refused)

    def _method(self, method: str) -> Callable[[dict[str, Any]], Any]:
        return self.api.find(method) or self._own_methods.get(method) or _no_such_method

    def _carry_out(self, method: str, params: dict[str, Any]) -> None:
        """Do what a webhook's answer asks."""
        call = Call(method, params)
        with self.changed:
            self.calls.add(call)
            self._settled(call, self._method(method.lower())(params))

    def _settled(self, call: Call, result: Any) -> web.Response:
        with self.changed:
            answer = json_answer({"ok": True, "result": result})
            if isinstance(result, dict) and "message_id" in result:
                call.result = result["message_id"]
            else:
                call.result = len(result) if isinstance(result, list) else result
            if call.outcome == "waiting":
                call.outcome = "ok"
            self.notify()
        return answer

    async def _struck(
        self, request: web.BaseRequest, call: Call, fault: Fault
    ) -> web.StreamResponse:
        if fault.kind in BEFORE:
            return await wire.refused_by(request, fault)
        if fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        elif fault.kind == "hold":
            await fault.gate.passed()
        return await wire.spoilt(request, await self._act(call), fault)

    async def _get_updates(self, call: Call) -> list[dict[str, Any]]:
        if self.webhook.url:
            raise Refused(409, WEBHOOK_ACTIVE)
        params = call.params
        limit = number(params, "limit")
        return await self.updates.poll(
            number(params, "offset") or 0,
            100 if limit is None else limit,
            float(params.get("timeout") or 0),
            parsed(params, "allowed_updates"),
        )

    async def _give_file(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        """One download; faults of the method `download` strike it."""
        call = Call("download", {"path": path.partition("/")[2]})
        with self.changed:
            self.calls.add(call)
            fault = self.faults.striking("download", None)
            self.notify()
        if fault is None:
            return self._download(path)
        if fault.kind in BEFORE:
            return await wire.refused_by(request, fault)
        if fault.kind == "hold":
            await fault.gate.passed()
        return await wire.spoilt(request, self._download(path), fault)

    def _download(self, path: str) -> web.Response:
        token, _, name = path.partition("/")
        if token != self.token:
            return wire.refusal(Refused(401, "Unauthorized"))
        for file_path, data in list(self.world.files.values()):
            if file_path == name:
                return web.Response(body=data, content_type="application/octet-stream")
        return wire.refusal(Refused(404, "Not Found"))


def _no_such_method(params: dict[str, Any]) -> None:
    raise Refused(404, "Not Found: method not found")
