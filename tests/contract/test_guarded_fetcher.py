"""The guarded fetcher against real servers on loopback, one of which nobody may reach."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.fetching import addresses, guarded
from gateway.fetching.errors import (
    FetchError,
    Forbidden,
    NoSuchFile,
    TooLarge,
    TooSlow,
    Unavailable,
)
from gateway.fetching.guarded import GuardedFetcher
from gateway.fetching.limits import Limits
from tests.peers.certificates import certificate_for

OK = b"HTTP/1.1 200 OK\r\n"
FILE = OK + b"Content-Length: 5\r\nContent-Type: Image/PNG; q=1\r\n\r\nhello"


@dataclass
class Web:
    """A server that says what it is told to; `requests` is what it was asked."""

    answers: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    port: int = 0
    endless: bytes = b""
    silence: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(request)
            path = request.split()[1]
            writer.write(self.answers.get(path, FILE))
            while self.endless and path == "/endless":
                writer.write(self.endless)
                await writer.drain()
            if path == "/silent":
                await self.silence.wait()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.left.set()
            writer.close()

    def asked(self, path: str) -> bool:
        return any(request.split()[1] == path for request in self.requests)


@contextlib.asynccontextmanager
async def web(host: str = "127.0.0.1", **options) -> AsyncIterator[Web]:
    site = Web()
    server = await asyncio.start_server(site.serve, host, 0, **options)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        site.silence.set()
        server.close()


def only_here(address: str) -> str:
    """Let 127.0.0.1 stand for the public internet; everything else is what it is."""
    return "" if address == "127.0.0.1" else addresses.problem_with_address(address)


def names(**known: list[str]) -> guarded.Resolve:
    async def resolve(host: str, port: int) -> list[str]:
        return known[host.partition(".")[0]]

    return resolve


def fetcher(
    *sites: Web,
    judge: Callable[[str], str] = only_here,
    resolve: guarded.Resolve | None = None,
    tls: ssl.SSLContext | None = None,
    **limits,
) -> GuardedFetcher:
    return GuardedFetcher(
        Limits(**limits),
        ports=frozenset(site.port for site in sites),
        resolve=resolve or names(good=["127.0.0.1"], evil=["127.0.0.1"]),
        judge=judge,
        tls=tls,
    )


def url(site: Web, path: str = "/file", host: str = "good.example") -> str:
    return f"http://{host}:{site.port}{path}"


async def test_a_file_is_fetched_as_it_comes():
    taken: list[bytes] = []
    async with web() as site:
        got = await fetcher(site).fetch(url(site, "/file?a=b"), taken.append)

    assert b"".join(taken) == b"hello"
    assert (got.size, got.mime_type) == (5, "image/png")
    assert f"Host: good.example:{site.port}" in site.requests[0]
    assert site.asked("/file?a=b")


# B130, B132
@pytest.mark.proves("D17", "X1")
@pytest.mark.parametrize(
    "found",
    [
        ["127.0.0.2"],
        ["127.0.0.1", "127.0.0.2"],
        ["127.0.0.2", "127.0.0.1"],
        ["93.184.216.34", "10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["fe80::1%lo"],
        ["64:ff9b::7f00:1"],
    ],
)
async def test_a_name_with_any_inner_address_is_refused_before_anything_is_connected(found):
    async with web() as site, web("127.0.0.2") as inner:
        ours = fetcher(site, inner, resolve=names(good=found))
        with pytest.raises(Forbidden):
            await ours.fetch(url(site), [].append)
        with pytest.raises(Forbidden):
            await ours.fetch(url(inner), [].append)

    assert site.requests == inner.requests == []


# B132: the answer changes between the check and the connection
@pytest.mark.proves("D17", "X1")
async def test_a_name_whose_answer_changes_leads_only_to_the_address_that_was_judged():
    answers = iter([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]])

    async def changing(host: str, port: int) -> list[str]:
        return next(answers)

    async with web() as site, web("127.0.0.2") as inner:
        # The same port on both addresses, so that only the address tells them apart.
        site.answers["/file"] = FILE
        ours = fetcher(site, inner, resolve=changing)
        got = await ours.fetch(url(site), [].append)
        with pytest.raises(Forbidden):
            await ours.fetch(url(inner), [].append)

    assert got.size == 5
    assert inner.requests == []


@pytest.mark.parametrize("host", ["127.0.0.2", "[::1]", "localhost", "2130706434"])
async def test_a_literal_inner_address_is_refused(host):
    async with web("127.0.0.2") as inner:
        with pytest.raises(Forbidden):
            await fetcher(inner).fetch(url(inner, host=host), [].append)

    assert inner.requests == []


async def test_by_default_loopback_is_no_place_to_fetch_from():
    async with web() as site:
        ours = GuardedFetcher(ports=frozenset({site.port}), resolve=names(good=["127.0.0.1"]))
        with pytest.raises(Forbidden, match="this very machine"):
            await ours.fetch(url(site), [].append)

    assert site.requests == []


@pytest.mark.proves("D17", "X1")
@pytest.mark.parametrize(
    "location",
    [
        "http://inner.example:{port}/secret",
        "//inner.example:{port}/secret",
        "http://127.0.0.2:{port}/secret",
        "http://0x7f.0.0.2:{port}/secret",
        "http://2130706434:{port}/secret",
        "http://[::ffff:127.0.0.2]:{port}/secret",
        "http://user:pw@good.example:{port}/secret",
        "http://good.example:22/secret",
        "file:///etc/passwd",
        "gopher://127.0.0.2:{port}/_secret",
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_a_forbidden_place_is_not_followed(location, status):
    async with web() as site, web("127.0.0.2") as inner:
        to = location.format(port=inner.port)
        site.answers["/file"] = f"HTTP/1.1 {status} Go\r\nLocation: {to}\r\n\r\n".encode()
        ours = fetcher(site, inner, resolve=names(good=["127.0.0.1"], inner=["127.0.0.2"]))
        with pytest.raises(Forbidden):
            await ours.fetch(url(site), [].append)

    assert inner.requests == []


@pytest.mark.proves("D17")
async def test_each_hop_asks_for_the_address_again():
    asked = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) < 3 else ["127.0.0.2"]

    async with web() as site:
        site.answers["/file"] = b"HTTP/1.1 302 Go\r\nLocation: /file\r\n\r\n"
        with pytest.raises(Forbidden):
            await fetcher(site, resolve=resolve).fetch(url(site), [].append)

    assert asked == ["good.example"] * 3


async def test_five_redirects_are_followed_and_no_more():
    async with web() as site:
        for number in range(9):
            to = f"HTTP/1.1 302 Go\r\nLocation: /{number + 1}\r\n\r\n"
            site.answers[f"/{number}"] = to.encode()
        got = await fetcher(site).fetch(url(site, "/4"), [].append)
        with pytest.raises(NoSuchFile, match="more than 5 times"):
            await fetcher(site).fetch(url(site, "/0"), [].append)

    assert got.url.endswith("/9")


# B134: a token is for the host that it is meant for
async def test_a_credential_is_not_carried_to_another_host():
    async with web() as site, web() as other:
        to = f"HTTP/1.1 302 Go\r\nLocation: http://evil.example:{other.port}/x\r\n\r\n"
        site.answers["/file"] = b"HTTP/1.1 302 Go\r\nLocation: /again\r\n\r\n"
        site.answers["/again"] = to.encode()
        await fetcher(site, other).fetch(
            url(site), [].append, headers={"Authorization": "Bearer k"}
        )

    assert ["Bearer k" in request for request in site.requests] == [True, True]
    assert "Bearer k" not in other.requests[0]


@pytest.mark.proves("D17")
@pytest.mark.parametrize(
    "head",
    [
        OK + b"Content-Length: 10737418240\r\n\r\n",
        OK + b"Content-Length: 11\r\n\r\nhello world",
        OK + b"\r\nhello, wide world",
        OK + b"Transfer-Encoding: chunked\r\n\r\n11\r\nhello, wide world\r\n0\r\n\r\n",
    ],
)
async def test_a_file_that_is_too_large_is_not_taken(head):
    taken: list[bytes] = []
    async with web() as site:
        site.answers["/file"] = head
        with pytest.raises(TooLarge, match="at most 10 bytes"):
            await fetcher(site, size=10).fetch(url(site), taken.append)

    assert len(b"".join(taken)) <= 10


# B132: a body without an end
@pytest.mark.proves("D17")
async def test_an_endless_body_ends_at_the_limit():
    taken: list[int] = []
    async with web() as site:
        site.answers["/endless"] = OK + b"Transfer-Encoding: chunked\r\n\r\n"
        site.endless = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        with pytest.raises(TooLarge):
            await fetcher(site, size=1_000_000).fetch(
                url(site, "/endless"), lambda piece: taken.append(len(piece))
            )
        await asyncio.wait_for(site.left.wait(), 10)  # and the connection is not left open

    assert sum(taken) <= 1_000_000


@pytest.mark.parametrize(
    ("head", "limits"),
    [
        (OK + b"Content-Length: 5\r\n\r\nhel", {"quiet_seconds": 0.1}),
        (OK + b"Content-Length: 5\r\n\r\nhel", {"seconds": 0.1}),
        (OK + b"Content-Le", {"quiet_seconds": 0.1}),
        (b"", {"seconds": 0.1}),
    ],
)
async def test_a_body_that_does_not_come_is_not_waited_for(head, limits):
    async with web() as site:
        site.answers["/silent"] = head
        with pytest.raises(TooSlow):
            await fetcher(site, **limits).fetch(url(site, "/silent"), [].append)


async def test_a_body_that_drips_is_given_up_after_the_whole_time():
    async with web() as site:
        site.answers["/endless"] = OK + b"Content-Length: 999999999\r\n\r\n"
        site.endless = b"x"
        with pytest.raises(TooSlow, match=r"within 0\.2 seconds"):
            await fetcher(site, seconds=0.2, size=10**9).fetch(
                url(site, "/endless"), lambda piece: None
            )


# B132: what unfolds to more than it is
@pytest.mark.proves("D17")
@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "gzip, gzip", "x-strange"])
async def test_a_compressed_body_is_not_unpacked(encoding):
    taken: list[bytes] = []
    async with web() as site:
        site.answers["/file"] = (
            OK + f"Content-Encoding: {encoding}\r\nContent-Length: 4\r\n\r\nbomb".encode()
        )
        with pytest.raises(NoSuchFile, match="compressed"):
            await fetcher(site).fetch(url(site), taken.append)

    assert taken == []
    assert "Accept-Encoding: identity" in site.requests[0]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", NoSuchFile),
        (b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", NoSuchFile),
        (b"HTTP/1.1 204 None\r\n\r\n", NoSuchFile),
        (b"HTTP/1.1 206 Part\r\nContent-Length: 1\r\n\r\nx", NoSuchFile),
        (b"HTTP/1.1 302 Nowhere\r\nContent-Length: 0\r\n\r\n", NoSuchFile),
        (b"HTTP/1.1 429 Wait\r\nContent-Length: 0\r\n\r\n", Unavailable),
        (b"HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n", Unavailable),
        (OK + b"Content-Length: 5\r\n\r\nhe", Unavailable),
        (b"SSH-2.0-OpenSSH\r\n\r\n", Unavailable),
        (OK + b"X: " + b"y" * 300_000, Unavailable),
        (b"", Unavailable),
    ],
)
async def test_what_is_no_file_is_an_error_of_ours(answer, error):
    async with web() as site:
        site.answers["/file"] = answer
        with pytest.raises(error):
            await fetcher(site).fetch(url(site), [].append)


async def test_a_host_that_is_not_there_is_unavailable():
    async def unknown(host: str, port: int) -> list[str]:
        raise OSError("no such host")

    async with web() as site:
        with pytest.raises(Unavailable, match="No such host"):
            await fetcher(site, resolve=unknown).fetch(url(site), [].append)
        with pytest.raises(Unavailable, match="No such host"):
            await fetcher(site, resolve=names(good=[])).fetch(url(site), [].append)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await fetcher(site).fetch(url(site), [].append)


async def test_the_next_address_is_tried_when_one_does_not_answer():
    both = names(good=["127.0.0.3", "127.0.0.1"])
    async with web() as site:
        got = await fetcher(site, resolve=both, judge=lambda _address: "").fetch(
            url(site), [].append
        )

    assert got.size == 5


@pytest.mark.proves("D17")
async def test_tls_proves_the_name_though_an_address_is_connected_to(tmp_path: Path):
    server, client = certificate_for("good.example", tmp_path)
    both = names(good=["127.0.0.1"], evil=["127.0.0.1"])
    async with web(ssl=server) as site:
        ours = fetcher(site, resolve=both, tls=client)
        got = await ours.fetch(url(site).replace("http:", "https:"), [].append)
        with pytest.raises(Unavailable):
            await ours.fetch(url(site, host="evil.example").replace("http:", "https:"), [].append)
        with pytest.raises(Unavailable):  # nobody vouches for it
            await fetcher(site).fetch(url(site).replace("http:", "https:"), [].append)

    assert got.size == 5
    assert len(site.requests) == 1


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch):
    async with web() as site, web() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        await fetcher(site).fetch(url(site), [].append)

    assert proxy.requests == []


@pytest.mark.parametrize("ours", [Forbidden, TooLarge, NoSuchFile, Unavailable, TooSlow])
def test_every_error_is_a_fetch_error(ours):
    assert issubclass(ours, FetchError)
