"""Posting to a URL that somebody entered: guarded as fetching is, and only once.

The address is judged where the connection is made, a redirect is an answer like any other, and the
body of an answer is not read. What happened is told so that the caller knows whether the other
side may have acted on it: nothing here tries again.
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpcore

from gateway.fetching import addresses
from gateway.fetching.addresses import Target
from gateway.fetching.errors import NoAnswer, Unavailable
from gateway.fetching.guarded import GuardedNetwork, Resolve, resolve


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a post may take, in seconds.

    Attributes:
        connect: Until a connection stands.
        answer: From the first connection to the answer's headers.
    """

    connect: float = 5.0
    answer: float = 20.0


@dataclass(frozen=True)
class Answer:
    """What the other side answered.

    Attributes:
        status: The HTTP status.
        headers: By their names in lower case; of several, the first.
    """

    status: int
    headers: Mapping[str, str]


class GuardedPoster:
    """Posts over HTTP to the public internet, and elsewhere only where that is allowed.

    Args:
        patience: How long a post may take.
        is_private_fine: Whoever runs this installation lets it reach private addresses, too.
        resolve: Finds the addresses of a name.
        judge: Why an address may not be connected to; empty if it may.
        tls: What certificates are checked against; None for the usual authorities.
    """

    def __init__(
        self,
        patience: Patience | None = None,
        *,
        is_private_fine: bool = False,
        resolve: Resolve = resolve,
        judge: Callable[[str], str] = addresses.problem_with_address,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._patience = patience or Patience()
        self._is_private_fine, self._tls = is_private_fine, tls
        self._network = GuardedNetwork(resolve, _anywhere if is_private_fine else judge)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Post once.

        Args:
            url: Where to.
            body: The bytes, as they are.
            headers: Beside Host, Content-Length and User-Agent.

        Raises:
            Forbidden: The address may not be reached; nothing was sent.
            Unavailable: No connection came about; nothing was sent.
            NoAnswer: It was sent, or a part of it, and no answer came.
        """
        target = addresses.read(url, ports=None, is_private_fine=self._is_private_fine)
        try:
            async with asyncio.timeout(self._patience.answer):
                return await self._post(target, body, headers)
        except TimeoutError as error:
            message = f"No answer came within {self._patience.answer:g} seconds."
            raise NoAnswer(message) from error

    async def _post(self, target: Target, body: bytes, headers: Mapping[str, str]) -> Answer:
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
                    "POST",
                    url,
                    headers=_headers(target, body, headers),
                    content=body,
                    extensions={"timeout": self._timeouts()},
                ) as answer,
            ):
                return Answer(answer.status, _received(answer))
        except (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout) as error:
            message = "The server cannot be reached, or its certificate is not good."
            raise Unavailable(message) from error
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            message = "The connection broke off before an answer came."
            raise NoAnswer(message) from error

    def _timeouts(self) -> dict[str, float]:
        patience = self._patience
        return {
            "connect": patience.connect,
            "read": patience.answer,
            "write": patience.answer,
            "pool": patience.connect,
        }


def _anywhere(address: str) -> str:
    del address
    return ""


def _headers(target: Target, body: bytes, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [
        (b"Host", target.authority.encode("ascii")),
        (b"User-Agent", b"HermesGateway"),
        (b"Content-Length", str(len(body)).encode("ascii")),
        *((name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()),
    ]


def _received(answer: httpcore.Response) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in answer.headers:
        found.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return found
