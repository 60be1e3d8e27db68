"""One account served: what becomes of it when a part of it fails or comes too late."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from delivery import ledger, preview_rows
from delivery.errors import AuthenticationRefused
from delivery.means import Ambience
from delivery.models import Preview
from gateway import platforms, turns
from gateway.messages import Batch
from gateway.models import Turn
from gateway.ports import BotIdentity
from gateway.runner import service as services
from gateway.runner.service import AccountService
from tests.factories import make_account, make_conversation, make_obligation, make_turn, settle
from tests.fakes.transport import FakeTransport
from tests.integration.desk import has, is_being_sent, take_lease

FAR = 1e12  # seconds of the loop's clock


@dataclass
class FakeAdapter(FakeTransport):
    """A chat app from which nothing ever comes."""

    connects: int = 0

    async def connect(self) -> BotIdentity:
        self.connects += 1
        return BotIdentity(user_id="1", user_name="bot")

    async def disconnect(self) -> None:
        """There is nothing to close."""

    async def receive(self, cursor: str) -> Batch:
        await asyncio.Event().wait()
        return Batch(cursor, ())


class Office:
    """The service of one account at work against a chat app in memory."""

    def __init__(self, database, clock) -> None:
        self.database, self.clock = database, clock
        self.account = make_account("telegram")
        self.adapter = FakeAdapter(knows=lambda part: database(is_being_sent, part))
        self.held_until = FAR

    def serve(self, act: Callable[["Office"], Awaitable[None]]) -> None:
        """Serve the account while `act` goes on."""
        asyncio.run(self._serve(act))

    async def _serve(self, act: Callable[["Office"], Awaitable[None]]) -> None:
        fence = await self.database(take_lease, clock=self.clock)
        ambience = Ambience(self.database, self.clock, lambda: 0.0)
        self.service = AccountService(self.account, fence, ambience)
        self.service.held_until = self.held_until
        self.parts = services._Serving(self.service, platforms.get("telegram"), self.adapter)
        self.running = asyncio.create_task(self.parts.run(self.service.stopping))
        try:
            await self.wait_until(lambda: self.parts.outbox._open)
            await act(self)
        finally:
            self.service.stopping.set()
            await asyncio.wait_for(self.running, 20)
        assert self.adapter.unknown == [], "it was sent and is not in the ledger"

    async def wait_until(self, check: Callable[[], bool]) -> None:
        deadline = asyncio.get_running_loop().time() + 10
        while not await self.database(check):
            assert asyncio.get_running_loop().time() < deadline, "it did not come true"
            await asyncio.sleep(0.005)


@pytest.fixture
def office(transactional_db, database, clock) -> Office:
    return Office(database, clock)


def test_a_send_refused_for_the_credential_is_made_again_once_the_credential_proves_good(
    office, clock
) -> None:
    owed = make_obligation(content="Hello", now=clock())
    office.adapter.fail(AuthenticationRefused("Not Found"))

    async def wait(office) -> None:
        await office.wait_until(has(owed, state="failed"))
        clock.advance(60)
        await office.wait_until(has(owed, state="delivered"))

    office.serve(wait)
    assert office.adapter.texts == ["Hello"]
    assert office.adapter.connects == 2


def test_a_part_that_fails_ends_the_whole_so_that_it_is_begun_anew(
    office, monkeypatch, caplog
) -> None:
    def fail(*_arguments, **_facts) -> None:
        raise RuntimeError("a fault of ours")

    async def wait(office) -> None:
        monkeypatch.setattr(ledger, "claim_due", fail)
        office.parts.outbox.wake()
        await asyncio.wait_for(office.running, 10)

    office.serve(wait)
    assert office.service.stopping.is_set()
    assert "A part of a service failed" in caplog.text


def test_typing_that_began_after_its_answer_was_sent_ends(office, monkeypatch) -> None:
    monkeypatch.setattr(services, "LOOK_AT_TYPING", 0.01)
    chat = make_conversation()
    over, busy = make_turn(chat, state="finished"), make_turn(chat)

    async def begin(office) -> None:
        for turn in (over, busy):
            office.parts.presence.start(turn.pk, chat.address)
        await office.wait_until(lambda: office.parts.presence.turns == {busy.pk})
        await asyncio.sleep(0.1)
        assert office.parts.presence.turns == {busy.pk}

    office.serve(begin)


@pytest.mark.proves("D12")
def test_what_waits_behind_a_question_is_typed_for_when_it_is_taken_up_and_not_before(
    office, monkeypatch
) -> None:
    monkeypatch.setattr(services, "LOOK_AT_TYPING", 0.01)
    chat = make_conversation(chat_id="7")
    asking = make_turn(chat, state="running", now=office.clock())
    behind = make_turn(chat, now=office.clock())
    waits, over = Turn.objects.filter(pk=asking.pk), {"state": "finished"}

    async def begin(office) -> None:
        presence = office.parts.presence
        presence.start(behind.pk, chat.address)
        await asyncio.sleep(0.1)
        assert presence.turns == {behind.pk}
        await office.database(lambda: waits.update(state="waiting"))
        await office.wait_until(lambda: not presence.turns)
        office.clock.advance(1800)
        await office.database(lambda: waits.update(**over))
        await office.database(turns.claim, chat.pk, "w", now=office.clock(), capacity=9)
        await office.wait_until(lambda: presence.turns == {behind.pk})

    office.serve(begin)


@pytest.mark.parametrize(("held_until", "shown"), [(FAR, 1), (0.0, 0)])
def test_nothing_is_shown_of_an_account_that_another_may_own_by_now(
    office, held_until, shown
) -> None:
    office.held_until = held_until
    chat = make_conversation()

    async def show(office) -> None:
        previews = office.parts.previews
        previews.show("t1.0", chat.address, "", "Some words. " * 20, epoch=1)
        live = previews._live["t1.0"]
        await office.wait_until(lambda: live.pace.shown_length > 0)

    office.serve(show)
    assert len(office.adapter.of("send")) == shown


@pytest.mark.proves("D13")
def test_what_an_earlier_owner_did_not_take_away_goes_when_the_account_is_connected(office) -> None:
    chat = make_conversation(chat_id="7", now=office.clock())
    live = office.adapter.show("Hel ▉", chat.address)
    preview_rows.store("t1.0", "telegram", chat.address, [live], office.clock())
    owed = make_obligation(
        chat, content="Hello", now=office.clock(), preview_key="t1.0", fresh_after=0
    )
    settle(owed, at=office.clock())

    async def wait(office) -> None:
        await office.wait_until(lambda: not Preview.objects.exists())

    office.serve(wait)
    assert office.adapter.texts == []
