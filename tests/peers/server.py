"""What every peer is made of: an HTTP server on loopback in a thread of its own.

A peer is the other end of the wire, not a double of our code: the product talks to it over a
real socket, so it can be slow, rude or dead the way a platform is. It shares the machine with
what is measured, so it does nothing per request that nobody asked for: no access log, no router.
"""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, Self, TypeVar

from aiohttp import web

HIGHEST_BODY = 64 * 1024 * 1024
_JSON = {"Content-Type": "application/json"}  # bare: some vendors' clients compare it exactly
_LINGER_AND_RESET = struct.pack("ii", 1, 0)

# How often the loop goes round, at most, until an accepted socket has its protocol.
_ROUNDS_TO_CONNECT = 5

T = TypeVar("T")


class Gate:
    """Something that stays shut until a test opens it; any thread may open it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    def open(self) -> None:
        """Let everyone through, now and from now on."""
        with self._lock:
            self._open = True
            waiting, self._waiting = self._waiting, []
        for loop, future in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_release, future)

    async def passed(self) -> None:
        """Wait until the gate is open."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._open:
                return
            future: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, future))
        await future


def _release(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class Refusal:
    """While it stands, connecting to the peer is refused; the port stays the peer's own."""

    def __init__(self, peer: "Peer") -> None:
        self._peer = peer

    def end(self) -> None:
        """Listen again on the same port."""
        self._peer._on_loop(self._peer._listen_again)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


class Peer:
    """An HTTP server on 127.0.0.1 that a test or a benchmark starts, drives and stops.

    `changed` guards everything a peer knows: hold it to look at several facts at once.

    Args:
        port: The port to listen on; 0 takes any free one.
    """

    cancels_when_the_client_leaves = False

    def __init__(self, port: int = 0) -> None:
        self.changed = threading.Condition(threading.RLock())
        self._waiting = 0
        self._wanted_port = port
        self._socket: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._web: web.Server | None = None
        self._thread: threading.Thread | None = None
        self.loop = asyncio.new_event_loop()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; each kind of peer says how."""
        raise NotImplementedError

    @property
    def origin(self) -> str:
        """Where the peer listens: `http://127.0.0.1:<port>`."""
        if self._socket is None:
            raise RuntimeError("the peer is not running")
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    @property
    def port(self) -> int:
        """The port the peer listens on."""
        return int(self.origin.rsplit(":", 1)[1])

    def start(self) -> Self:
        """Listen; returns once connections are accepted."""
        self._socket = _bound(self._wanted_port)
        self._thread = threading.Thread(
            target=self._run, name=f"{type(self).__name__}:{self.port}", daemon=True
        )
        self._thread.start()
        self._on_loop(self._listen)
        return self

    def stop(self) -> None:
        """Cut every connection and end the thread; safe to call twice."""
        if self._thread is None:
            return
        self._on_loop(self._close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def refuse(self) -> Refusal:
        """Stop listening and cut every connection, until the refusal's `end` (or `with`) ends."""
        self._on_loop(self._stop_listening)
        return Refusal(self)

    def notify(self) -> None:
        """Tell those who wait that something changed; the caller holds `changed`."""
        if self._waiting:
            self.changed.notify_all()

    def wait_for(self, predicate: Callable[[], T], timeout: float = 30.0) -> T:
        """Block until `predicate()` is true, and return what it gave.

        It is asked again after every change, with `changed` held. Not for a test that is itself
        a coroutine: use `until` there.

        Raises:
            TimeoutError: It was not true within `timeout` seconds.
        """
        with self.changed:
            self._waiting += 1
            try:
                found = self.changed.wait_for(predicate, timeout)
            finally:
                self._waiting -= 1
        if not found:
            raise TimeoutError(f"not true within {timeout} s")
        return found

    async def until(self, predicate: Callable[[], T], timeout: float = 30.0) -> T:
        """`wait_for`, for coroutines: the caller's event loop goes on meanwhile."""
        return await asyncio.to_thread(self.wait_for, predicate, timeout)

    def _on_loop(self, work: Callable[[], Any]) -> None:
        asyncio.run_coroutine_threadsafe(work(), self.loop).result(30)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()

    async def _listen(self) -> None:
        self._web = web.Server(
            self.answer,
            request_factory=self._request,
            handler_cancellation=self.cancels_when_the_client_leaves,
            access_log=None,
            lingering_time=0,
        )
        await self._listen_again()

    async def _listen_again(self) -> None:
        if self._server is None and self._web is not None and self._socket is not None:
            self._server = await self.loop.create_server(self._web, sock=self._socket, backlog=1024)

    async def _stop_listening(self) -> None:
        if self._server is None:
            return
        port = self.port
        await self._stop_accepting(self._server)
        self._server = None
        await self._cut_connections()
        # Bound and not listening: the kernel refuses callers and keeps the port for us.
        self._socket = _bound(port)

    async def _close(self) -> None:
        if self._server is not None:
            await self._stop_accepting(self._server)
        elif self._socket is not None:
            self._socket.close()
        await self._cut_connections()
        mine = asyncio.current_task()
        left = [task for task in asyncio.all_tasks() if task is not mine]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self.loop.shutdown_default_executor()

    async def _stop_accepting(self, server: asyncio.Server) -> None:
        """Close the listening socket once every caller it let in has become a connection.

        A server that is closed in between drops such a caller without closing its socket: the
        caller then waits for an answer that nobody will give.
        """
        for listening in server.sockets:
            self.loop.remove_reader(listening.fileno())
        for _ in range(_ROUNDS_TO_CONNECT):
            await asyncio.sleep(0)
        server.close()

    async def _cut_connections(self) -> None:
        """Cut them all, also one that was just accepted and is known only a moment later."""
        for _ in range(_ROUNDS_TO_CONNECT):
            for connection in self._web.connections if self._web is not None else ():
                if connection.transport is not None:
                    connection.transport.abort()
            await asyncio.sleep(0)

    def _request(self, *parts: Any) -> web.BaseRequest:
        message, payload, protocol, writer, task = parts
        return web.BaseRequest(
            message, payload, protocol, writer, task, self.loop, client_max_size=HIGHEST_BODY
        )


def json_answer(
    body: Any, status: int = 200, headers: dict[str, str] | None = None
) -> web.Response:
    """A JSON response with the bare content type."""
    return web.Response(
        status=status, body=json.dumps(body).encode(), headers={**_JSON, **(headers or {})}
    )


def reset(request: web.BaseRequest) -> web.Response:
    """Cut the request's connection with a TCP reset; the client gets no answer.

    Returns:
        A response for aiohttp to write into the void.
    """
    transport = request.transport
    if transport is not None:
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_AND_RESET)
        transport.abort()
    return web.Response(status=500)


async def half_of(request: web.BaseRequest, answer: web.Response) -> web.StreamResponse:
    """Promise the whole answer, send half of it, and cut the connection."""
    body = answer.body
    if not isinstance(body, bytes):
        raise TypeError("only an answer in memory can be halved")
    half = web.StreamResponse(status=answer.status, headers={"Content-Type": answer.content_type})
    half.content_length = len(body)
    await half.prepare(request)
    await half.write(body[: len(body) // 2])
    if request.transport is not None:
        request.transport.close()
    return half


def _bound(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
    except OSError:
        made.close()
        raise
    return made
