"""Updates posted to a bot's own server."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from telegram import Bot
from telegram.error import BadRequest, Conflict

from tests.peers.telegram import PERSON, TelegramPeer
from tests.peers.telegram.webhook import SECRET_HEADER


class BotServer:
    """A bot's server that writes down what it gets and answers what it is told to."""

    def __init__(self) -> None:
        self.got: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self.answers: list[web.Response] = []
        self.url = ""

    async def answer(self, request: web.BaseRequest) -> web.Response:
        body = json.loads(await request.read())
        await self.got.put((request.headers.get(SECRET_HEADER, ""), body))
        return self.answers.pop(0) if self.answers else web.Response()


@pytest.fixture
async def server() -> AsyncIterator[BotServer]:
    made = BotServer()
    runner = web.ServerRunner(web.Server(made.answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield made
    await runner.cleanup()


async def test_updates_are_posted_in_order_with_the_secret(
    peer: TelegramPeer, bot: Bot, server: BotServer
) -> None:
    peer.say("before")
    await bot.set_webhook(server.url, secret_token="s3cret")
    peer.say("after")

    got = [await server.got.get() for _ in range(2)]

    assert [(secret, body["message"]["text"]) for secret, body in got] == [
        ("s3cret", "before"),
        ("s3cret", "after"),
    ]
    await peer.until(lambda: peer.updates.pending == 0)


async def test_a_refused_update_is_posted_again(
    peer: TelegramPeer, bot: Bot, server: BotServer
) -> None:
    server.answers = [web.Response(status=503)]
    await bot.set_webhook(server.url)
    peer.say("hello")

    first, second = await server.got.get(), await server.got.get()

    assert first == second
    assert "503" in ((await bot.get_webhook_info()).last_error_message or "")


async def test_an_answer_with_a_method_is_carried_out(
    peer: TelegramPeer, bot: Bot, server: BotServer
) -> None:
    answer = {"method": "sendMessage", "chat_id": PERSON, "text": "by answer"}
    server.answers = [web.json_response(answer)]
    await bot.set_webhook(server.url)
    peer.say("hello")

    await peer.until(lambda: peer.from_bot(PERSON))

    assert peer.from_bot(PERSON)[0].text == "by answer"


async def test_polling_and_a_webhook_exclude_each_other(
    peer: TelegramPeer, bot: Bot, server: BotServer
) -> None:
    polling = asyncio.create_task(bot.get_updates(timeout=20))
    await peer.until(lambda: peer.updates.is_polled)
    await bot.set_webhook(server.url)
    with pytest.raises(Conflict):
        await polling
    with pytest.raises(Conflict):
        await bot.get_updates()

    await bot.delete_webhook()

    assert await bot.get_updates() == ()


async def test_a_webhook_needs_https_but_on_loopback(bot: Bot) -> None:
    with pytest.raises(BadRequest, match="https url must be provided"):
        await bot.set_webhook("http://example.org/hook")
