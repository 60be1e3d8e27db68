"""A typing notice that would stay by itself is taken away when its turn ends ([D12])."""

import asyncio

import pytest

from delivery import registry
from delivery.addresses import Address
from gateway.runner.presence import Presence

PLACE = Address(platform="slack", account="slack", chat_id="C1", thread_id="1.1")


class Sign:
    """A platform on which the sign stays until it is taken away."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.changed = asyncio.Event()

    async def typing(self, address: Address) -> None:
        self.seen.append("shown")
        self.changed.set()

    async def stop_typing(self, address: Address) -> None:
        self.seen.append("taken away")
        self.changed.set()


@pytest.mark.proves("D12")
async def test_a_sign_that_was_shown_is_taken_away_once():
    sign = Sign()
    presence = Presence(sign, registry.outlet("slack"), is_able=True)
    presence.start(7, PLACE)
    await sign.changed.wait()
    presence.end(7)
    presence.end(7)
    await presence.stop()

    assert sign.seen == ["shown", "taken away"]


@pytest.mark.proves("D12")
async def test_a_sign_that_was_never_shown_is_not_taken_away():
    sign = Sign()
    presence = Presence(sign, registry.outlet("slack"), is_able=True)
    presence.start(7, PLACE)
    presence.end(7)
    await presence.stop()

    assert sign.seen == []
