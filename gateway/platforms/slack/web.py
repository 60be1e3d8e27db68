"""Calling the Web API through slack_sdk: one call, and its answer or one of our errors.

The library gives the encoding of a call and reads its answer; it is told to try nothing again by
itself, which would post a message twice, and its messages never leave this module, because they
quote what Slack answered.
"""

from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from delivery.errors import NetworkDown, OutcomeUnknown, TransportError
from gateway.platforms.slack import conf, refusals

CONNECT_SECONDS = 10.0
HEARTBEAT = 10.0  # seconds; a socket that does not answer a ping within half of it is over
# Idle connections are closed by Slack's side after a minute; one that was is met as a lost answer.
_KEEP_ALIVE_SECONDS = 30.0
_POOL_SIZE = 16
# These tell that the request never left this host.
_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)


class Web:
    """The Web API for one token.

    Args:
        session: The connections.
        token: What authorises a call.
        options: Where the API is, and through what.
    """

    def __init__(self, session: aiohttp.ClientSession, token: str, options: conf.Options) -> None:
        self._client = AsyncWebClient(
            token=token, base_url=options.base_url, session=session, retry_handlers=[]
        )
        # The library takes HTTPS_PROXY over without NO_PROXY; the session honours both.
        self._client.proxy = options.proxy or None
        self._session, self._proxy = session, options.proxy or None

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, is_form: bool = False
    ) -> dict[str, Any]:
        """Call `method`.

        Args:
            method: Its name.
            params: What it is called with.
            is_form: It takes no JSON, as those that only read do not.

        Raises:
            TransportError: What to do about a call that did not succeed.
        """
        data, body = (params or {}, None) if is_form else (None, params or {})
        try:
            answer = await self._client.api_call(method, data=data, json=body)
        except SlackApiError as error:
            raise _refusal(method, error) from None
        except _NEVER_SENT as error:
            message = f"{method} never left for Slack ({type(error).__name__})"
            raise NetworkDown(message) from None
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            message = f"{method} was sent and not answered ({type(error).__name__})"
            raise OutcomeUnknown(message) from None
        except AttributeError:  # the library, of an answer that is plain text
            raise refusals.not_slack(method, 200) from None
        return answer.data if isinstance(answer.data, dict) else {}

    async def ask(
        self, method: str, params: dict[str, Any] | None = None, *, is_form: bool = False
    ) -> dict[str, Any]:
        """A call that may simply be made again: not knowing what became of it is `NetworkDown`."""
        try:
            return await self.call(method, params, is_form=is_form)
        except OutcomeUnknown as error:
            raise NetworkDown(error.detail, code=error.code) from error

    async def dial(self) -> aiohttp.ClientWebSocketResponse:
        """Open one more WebSocket for the app whose token this is.

        Raises:
            TransportError: It could not be opened.
        """
        url = str((await self.ask(refusals.OPENING)).get("url") or "")
        try:
            return await self._session.ws_connect(url, heartbeat=HEARTBEAT, proxy=self._proxy)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            # Without the cause: the address holds a ticket.
            message = f"a socket to Slack could not be opened ({type(error).__name__})"
            raise NetworkDown(message) from None

    async def answer_to(self, response_url: str, answer: dict[str, Any]) -> bool:
        """Post to the address that a press may be answered at; whether it was taken."""
        client = AsyncWebhookClient(response_url, session=self._session, retry_handlers=[])
        client.proxy = self._proxy
        try:
            taken = await client.send_dict(answer)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError, SlackApiError):
            return False
        return bool(taken.status_code == 200)


def _refusal(method: str, error: SlackApiError) -> TransportError:
    """What an answer that is not "ok" means; one that is no JSON comes without its data."""
    response: Any = error.response
    data = getattr(response, "data", None)
    data = data if isinstance(data, dict) else {}
    status: Any = getattr(response, "status_code", None) or getattr(response, "status", 200)
    headers = getattr(response, "headers", None) or {}
    return refusals.refusal(
        method,
        int(status),
        str(data.get("error") or ""),
        retry_after=str(headers.get("Retry-After") or ""),
        needed=str(data.get("needed") or ""),
    )


def new_session(options: conf.Options) -> aiohttp.ClientSession:
    """The connections of one account."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=_POOL_SIZE, keepalive_timeout=_KEEP_ALIVE_SECONDS),
        timeout=aiohttp.ClientTimeout(total=options.answer_seconds, sock_connect=CONNECT_SECONDS),
        trust_env=not options.proxy,
    )
