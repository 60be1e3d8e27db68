"""The connections to Telegram: few, the one used last first, and none left open."""

import asyncio

import pytest

from tests.contract.test_telegram_adapter import config, part, platform
from tests.peers.telegram import TelegramPeer

MOST = 8  # of one pool


@pytest.fixture
def peer():
    with TelegramPeer() as server:
        server.open_chat(1001)
        yield server


@pytest.fixture
async def adapter(peer):
    made = platform.build_adapter(config(peer))
    await made.connect()
    yield made
    await made.disconnect()


def connections(peer):
    return len(peer._web.connections)


async def test_calls_one_after_another_share_one_connection(peer, adapter):
    for _ in range(5):
        await adapter.send(part())

    assert connections(peer) <= 2  # the menu of commands may be offered meanwhile


async def test_a_burst_has_its_bound_and_leaves_the_lines_in_good_order(peer, adapter):
    receipts = await asyncio.gather(*(adapter.send(part()) for _ in range(40)))
    after = await adapter.send(part())

    assert len({receipt.message_id for receipt in receipts}) == 40
    assert after.message_id not in {receipt.message_id for receipt in receipts}
    assert connections(peer) <= MOST


async def test_a_call_that_is_given_up_spoils_no_line(peer, adapter):
    calls = [asyncio.ensure_future(adapter.send(part())) for _ in range(MOST)]
    await asyncio.sleep(0)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)

    for _ in range(MOST + 1):
        await adapter.send(part())
