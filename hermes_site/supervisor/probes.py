"""Is it ready? One short question to a process, one answer; never an error."""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE_SECONDS = 5.0


async def talk(path: Path, question: bytes, length: int) -> bytes:
    """Put one question to a unix socket.

    Args:
        path: The socket.
        question: What to send.
        length: How many bytes of the answer to wait for.

    Returns:
        The answer; empty when nobody gave one in time.
    """
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(question)
                return await reader.readexactly(length)
            finally:
                writer.close()
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        return b""


async def valkey_answers(path: Path) -> bool:
    """Whether the broker at this socket has loaded its data and serves."""
    return await talk(path, b"PING\r\n", 7) == b"+PONG\r\n"


@dataclass(frozen=True)
class Readiness:
    """What the site says of itself.

    Attributes:
        is_ready: Everything that must run does.
        missing: The parts that do not, with the site's own words; empty if it did not answer.
    """

    is_ready: bool
    missing: dict[str, str] = field(default_factory=dict)


async def site_is_ready(host: str, port: int, *, named: str) -> Readiness:
    """Ask the site's `/readyz`.

    Args:
        host: Where to connect.
        port: Where to connect.
        named: What to call the site in the request; one of its allowed hosts.
    """
    request = f"GET /readyz HTTP/1.0\r\nHost: {named}\r\nConnection: close\r\n\r\n"
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(request.encode("ascii"))
                head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return Readiness(is_ready=False)
    status = head.split(b" ", 2)[1:2]
    return Readiness(is_ready=status == [b"200"], missing=missing_parts(body))


def missing_parts(body: bytes) -> dict[str, str]:
    """The parts that a `/readyz` answer calls not ready; empty for an answer of another shape.

    Args:
        body: `{"parts": {"<part>": "ok" or what is wrong}}`, as JSON.
    """
    try:
        parts = json.loads(body)["parts"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {str(part): str(word) for part, word in parts if word != "ok"}
