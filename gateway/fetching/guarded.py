"""Fetching a file by its URL from a stranger: the address is judged where the connection is made.

The client resolves a name itself, refuses it if any of its addresses is not public, and connects
to one of those very addresses, so that a name which changes its answer in between changes nothing.
TLS still proves the name. That holds for every connection, and so for every redirect. Proxies of
the environment are not used: through one, nobody here could tell where a connection ends.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpcore
from typing_extensions import override

from gateway.fetching import addresses
from gateway.fetching.addresses import Target
from gateway.fetching.errors import FetchError, Forbidden, NoSuchFile, TooSlow, Unavailable
from gateway.fetching.limits import Limits, Meter

#: The addresses of a host, as text; none, or OSError, if it has none.
Resolve = Callable[[str, int], Awaitable[list[str]]]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_USER_AGENT = b"HermesGateway"


@dataclass(frozen=True)
class Fetched:
    """What came.

    Attributes:
        size: In bytes.
        mime_type: What the server calls it, in lower case, without parameters; not to be trusted.
        url: Where it came from in the end.
    """

    size: int
    mime_type: str
    url: str


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system's resolver has them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


class GuardedFetcher:
    """Fetches files over HTTP from the public internet, and from nowhere else.

    Args:
        limits: What one fetch may cost.
        ports: Those that may be connected to.
        resolve: Finds the addresses of a name.
        judge: Why an address may not be connected to; empty if it may.
        tls: What certificates are checked against; None for the usual authorities.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        ports: frozenset[int] = addresses.PORTS,
        resolve: Resolve = resolve,
        judge: Callable[[str], str] = addresses.problem_with_address,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._ports, self._tls = ports, tls
        self._network = GuardedNetwork(resolve, judge)

    async def fetch(
        self,
        url: str,
        write: Callable[[bytes], object],
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Fetched:
        """Fetch one file.

        Args:
            url: Where it is.
            write: Takes the pieces in order; what it took before an error is worth nothing.
            headers: For the host of `url` alone, such as a credential; a redirect elsewhere does
                not carry them along.

        Raises:
            Forbidden: The address, or one that it leads to, may not be reached.
            TooLarge: It is larger than the limit; nothing more than that was taken.
            NoSuchFile: The server answers with something else.
            Unavailable, TooSlow: It may work later.
        """
        target = addresses.read(url, ports=self._ports)
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._follow(target, write, headers or {})
        except TimeoutError as error:
            message = f"It did not come within {self._limits.seconds:g} seconds."
            raise TooSlow(message) from error

    async def _follow(
        self, target: Target, write: Callable[[bytes], object], headers: Mapping[str, str]
    ) -> Fetched:
        first = target.origin
        for _ in range(self._limits.redirects + 1):
            mine = headers if target.origin == first else {}
            async with self._answer(target, mine) as answer:
                location = _header(answer, b"location")
                if answer.status not in _REDIRECTS or not location:
                    return await self._take(target, answer, write)
            target = addresses.follow(target, location, ports=self._ports)
        raise NoSuchFile(f"It leads elsewhere more than {self._limits.redirects} times.")

    @asynccontextmanager
    async def _answer(
        self, target: Target, headers: Mapping[str, str]
    ) -> AsyncIterator[httpcore.Response]:
        url = httpcore.URL(
            scheme=target.scheme, host=target.host, port=target.port, target=target.path
        )
        pool = httpcore.AsyncConnectionPool(
            ssl_context=self._tls, max_connections=1, network_backend=self._network
        )
        try:
            async with (
                pool,
                pool.stream(
                    "GET",
                    url,
                    headers=_headers(target, headers),
                    extensions={"timeout": self._timeouts()},
                ) as answer,
            ):
                yield answer
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise _trouble(error) from error

    async def _take(
        self, target: Target, answer: httpcore.Response, write: Callable[[bytes], object]
    ) -> Fetched:
        if answer.status != 200:
            raise _refused(answer.status)
        if _header(answer, b"content-encoding").lower() not in {"", "identity"}:
            # A few bytes may unfold to any number; nobody asked for that.
            raise NoSuchFile("It comes compressed though we asked for it as it is.")
        meter = Meter(write, self._limits.size)
        length = _header(answer, b"content-length")
        if length.isascii() and length.isdecimal():
            meter.expect(int(length))
        async for piece in answer.aiter_stream():
            meter.take(piece)
        mime_type = _header(answer, b"content-type").partition(";")[0].strip().lower()
        return Fetched(meter.size, mime_type, str(target))

    def _timeouts(self) -> dict[str, float]:
        limits = self._limits
        quiet = limits.quiet_seconds
        return {
            "connect": limits.connect_seconds,
            "read": quiet,
            "write": quiet,
            "pool": limits.connect_seconds,
        }


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were judged, and to no other."""

    def __init__(self, resolve: Resolve, judge: Callable[[str], str]) -> None:
        self._resolve, self._judge = resolve, judge
        self._network = httpcore.AnyIOBackend()

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to one of the addresses of `host`, all of which may be connected to."""
        found = await self._judged(host, port)
        for address in found[:-1]:
            try:
                return await self._network.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.connect_tcp(
            found[-1], port, timeout, local_address, socket_options
        )

    async def _judged(self, host: str, port: int) -> list[str]:
        try:
            found = [host] if addresses.is_literal(host) else await self._resolve(host, port)
        except OSError as error:
            raise Unavailable("No such host is known.") from error
        if not found:
            raise Unavailable("No such host is known.")
        for address in found:
            problem = self._judge(address)
            if problem:  # one public address beside a private one is a trick, not a choice
                raise Forbidden(problem)
        return found

    @override
    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Never: a socket of this machine is no place to fetch from."""
        raise Forbidden("The address leads to this very machine, not to the public internet.")

    @override
    async def sleep(self, seconds: float) -> None:
        """Part of the library's port; nothing here tries again, so nothing sleeps."""


def _headers(target: Target, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [
        (b"Host", target.authority.encode("ascii")),
        (b"User-Agent", _USER_AGENT),
        (b"Accept", b"*/*"),
        (b"Accept-Encoding", b"identity"),
        *((name.encode("ascii"), value.encode("utf-8")) for name, value in headers.items()),
    ]


def _header(answer: httpcore.Response, name: bytes) -> str:
    found = (value for key, value in answer.headers if key.lower() == name)
    return next(found, b"").decode("latin-1")


def _refused(status: int) -> FetchError:
    if status == 429 or status >= 500:
        return Unavailable(f"The server cannot give it now (HTTP {status}).")
    return NoSuchFile(f"The server does not give it (HTTP {status}).")


def _trouble(error: Exception) -> FetchError:
    if isinstance(error, httpcore.ReadTimeout):
        return TooSlow("The server fell silent.")
    if isinstance(error, httpcore.TimeoutException | httpcore.ConnectError):
        return Unavailable("The server cannot be reached.")
    return Unavailable("The connection broke off.")
