"""A Telegram peer with the unmodified python-telegram-bot client talking to it."""

from collections.abc import AsyncIterator, Iterator

import pytest
from telegram import Bot
from telegram.request import HTTPXRequest

from tests.peers.telegram import TelegramPeer


def client_of(peer: TelegramPeer, *, token: str = "", read_timeout: float = 5.0) -> Bot:
    """A client for the peer; not initialised yet."""

    def pool() -> HTTPXRequest:
        return HTTPXRequest(
            connection_pool_size=16, read_timeout=read_timeout, httpx_kwargs={"trust_env": False}
        )

    return Bot(
        token or peer.token,
        base_url=f"{peer.url}/bot",
        base_file_url=f"{peer.file_url}/bot",
        request=pool(),
        get_updates_request=pool(),
    )


@pytest.fixture
def peer() -> Iterator[TelegramPeer]:
    with TelegramPeer() as running:
        yield running


@pytest.fixture
async def bot(peer: TelegramPeer) -> AsyncIterator[Bot]:
    async with client_of(peer) as ready:
        yield ready
