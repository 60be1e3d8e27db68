"""The calls: one Telegram account over the Bot API, through python-telegram-bot.

The library gives the connection, its pools and time-outs and the encoding of a call. Its typed
methods are passed by: they build some dozens of objects for each answer, of which we want one
number. A refusal is taken from the answer as the server wrote it (`_Pool`), because the library
folds status and description into one sentence and loses the first.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import httpx
from telegram import Bot, InputFile
from telegram.error import NetworkError, TelegramError
from telegram.request import BaseRequest, HTTPXRequest, RequestData
from typing_extensions import override

from delivery.addresses import Address
from delivery.errors import (
    AuthenticationRefused,
    NetworkDown,
    OutcomeUnknown,
    TransportError,
)
from delivery.ports import OutgoingPart, Receipt
from gateway import menus
from gateway.fetching.limits import Limits, Meter
from gateway.messages import Batch, ButtonPress
from gateway.platforms.telegram import calls, conf, files, refusals, wire
from gateway.ports import AccountConfig, BotIdentity, OutgoingFile

_LOGGER = logging.getLogger(__name__)

_CONNECT_SECONDS = 10.0
_WRITE_SECONDS = 20.0
_MEDIA_WRITE_SECONDS = 120.0
_MEDIA_READ_SECONDS = 45.0  # beyond those for any answer: Telegram looks through what it was given
_POOL_SECONDS = 10.0
# Connections. Telegram takes some 30 messages a second of one bot, each in about 0.1 s.
_POOL_SIZE = 8
# httpx's own 5 s would mean a new TLS handshake for almost every answer in a quiet chat.
_KEEP_ALIVE_SECONDS = 30.0

_PROXY_HELP = (
    "check the account's proxy and HTTPS_PROXY or ALL_PROXY of the process; a socks5:// proxy "
    "needs the Python package socksio"
)

# These tell that the request, or its last byte, never left this host.
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
    httpx.InvalidURL,
)


class _Refusal(TelegramError):
    """An answer that is not "ok", as the server wrote it; `is_telegram` unless a proxy did."""

    def __init__(self, status: int, payload: bytes) -> None:
        answer = _object(payload)
        self.is_telegram = answer.get("ok") is False
        self.status = 400 if self.is_telegram and status < 300 else status
        self.description = str(answer.get("description") or "")
        parameters = answer.get("parameters")
        self.parameters: dict[str, Any] = parameters if isinstance(parameters, dict) else {}
        super().__init__(f"HTTP {status}")


class _Line(HTTPXRequest):
    """One connection, letting refusals through as the server wrote them."""

    @override
    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *args: Any, **kw: Any
    ) -> tuple[int, bytes]:
        status, payload = await super().do_request(url, method, request_data, *args, **kw)
        if status >= 300:
            raise _Refusal(status, payload)
        return status, payload

    def stream(self, url: str, **settings: Any) -> AbstractAsyncContextManager[httpx.Response]:
        """The answer to a GET, to be read piece by piece and as it comes."""
        return self._client.stream("GET", url, **settings)


class _Pool(BaseRequest):
    """Connections, the one that was used last to be used first.

    Each has a client of its own, and calls wait for one here. In a client with several, httpcore
    looks through all of them, and asks each idle one with a system call whether it still stands,
    when a call begins and again when it ends: a fifth of what the whole process did under load.
    """

    def __init__(self, **settings: Any) -> None:
        self._settings = settings
        self._room = asyncio.Semaphore(_POOL_SIZE)
        self._is_closed = False
        self._idle = [_Line(**settings)]
        self._lines = list(self._idle)

    @property
    @override
    def read_timeout(self) -> float | None:
        return self._lines[0].read_timeout

    @override
    async def initialize(self) -> None:
        """Nothing is to be done: a line is open from the start."""

    @override
    async def shutdown(self) -> None:
        self._is_closed = True
        for line in self._lines:
            await line.shutdown()

    @asynccontextmanager
    async def _line(self) -> AsyncIterator[_Line]:
        async with self._room:
            if self._is_closed:
                raise RuntimeError("the pool is closed")
            if not self._idle:
                self._idle.append(_Line(**self._settings))
                self._lines += self._idle
            line = self._idle.pop()
            try:
                yield line
            finally:
                self._idle.append(line)

    @override
    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *args: Any, **kw: Any
    ) -> tuple[int, bytes]:
        async with self._line() as line:
            return await line.do_request(url, method, request_data, *args, **kw)

    @asynccontextmanager
    async def stream(self, url: str, *, quiet_seconds: float) -> AsyncIterator[httpx.Response]:
        """The answer to a GET, to be read piece by piece and as it comes."""
        headers = {"Accept-Encoding": "identity"}
        timeout = httpx.Timeout(quiet_seconds, connect=_CONNECT_SECONDS, pool=_POOL_SECONDS)
        async with (
            self._line() as line,
            line.stream(url, headers=headers, timeout=timeout) as answer,
        ):
            yield answer

    @staticmethod
    @override
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Read an answer; the library's own way would also log what it cannot read."""
        answer = _object(payload)
        if "result" not in answer:
            raise _Refusal(200, payload)
        return answer


