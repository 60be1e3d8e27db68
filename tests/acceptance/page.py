"""The Control UI without a browser: logs in, speaks over the WebSocket, keeps the timeline."""

import asyncio
import re
import secrets
from typing import Any, Self

import aiohttp

from tests.acceptance.stack import Stack

LOGIN = re.compile(r"Operator login, shown this once: (\S+) / (\S+)")
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


class Page:
    """One open page of the operator, showing a chat of its own.

    Args:
        stack: Whose Control UI.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._pushes: list[dict[str, Any]] = []
        self.entries: dict[str, dict[str, Any]] = {}

    async def __aenter__(self) -> Self:
        jar = aiohttp.CookieJar(unsafe=True)  # "unsafe": also for a host that is a number
        self._http = aiohttp.ClientSession(self._stack.url, cookie_jar=jar)
        try:
            await self._log_in()
            await self.connect()
            self.conversation = (await self.ask("new"))["conversation"]
            await self.open()
        except BaseException:
            await self._http.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()

    async def connect(self) -> None:
        """Open the WebSocket, also again after it broke."""
        self._socket = await self._http.ws_connect(
            "/ws/console/", headers={"Origin": self._stack.url}
        )
        await self.ask("hello")

    async def open(self) -> None:
        """Show the chat and follow it."""
        self._keep(await self.ask("open", conversation=self.conversation))

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """One request, and its reply."""
        number = secrets.token_hex(4)
        await self._socket.send_json({"id": number, "type": kind, **fields})
        while True:
            message = await self._next()
            if message.get("re") == number:
                assert "error" not in message, message
                return message

    async def say(self, text: str) -> dict[str, Any]:
        """Say something in the chat; the timeline's entry of it."""
        reply = await self.ask(
            "say", conversation=self.conversation, client_id=secrets.token_hex(8), text=text
        )
        entry: dict[str, Any] = reply["entry"]
        self.entries[entry["id"]] = entry
        return entry

    async def sees(self, kind: str, within: float = 30, **facts: Any) -> dict[str, Any]:
        """Wait until the timeline shows an entry of that kind with these facts."""
        async with asyncio.timeout(within):
            while True:
                for entry in self.entries.values():
                    if entry["kind"] == kind and facts.items() <= entry.items():
                        return entry
                await self._next()

    async def sees_answers(self, count: int, within: float = 30) -> None:
        """Wait until the agent has said so much, all of it delivered."""
        async with asyncio.timeout(within):
            while len(self._delivered) < count:
                await self._next()

    @property
    def _delivered(self) -> list[dict[str, Any]]:
        finals = [entry for entry in self.entries.values() if entry["kind"] == "final"]
        return [entry for entry in finals if entry["tick"] == "delivered"]

    @property
    def answers(self) -> list[str]:
        """What the agent said, in order."""
        return [entry["source"] for entry in self.entries.values() if entry["kind"] == "final"]

    async def _next(self) -> dict[str, Any]:
        message: dict[str, Any] = await self._socket.receive_json()
        if message.get("type") == "sync":
            self._keep(message)
        return message

    def _keep(self, facts: dict[str, Any]) -> None:
        self.entries.update((entry["id"], entry) for entry in facts["entries"])

    async def _log_in(self) -> None:
        found = LOGIN.search(self._stack.logs("supervisor"))
        assert found, "nobody was told how to log in"
        async with self._http.get("/login/") as answer:
            token = TOKEN.search(await answer.text())
        assert token, "the login page has no form"
        form = {"username": found[1], "password": found[2], "csrfmiddlewaretoken": token[1]}
        headers = {"Referer": f"{self._stack.url}/login/"}
        async with self._http.post("/login/", data=form, headers=headers) as answer:
            assert answer.status == 200, answer.status
