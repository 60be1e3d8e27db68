"""Typing notices: soon, again and again, never longer than the turn, and never in its way."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from delivery import registry
from delivery.addresses import Address
from delivery.errors import NetworkDown
from gateway.runner import presence as presences
from gateway.runner.presence import Presence
from tests.fakes.transport import FakeTransport

PERIOD = timedelta(milliseconds=5)
TURN = 7


def chat(number: int = 1) -> Address:
    return Address(platform="telegram", account="telegram", chat_id=str(number))


def play(scene: Callable[[Presence], Awaitable[None]], *, is_able: bool = True) -> FakeTransport:
    """What a platform saw of the typing notices that `scene` asked for; none fails unseen."""
    transport, complaints = FakeTransport(), []
    outlet = replace(registry.outlet("telegram"), typing_period=PERIOD)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: complaints.append(context["message"]))
        presence = Presence(transport, outlet, is_able=is_able)
        try:
            await scene(presence)
        finally:
            await presence.stop()
        await asyncio.sleep(0)
        gc.collect()  # a task that failed unseen says so when it goes

    asyncio.run(run())
    assert complaints == []
    return transport


async def until(check: Callable[[], bool]) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 10
    while not check():
        assert loop.time() < deadline, "it did not come true"
        await asyncio.sleep(0.002)


async def quiet() -> None:
    """Let everything that is under way come to its end."""
    await asyncio.sleep(PERIOD.total_seconds() * 10)


@pytest.fixture
def at_once(monkeypatch) -> None:
    """No quick answer is waited for, and nothing is dropped for being too much."""
    monkeypatch.setattr(presences, "BEFORE", 0.0)
    monkeypatch.setattr(presences, "MOST_A_SECOND", 10_000.0)


@pytest.mark.proves("D12")
def test_a_notice_is_due_before_three_tenths_of_a_second() -> None:
    assert presences.BEFORE <= 0.3


@pytest.mark.proves("D12")
def test_a_notice_is_repeated_until_its_turn_ends(at_once) -> None:
    seen: list[int] = []

    async def scene(presence) -> None:
        presence.start(TURN, chat())
        await until(lambda: len(presence.transport.calls) >= 3)
        presence.end(TURN)
        seen.append(len(presence.transport.calls))
        await quiet()

    transport = play(scene)
    assert len(transport.calls) == seen[0]
    assert {(call.operation, call.address) for call in transport.calls} == {("typing", chat())}


def test_an_answer_that_is_quick_needs_no_notice() -> None:
    async def scene(presence) -> None:
        presence.start(TURN, chat())
        await asyncio.sleep(0)
        presence.end(TURN)
        await quiet()

    assert play(scene).calls == []


def test_a_turn_is_typed_for_once_however_often_it_is_begun(at_once) -> None:
    async def scene(presence) -> None:
        presence.start(TURN, chat())
        presence.start(TURN, chat(2))
        await until(lambda: bool(presence.transport.calls))
        await quiet()

    assert {call.address for call in play(scene).calls} == {chat()}


@pytest.mark.proves("D12")
def test_a_notice_that_fails_ends_by_itself_and_disturbs_no_other(at_once) -> None:
    async def scene(presence) -> None:
        presence.transport.fail(NetworkDown(), on="typing", chat="1")
        presence.start(TURN, chat())
        await until(lambda: not presence.turns)
        presence.start(TURN + 1, chat(2))
        await until(lambda: len(presence.transport.calls) >= 3)

    assert [call.address for call in play(scene).calls[:2]] == [chat(), chat(2)]


def test_a_platform_without_notices_gets_none(at_once) -> None:
    async def scene(presence) -> None:
        presence.start(TURN, chat())
        await quiet()

    assert play(scene, is_able=False).calls == []


@pytest.mark.proves("D9")
def test_notices_of_too_many_chats_are_dropped(monkeypatch) -> None:
    monkeypatch.setattr(presences, "BEFORE", 0.0)
    monkeypatch.setattr(presences, "MOST_A_SECOND", 2.0)

    async def scene(presence) -> None:
        for number in range(200):
            presence.start(number, chat(number))
        await until(lambda: bool(presence.transport.calls))
        await quiet()

    assert 1 <= len(play(scene).calls) < 100