class _RawBot(Bot):
    """The library's bot with one method more: any call of the API, answered raw."""

    async def call(self, method: str, params: dict[str, Any], read_seconds: float) -> Any:
        """Call `method`; the library's public `do_api_request` warns of each one it knows."""
        return await self._post(method, params, read_timeout=read_seconds)


class TelegramAdapter:
    """Both directions of one Telegram account (`gateway.ports.Adapter`)."""

    def __init__(self, config: AccountConfig) -> None:
        self._config = config
        self._bot: _RawBot | None = None
        self._carrier: _RawBot | None = None  # for files
        self._pools: tuple[_Pool, ...] = ()
        self._me = BotIdentity(user_id="", user_name="")
        self._file_base = ""
        self._offering: asyncio.Task[None] | None = None
        self._poll_seconds = 0
        self._answer_seconds = 0.0

    async def connect(self) -> BotIdentity:
        """Open the pools, check the token, make sure no webhook swallows the updates.

        Raises:
            AuthenticationRefused: The token or a setting is wrong; the text says what to do.
            NetworkDown: Telegram cannot be reached now.
        """
        await self.disconnect()
        wrong = conf.problems(self._config)
        if wrong:
            raise AuthenticationRefused(" ".join(wrong))
        options = conf.read(self._config)
        try:
            self._open(options)
        except (ValueError, RuntimeError) as error:
            # The proxy (ours or the environment's) is of a kind the client cannot use.
            raise AuthenticationRefused(f"the proxy cannot be used: {_PROXY_HELP}") from error
        try:
            me = await self._ask("getMe", {})
            # A webhook left over from elsewhere makes getUpdates deaf.
            await self._ask("deleteWebhook", {"drop_pending_updates": False})
        except BaseException:
            await self.disconnect()
            raise
        self._me = _identity(me)
        self._offering = asyncio.create_task(self._offer(options), name="command menu")
        return self._me

    async def disconnect(self) -> None:
        """Close the pools; a call still under way fails."""
        offering, self._offering = self._offering, None
        if offering is not None:
            offering.cancel()
        pools, self._pools, self._bot, self._carrier = self._pools, (), None, None
        for pool in pools:
            await pool.shutdown()

    async def receive(self, cursor: str) -> Batch:
        """Long-poll getUpdates once.

        Silence for longer than the poll and an answer may take means that the connection is half
        open: it is dropped and `NetworkDown` raised.

        Raises:
            NetworkDown: Also while another process reads the same bot's updates.
            RateLimited, AuthenticationRefused: As their names say.
        """
        updates = await self._ask(
            "getUpdates",
            calls.get_updates(cursor, wait_seconds=self._poll_seconds),
            extra_seconds=self._poll_seconds,
        )
        if not isinstance(updates, list):
            raise NetworkDown("getUpdates was answered with something that is no list")
        slug = self._config.slug
        events = [event for raw in updates for event in wire.normalise(raw, self._me, slug)]
        return Batch(wire.next_cursor(cursor, updates), tuple(events))

    async def send(self, part: OutgoingPart) -> Receipt:
        """Send one message; Telegram has no idempotency key, so silence is `OutcomeUnknown`."""
        sent = await self._call("sendMessage", calls.send_message(part))
        return Receipt(calls.id_of(sent))

    async def edit(self, message_id: str, part: OutgoingPart) -> Receipt:
        """Change a message's text and buttons."""
        params = calls.edit_message_text(message_id, part)
        with suppress(_NotModified):  # it reads as it should: that is what was asked for
            await self._call("editMessageText", params)
        return Receipt(message_id)

    async def delete(self, address: Address, message_id: str) -> None:
        """Remove a message; Telegram allows it for 48 hours."""
        await self._call("deleteMessage", calls.delete_message(address, message_id))

    async def typing(self, address: Address) -> None:
        """Show "typing…" for about five seconds, or until the next message."""
        await self._call("sendChatAction", calls.send_chat_action(address))

    async def show_heard(self, address: Address, message_id: str) -> None:
        """Put eyes on a message; a group may allow no reactions, or not this one."""
        await self._call("setMessageReaction", calls.set_message_reaction(address, message_id))

    async def acknowledge(self, press: ButtonPress, *, text: str, alert: bool) -> None:
        """End the spinner on the button that was pressed."""
        params = calls.answer_callback_query(press, text, alert=alert)
        await self._call("answerCallbackQuery", params, scope="method")

    async def send_file(self, part: OutgoingPart, file: OutgoingFile) -> Receipt:
        """Send one message with a file; its id serves this bot for ever after."""
        method, params = files.METHODS[file.form], calls.send_file(part)
        given: Any = file.remote_id
        if file.content is not None:
            given = InputFile(file.content, filename=file.name, read_file_handle=False)
        params |= {file.form: given}
        sent = await self._call(
            method, params, extra_seconds=_MEDIA_READ_SECONDS, bot=self._carrier
        )
        return Receipt(calls.id_of(sent), files.id_in(sent, file.form))

    async def fetch(self, file_id: str, meter: Meter, limits: Limits) -> None:
        """Fetch the file of a message."""
        if not self._pools:
            raise NetworkDown("not connected to Telegram")
        await files.fetch(self._ask, self._pools[-1], self._file_base, file_id, meter, limits)

    def _open(self, options: conf.Options) -> None:
        verify = httpx.create_ssl_context()  # once for all: reading the authorities takes 20 ms
        limits = httpx.Limits(max_connections=1, keepalive_expiry=_KEEP_ALIVE_SECONDS)
        news, sends, carries = (
            _Pool(
                connection_pool_size=1,
                connect_timeout=_CONNECT_SECONDS,
                read_timeout=options.answer_seconds,
                write_timeout=_WRITE_SECONDS,
                pool_timeout=_POOL_SECONDS,
                media_write_timeout=_MEDIA_WRITE_SECONDS,
                http_version="1.1",
                proxy=options.proxy or None,
                httpx_kwargs={"verify": verify, "limits": limits},
            )
            for _ in range(3)
        )
        self._pools = (news, sends, carries)  # a large file must not hold up a message
        self._file_base = f"{options.base_file_url}{self._config.secret}"
        self._poll_seconds = options.poll_seconds
        self._answer_seconds = options.answer_seconds
        # Not `initialize()`: it calls getMe through the typed method and quotes the token when
        # it is refused. The pools are open as they are.
        self._bot, self._carrier = (
            _RawBot(
                self._config.secret,
                base_url=options.base_url,
                base_file_url=options.base_file_url,
                request=pool,
                get_updates_request=news,
            )
            for pool in (sends, carries)
        )

    async def _offer(self, options: conf.Options) -> None:
        """Show the command menu; a bot without one works all the same, and connects no later."""
        for language, menu in conf.menus(options, menus.menus()).items():
            try:
                await self._ask("setMyCommands", calls.set_my_commands(menu, language))
            except TransportError as error:
                _LOGGER.warning("%s: no command menu: %s", self._config.slug, error)
                return

    async def _ask(self, method: str, params: calls.Params, *, extra_seconds: float = 0) -> Any:
        """A call that may simply be made again: not knowing what became of it is `NetworkDown`."""
        try:
            return await self._call(method, params, scope="account", extra_seconds=extra_seconds)
        except OutcomeUnknown as error:
            raise NetworkDown(error.detail, code=error.code) from error

    async def _call(
        self,
        method: str,
        params: calls.Params,
        *,
        scope: str = "chat",
        extra_seconds: float = 0,
        bot: "_RawBot | None" = None,
    ) -> Any:
        bot = bot or self._bot
        if bot is None:
            raise NetworkDown("not connected to Telegram")
        try:
            return await bot.call(method, params, self._answer_seconds + extra_seconds)
        except _Refusal as error:
            raise _meaning(error, scope) from None
        except TelegramError as error:
            # Without the cause: the library's and httpx's texts may quote the address, and with
            # it the token.
            raise _silence(error, method) from None


class _NotModified(TransportError):
    """The edit asked for what is there already; never leaves this module."""


def _meaning(error: _Refusal, scope: str) -> TransportError:
    if not error.is_telegram:
        return refusals.not_telegram(error.status)
    if refusals.is_not_modified(error.description):
        return _NotModified()
    return refusals.refusal(error.status, error.description, error.parameters, scope=scope)


def _silence(error: TelegramError, method: str) -> TransportError:
    """What it means that a call ended without an answer."""
    cause = error.__cause__
    kind = type(cause or error).__name__
    if isinstance(error, NetworkError) and isinstance(cause, _NEVER_SENT):
        return NetworkDown(f"{method} never left for Telegram ({kind})")
    return OutcomeUnknown(f"{method} was sent and not answered ({kind})")


def _identity(me: Any) -> BotIdentity:
    try:
        return BotIdentity(user_id=str(int(me["id"])), user_name=str(me.get("username") or ""))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise NetworkDown("getMe was answered with something that is no user") from error


def _object(payload: bytes) -> dict[str, Any]:
    """The JSON object in an answer; empty for anything else."""
    try:
        answer = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}
