"""The sockets of Socket Mode: dialled, read, and renewed before they are taken away.

slack_sdk has a client for this. It is not used: it tries again by itself for ever and says nothing
when its token is refused, closes the old socket before the new one stands, and is known to stay
"connected" and deaf after a failure in between (slackapi/python-slack-sdk#1110, #1446). What is
needed here is small. Its Web API client is used for everything else.

Nothing here waits in order to try again, and a socket that was lost tells so: whoever reads goes
on with the others, and hears of it when none is left.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode (read 2026-08).
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from delivery.errors import AuthenticationRefused, NetworkDown, TransportError
from gateway.platforms.slack import refusals

Dial = Callable[[], Awaitable[aiohttp.ClientWebSocketResponse]]

HELLO_SECONDS = 10.0
_OVER = frozenset({aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED})


@dataclass(frozen=True)
class Envelope:
    """What Slack sends until it is acknowledged.

    Attributes:
        id: What an acknowledgement names.
        kind: `events_api`, `interactive` or `slash_commands`.
        payload: What happened.
        line: The socket it came by.
    """

    id: str
    kind: str
    payload: dict[str, Any]
    line: "Line"


@dataclass(eq=False)
class Line:
    """One socket that Slack has greeted.

    Attributes:
        socket: The WebSocket.
        is_leaving: Slack has said that it will close it.
    """

    socket: aiohttp.ClientWebSocketResponse
    is_leaving: bool = False
    reader: "asyncio.Task[None] | None" = field(default=None, repr=False)

    async def acknowledge(self, envelope: Envelope, answer: dict[str, Any] | None) -> None:
        """Let Slack forget an envelope; if that cannot be told, it comes again and is known."""
        said: dict[str, Any] = {"envelope_id": envelope.id}
        if answer:
            said["payload"] = answer
        if not self.socket.closed:
            await self.socket.send_str(json.dumps(said))


class Sockets:
    """All sockets of one account, as one stream of envelopes.

    Args:
        dial: Opens one more WebSocket.
        wanted: How many should stand.
    """

    def __init__(self, dial: Dial, wanted: int) -> None:
        self._dial, self._wanted = dial, wanted
        self._lines: list[Line] = []
        self._heard: deque[Envelope] = deque()
        self._stirred = asyncio.Event()
        self._dialling: asyncio.Task[Line] | None = None
        self._off = ""  # why Slack will never talk to us this way

    async def open(self) -> None:
        """Let the first socket stand.

        Raises:
            TransportError: It could not be opened.
        """
        self._add(await self._greeted())

    async def close(self) -> None:
        """End everything; what was not acknowledged comes again over another socket."""
        dialling, self._dialling = self._dialling, None
        if dialling is not None:
            dialling.cancel()
            (dialled,) = await asyncio.gather(dialling, return_exceptions=True)
            if isinstance(dialled, Line):  # it stood already, and nobody had taken it up
                self._lines.append(dialled)
        lines, self._lines = self._lines, []
        readers = [line.reader for line in lines if line.reader]
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        for line in lines:
            await line.socket.close()
        self._heard.clear()

    async def next(self, patience: float, most: int) -> list[Envelope]:
        """Wait for envelopes.

        Args:
            patience: Seconds to wait at most.
            most: How many at most.

        Returns:
            What came, oldest first; none after a quiet while.

        Raises:
            NetworkDown: No socket is left, and none could be opened.
            AuthenticationRefused: Slack will not talk to us this way any more.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + patience
        may_dial = True
        while not self._heard:
            if self._off:
                raise AuthenticationRefused(self._off, code="link_disabled")
            may_dial = await self._renew(may_dial=may_dial)
            self._stirred.clear()
            if self._heard or self._is_over(self._dialling):
                continue
            try:
                await asyncio.wait_for(self._stirred.wait(), until - loop.time())
            except TimeoutError:
                return []
        return [self._heard.popleft() for _ in range(min(most, len(self._heard)))]

    # --- how many stand -------------------------------------------------------------------------

    async def _renew(self, *, may_dial: bool) -> bool:
        """Begin or finish what is to be dialled; whether more may be tried for now."""
        if self._is_over(self._dialling):
            may_dial = await self._take_up() and may_dial
        standing = [line for line in self._lines if not line.is_leaving]
        if may_dial and self._dialling is None and len(standing) < self._wanted:
            self._dialling = asyncio.create_task(self._greeted(), name="slack socket")
            self._dialling.add_done_callback(lambda _task: self._stirred.set())
        return may_dial

    async def _take_up(self) -> bool:
        """Use the socket that was dialled; False if that failed while others still stand.

        Raises:
            TransportError: It failed, and no other is left.
        """
        dialled, self._dialling = self._dialling, None
        if dialled is None:
            return True
        try:
            line = dialled.result()
        except TransportError:
            if not self._lines:
                raise
            return False
        self._add(line)
        leaving = next((one for one in self._lines if one.is_leaving), None)
        if leaving is not None:  # only now that another stands
            await leaving.socket.close()
        return True

    @staticmethod
    def _is_over(task: "asyncio.Task[Line] | None") -> bool:
        return task is not None and task.done()

    def _add(self, line: Line) -> None:
        self._lines.append(line)
        line.reader = asyncio.create_task(self._read(line), name="slack events")
        line.reader.add_done_callback(lambda _task: self._lost(line))

    def _lost(self, line: Line) -> None:
        if line in self._lines:
            self._lines.remove(line)
        self._stirred.set()

    # --- one socket -----------------------------------------------------------------------------

    async def _greeted(self) -> Line:
        """A new socket over which Slack has said hello: before that it delivers nothing."""
        socket = await self._dial()
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                while _decoded(await socket.receive()).get("type") != "hello":
                    pass
        except TimeoutError:
            await socket.close()
            raise NetworkDown("Slack opened a socket and did not say hello") from None
        except BaseException:
            await socket.close()
            raise
        return Line(socket)

    async def _read(self, line: Line) -> None:
        """Take what comes until the socket is over, for whatever reason."""
        while True:
            frame = await line.socket.receive()
            if frame.type in _OVER or frame.type is aiohttp.WSMsgType.ERROR:
                break
            self._take(line, _decoded(frame))
        await line.socket.close()

    def _take(self, line: Line, said: dict[str, Any]) -> None:
        kind = said.get("type")
        if kind == "disconnect":
            line.is_leaving = True
            if said.get("reason") == "link_disabled":
                self._off = refusals.BAD_APP.format(code="link_disabled")
            self._stirred.set()
        elif isinstance(said.get("envelope_id"), str):
            payload = said.get("payload")
            payload = payload if isinstance(payload, dict) else {}
            self._heard.append(Envelope(said["envelope_id"], str(kind), payload, line))
            self._stirred.set()


def _decoded(frame: aiohttp.WSMessage) -> dict[str, Any]:
    """The JSON object in a frame; empty for anything else.

    Raises:
        NetworkDown: The socket ended instead.
    """
    if frame.type in _OVER or frame.type is aiohttp.WSMsgType.ERROR:
        raise NetworkDown("Slack closed the socket before it said hello")
    try:
        said = json.loads(frame.data) if frame.type is aiohttp.WSMsgType.TEXT else {}
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
