"""Files of Telegram, fetched through the account's own connection and proxy.

A message names a file by an id; `getFile` tells where it can be fetched, for an hour at least.
The public server gives files of up to 20 MB only.

Source: https://core.telegram.org/bots/api#getfile and #sending-files (Bot API 10.0).
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from urllib.parse import quote

import httpx

from delivery.errors import Refused
from gateway.fetching.errors import NoSuchFile, TooLarge, TooSlow, Unavailable
from gateway.fetching.limits import Limits, Meter

TOO_BIG = "It is larger than 20 MB, and Telegram gives bots no larger files."
NO_LONGER = "Telegram does not have the file any more."
ON_ITS_DISK = "The Bot API server keeps files on its own disk (--local), out of reach from here."

METHODS = {
    "photo": "sendPhoto",
    "voice": "sendVoice",
    "audio": "sendAudio",
    "video": "sendVideo",
    "document": "sendDocument",
}

Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]


class Pool(Protocol):
    """What opens a connection and reads an answer piece by piece."""

    def stream(self, url: str, *, quiet_seconds: float) -> Any:
        """An asynchronous context that gives the answer to a GET."""
        ...


async def fetch(
    ask: Ask, pool: Pool, base: str, file_id: str, meter: Meter, limits: Limits
) -> None:
    """Fetch a file.

    Args:
        ask: Calls a method that may be called again.
        pool: The connections for files.
        base: Where files are, with the token; it must never be shown.
        file_id: What the message called it.
        meter: Takes the pieces.
        limits: How long it may take.

    Raises:
        NoSuchFile, TooLarge, Unavailable: As their names say.
        TransportError: `getFile` was refused for another reason, or not answered.
    """
    place = await _place(ask, file_id, meter)
    try:
        async with (
            asyncio.timeout(limits.seconds),
            pool.stream(f"{base}/{quote(place)}", quiet_seconds=limits.quiet_seconds) as answer,
        ):
            await _take(answer, meter)
    except TimeoutError:
        raise TooSlow(f"It did not come within {limits.seconds:g} seconds.") from None
    except httpx.HTTPError as error:
        # Without the cause, which may quote the address and with it the token.
        raise Unavailable(f"The connection broke off ({type(error).__name__}).") from None


def id_in(message: dict[str, Any], form: str) -> str:
    """What Telegram calls the file of a message we sent; empty if it took it for something else."""
    found = message.get(form)
    if form == "photo" and isinstance(found, list) and found:
        found = max(found, key=lambda size: size.get("width", 0))
    return str(found.get("file_id") or "") if isinstance(found, dict) else ""


async def _place(ask: Ask, file_id: str, meter: Meter) -> str:
    try:
        found = await ask("getFile", {"file_id": file_id})
    except Refused as error:
        if "too big" in error.detail.lower():
            raise TooLarge(TOO_BIG) from None
        raise NoSuchFile(NO_LONGER) from None
    place, size = "", 0
    if isinstance(found, dict):
        place, size = str(found.get("file_path") or ""), found.get("file_size") or 0
    if place.startswith("/"):
        raise NoSuchFile(ON_ITS_DISK)
    if not place or ".." in place.split("/") or not isinstance(size, int):
        raise NoSuchFile(NO_LONGER)
    meter.expect(size)
    return place


async def _take(answer: httpx.Response, meter: Meter) -> None:
    if answer.status_code == 429 or answer.status_code >= 500:
        raise Unavailable(f"Telegram cannot give it now (HTTP {answer.status_code}).")
    if answer.status_code != 200:
        raise NoSuchFile(f"{NO_LONGER[:-1]} (HTTP {answer.status_code}).")
    async for piece in answer.aiter_raw():
        meter.take(piece)
