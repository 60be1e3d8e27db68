"""The other way in: updates posted to the bot's own server, one after another.

Source: core.telegram.org/bots/api#setwebhook, telegram-bot-api WebhookActor.cpp: any 2xx is
success, a JSON answer with `method` is carried out, anything else is tried again with a doubling
delay. Two things differ: plain http to loopback is accepted, and the delay starts small.
"""

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any

import aiohttp

from tests.peers.telegram.content import Params, flag, parsed
from tests.peers.telegram.updates import UpdateQueue
from tests.peers.telegram.world import Refused, bad_request

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"
FIRST_DELAY_SECONDS = 0.05
HIGHEST_DELAY_SECONDS = 2.0
_SECRET = re.compile(r"[A-Za-z0-9_-]{0,256}")
# A webhook's answer may call any method but those that ask or that change the webhook.
_NOT_BY_ANSWER = re.compile(r"get.*|setwebhook|deletewebhook|close|logout", re.IGNORECASE)


class Webhook:
    """Where updates are posted to, and the task that does so.

    Args:
        updates: What is posted.
        act: Carries out a method that an answer asks for.
    """

    def __init__(self, updates: UpdateQueue, act: Callable[[str, Params], Any]) -> None:
        self._updates = updates
        self._act = act
        self._task: asyncio.Task[None] | None = None
        self.url = ""
        self.posts = 0
        self._secret = ""
        self._last_error: dict[str, Any] = {}

    def set(self, params: Params) -> bool:
        """Post to `url` from now on; to nowhere if it is empty.

        Raises:
            Refused: The address or the secret is not acceptable.
        """
        url, secret = str(params.get("url") or ""), str(params.get("secret_token") or "")
        if url and not url.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
            raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
        if not _SECRET.fullmatch(secret):
            raise bad_request("secret token contains unallowed characters")
        self.delete(params)
        self.url, self._secret = url, secret
        if parsed(params, "allowed_updates") is not None:
            self._updates.allow(parsed(params, "allowed_updates"))
        if url:
            self._updates.interrupt()
            self._task = asyncio.get_running_loop().create_task(self._post_all())
        return True

    def delete(self, params: Params) -> bool:
        """Post no more."""
        self.url = ""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if flag(params, "drop_pending_updates"):
            self._updates.drop()
        return True

    def info(self, params: Params) -> dict[str, Any]:
        """What `getWebhookInfo` tells."""
        return {
            "url": self.url,
            "has_custom_certificate": False,
            "pending_update_count": self._updates.pending,
            **self._last_error,
        }

    async def _post_all(self) -> None:
        headers = {SECRET_HEADER: self._secret} if self._secret else {}
        limit = aiohttp.ClientTimeout(total=30)
        delay = FIRST_DELAY_SECONDS
        async with aiohttp.ClientSession(headers=headers, timeout=limit) as session:
            while True:
                update = await self._updates.first()
                error = await self._post(session, update)
                if not error:
                    self._updates.confirm(update["update_id"] + 1)
                    delay = FIRST_DELAY_SECONDS
                    continue
                now = int(time.time())
                self._last_error = {"last_error_date": now, "last_error_message": error}
                await asyncio.sleep(delay)
                delay = min(delay * 2, HIGHEST_DELAY_SECONDS)

    async def _post(self, session: aiohttp.ClientSession, update: dict[str, Any]) -> str:
        """Post one update; gives what went wrong, empty if nothing did."""
        self.posts += 1
        try:
            async with session.post(self.url, json=update) as response:
                if not 200 <= response.status <= 299:
                    return f"Wrong response from the webhook: {response.status} {response.reason}"
                if response.content_type == "application/json":
                    self._carry_out(await response.json())
        except (aiohttp.ClientError, TimeoutError, ValueError) as failure:
            return f"Connection failed: {type(failure).__name__}"
        return ""

    def _carry_out(self, answer: Any) -> None:
        method = str(answer.get("method", "")) if isinstance(answer, dict) else ""
        if not method or _NOT_BY_ANSWER.fullmatch(method):
            return
        try:
            self._act(method, {name: v for name, v in answer.items() if name != "method"})
        except Refused as refused:
            self._last_error = {
                "last_error_date": int(time.time()),
                "last_error_message": refused.description,
            }
