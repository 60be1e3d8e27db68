"""Files of Slack, fetched and sent through the account's own connections.

Fetching: a message names a file by its id; `files.info` tells where it can be had with the bot's
token. Without the right to read files, Slack answers with the page of a login, and success.
Sending: an address to upload to is asked for, the bytes go there, and the file is shared.

Source: https://docs.slack.dev/reference/objects/file-object#authentication and
/messaging/working-with-files#upload (read 2026-08).
"""

import json
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from delivery.errors import NetworkDown, OutcomeUnknown, Refused
from delivery.ports import OutgoingPart, Receipt
from gateway.fetching.errors import Forbidden, NoSuchFile, TooSlow, Unavailable
from gateway.fetching.limits import Limits, Meter
from gateway.platforms.slack import refusals
from gateway.platforms.slack.web import CONNECT_SECONDS, Web
from gateway.ports import OutgoingFile

NO_LONGER = "Slack does not have the file any more."
ELSEWHERE = "It lies on another service, where only the person can open it."
NOT_ALLOWED = "The Slack app may not read files: staff must give it the scope files:read."
NOT_ITS_HOST = "Slack named an address for it that is not Slack's."
UPLOAD_SECONDS = 180.0
_HOSTS = ("slack.com", "slack-files.com", "slack-edge.com")


def is_file_host(url: str, base_url: str) -> bool:
    """Whether the token may be sent to `url`: to Slack's hosts, and that of our own API server."""
    place, base = urlsplit(url), urlsplit(base_url)
    if (place.scheme, place.netloc) == (base.scheme, base.netloc):
        return True
    host = place.hostname or ""
    is_slack = any(host == one or host.endswith(f".{one}") for one in _HOSTS)
    return place.scheme == "https" and is_slack


class Files:
    """Fetches and sends the files of one account.

    Args:
        session: The connections.
        web: The Web API.
        token: What opens a file.
        base_url: Where the Web API is.
        proxy: Through what; None as the environment says.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        web: Web,
        token: str,
        *,
        base_url: str,
        proxy: str | None,
    ) -> None:
        self._session, self._web, self._token = session, web, token
        self._base_url, self._proxy = base_url, proxy

    async def fetch(self, file_id: str, meter: Meter, limits: Limits) -> None:
        """Fetch one file; see `gateway.ports.GivesFiles`."""
        url, mime_type = await self._place(file_id, meter)
        timeout = aiohttp.ClientTimeout(
            total=limits.seconds, sock_read=limits.quiet_seconds, sock_connect=CONNECT_SECONDS
        )
        try:
            async with self._session.get(
                url,
                headers={"Authorization": f"Bearer {self._token}"},
                proxy=self._proxy,
                timeout=timeout,
                allow_redirects=False,  # to a login, where the token has no business
            ) as answer:
                await _take(answer, mime_type, meter)
        except TimeoutError:
            raise TooSlow(f"It did not come within {limits.seconds:g} seconds.") from None
        except (aiohttp.ClientError, OSError) as error:
            message = f"The connection broke off ({type(error).__name__})."
            raise Unavailable(message) from None

    async def send(self, part: OutgoingPart, file: OutgoingFile) -> Receipt:
        """Send one new message with a file; see `gateway.ports.TakesFiles`."""
        if file.content is None:
            raise Refused("Slack knows files by no name that could be sent again")
        content = file.content.read()
        asked = {"filename": file.name, "length": len(content)}
        place = await self._web.ask("files.getUploadURLExternal", asked, is_form=True)
        await self._upload(str(place["upload_url"]), content)
        file_id = str(place["file_id"])
        shared = await self._web.call(
            "files.completeUploadExternal", _sharing(part, file, file_id), is_form=True
        )
        return Receipt(_message_in(shared, part.address.chat_id) or f"file:{file_id}")

    async def _place(self, file_id: str, meter: Meter) -> tuple[str, str]:
        try:
            found = (await self._web.ask("files.info", {"file": file_id}, is_form=True))["file"]
        except Refused as error:
            lacks = error.code == "missing_scope"
            raise NoSuchFile(NOT_ALLOWED if lacks else NO_LONGER) from None
        url = str(found.get("url_private_download") or found.get("url_private") or "")
        if found.get("is_external") or found.get("mode") == "external":
            raise NoSuchFile(ELSEWHERE)
        if not url:
            raise NoSuchFile(NO_LONGER)
        if not is_file_host(url, self._base_url):
            raise Forbidden(NOT_ITS_HOST)
        meter.expect(int(found.get("size") or 0))
        return url, str(found.get("mimetype") or "")

    async def _upload(self, url: str, content: bytes) -> None:
        """Nothing is shared yet: whatever goes wrong here, the whole may be done again."""
        timeout = aiohttp.ClientTimeout(total=UPLOAD_SECONDS, sock_connect=CONNECT_SECONDS)
        try:
            async with self._session.post(
                url, data=content, proxy=self._proxy, timeout=timeout
            ) as answer:
                if answer.status == 200:
                    return
                error = refusals.not_slack("the upload", answer.status)
        except (TimeoutError, aiohttp.ClientError, OSError) as trouble:
            message = f"a file could not be uploaded ({type(trouble).__name__})"
            raise NetworkDown(message) from None
        if isinstance(error, OutcomeUnknown):
            raise NetworkDown(error.detail, code=error.code)
        raise error


def _sharing(part: OutgoingPart, file: OutgoingFile, file_id: str) -> dict[str, Any]:
    params: dict[str, Any] = {
        "files": json.dumps([{"id": file_id, "title": file.name}]),
        "channel_id": part.address.chat_id,
    }
    if part.body.text:
        params["initial_comment"] = part.body.text
    if part.address.thread_id:
        params["thread_ts"] = part.address.thread_id
    return params


def _message_in(shared: dict[str, Any], channel: str) -> str:
    """The message that a file was shared with; empty where Slack does not say yet."""
    for file in shared.get("files") or ():
        for places in (file.get("shares") or {}).values():
            for message in places.get(channel) or ():
                return str(message.get("ts") or "")
    return ""


async def _take(answer: aiohttp.ClientResponse, mime_type: str, meter: Meter) -> None:
    if answer.status == 429 or answer.status >= 500:
        raise Unavailable(f"Slack cannot give it now (HTTP {answer.status}).")
    is_page = answer.content_type == "text/html" and mime_type != "text/html"
    if is_page or 300 <= answer.status < 400 or answer.status in {401, 403}:
        raise NoSuchFile(NOT_ALLOWED)
    if answer.status != 200:
        raise NoSuchFile(f"{NO_LONGER[:-1]} (HTTP {answer.status}).")
    async for piece in answer.content.iter_any():
        meter.take(piece)
