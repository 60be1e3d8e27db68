"""A Telegram peer with the unmodified python-telegram-bot client talking to it."""

from collections.abc import AsyncIterator, Iterator

import pytest
from telegram import Bot
from telegram.request import HTTPXRequest

from tests.peers.telegram import TelegramPeer

PATIENCE = 30.0  # seconds; a loaded machine is slow, and no test asks how fast it is


def client_of(peer: TelegramPeer, *, token: str = "") -> Bot:
    """A client for the peer; not initialised yet."""

    def pool() -> HTTPXRequest:
        return HTTPXRequest(
            connection_pool_size=16,
            read_timeout=PATIENCE,
            connect_timeout=PATIENCE,
            pool_timeout=PATIENCE,
            httpx_kwargs={"trust_env": False},
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
