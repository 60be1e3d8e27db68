"""Live previews: shown while they may, gone when the final comes, never a reason to lose one."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from delivery import preview_rows, previews
from delivery.addresses import Address
from delivery.errors import MessageGone, NetworkDown, OutcomeUnknown, RateLimited, Refused
from delivery.means import Ambience
from delivery.models import Preview
from delivery.ports import Certainty, Rate, Rates
from delivery.previews import CURSOR, LivePreviews
from delivery.scheduling import Schedule
from delivery.traffic import Traffic
from tests.factories import make_conversation

DM = Address(platform="telegram", account="telegram", chat_id="1")
KEY = "t1.0"
SENTENCE = "This is a sentence of the answer. "


@pytest.fixture
def quick(monkeypatch) -> None:
    """A preview is worth its message at once, and an edit every hundredth of a second."""
    monkeypatch.setattr(previews, "FIRST_AFTER", 0.0)


class Stage:
    """The previews of one process, and what a test does with them."""

    def __init__(self, desk) -> None:
        self.desk, self.transport, self.rates = desk, desk.transport, Rates()
        desk.change_outlet(minimum_edit_interval=timedelta(seconds=0.01))

    def play(self, scene: Callable[["Stage"], Awaitable[None]]) -> None:
        asyncio.run(self._play(scene))

    async def _play(self, scene) -> None:
        ambience = Ambience(self.desk.database, self.desk.clock, lambda: 0.0)
        traffic = Traffic(Schedule(self.rates), lambda: datetime.now(UTC))  # with time that passes
        self.live = LivePreviews("telegram", self.transport, self.desk.outlet, ambience, traffic)
        try:
            await scene(self)
        finally:
            await self.live.stop()

    def say(self, text: str, *, epoch: int = 1, key: str = KEY, reply_to: str = "") -> None:
        self.live.show(key, DM, reply_to, text.strip(), epoch=epoch)

    def owe_answer(self) -> None:
        here = make_conversation(chat_id=DM.chat_id)
        self.desk.owe("The whole answer.", conversation=here, preview_key=KEY)

    async def until(self, check: Callable[[], bool]) -> None:
        await self.desk.wait_until(check)

    async def sees(self, text: str) -> None:
        """Wait until people see exactly this one message."""
        await self.until(lambda: self.transport.texts == [text])

    async def quiet(self) -> None:
        """Let everything that is under way come to its end."""
        for _ in range(10):
            await self.desk.database(int)
            await asyncio.sleep(0.005)


@pytest.fixture
def stage(desk, quick) -> Stage:
    return Stage(desk)


def test_an_answer_is_shown_while_it_grows(stage) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE, reply_to="41")
        await stage.sees(SENTENCE.strip() + CURSOR)
        stage.say(SENTENCE * 2)
        await stage.sees((SENTENCE * 2).strip() + CURSOR)

    stage.play(scene)
    assert [call.operation for call in stage.transport.calls] == ["send", "edit"]
    assert stage.transport.calls[0].part.reply_to == "41"


@pytest.mark.proves("D13")
def test_the_latest_text_is_shown_and_none_is_queued(stage) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.screen))
        for count in range(2, 60):
            stage.say(SENTENCE * count)
        await stage.sees((SENTENCE * 59).strip() + CURSOR)

    stage.play(scene)
    assert len(stage.transport.calls) <= 4


def test_a_little_more_text_is_not_worth_an_edit(stage) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.screen))
        stage.say(SENTENCE + "And")
        await stage.quiet()

    stage.play(scene)
    assert len(stage.transport.calls) == 1


def test_a_platform_that_cannot_edit_gets_no_preview(stage) -> None:
    stage.desk.change_outlet(supports_editing=False)

    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.quiet()

    stage.play(scene)
    assert stage.transport.calls == []


def test_a_text_too_long_for_one_message_goes_on_in_the_next(stage) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.screen))
        stage.say(SENTENCE * 300)
        await stage.until(lambda: len(stage.transport.texts) > 2)
        await stage.until(lambda: stage.transport.texts[-1].endswith(CURSOR.strip()))

    stage.play(scene)
    assert len(stage.transport.texts) == 3
    assert CURSOR.strip() not in "".join(stage.transport.texts[:-1])
    assert preview_rows.stored_ids(KEY) == list(stage.transport.screen)


def test_a_complaint_slows_it_down_and_it_goes_on(stage) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.screen))
        stage.transport.fail(RateLimited(retry_after=0.05), on="edit")
        stage.say(SENTENCE * 2)
        await stage.sees((SENTENCE * 2).strip() + CURSOR)
        assert stage.live._live[KEY].pace.interval == pytest.approx(0.02)

    stage.play(scene)
    assert len(stage.transport.of("edit")) == 2


def test_after_three_complaints_it_stops_for_this_turn(stage) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.screen))
        stage.transport.fail(*[RateLimited(retry_after=0.01)] * 3, on="edit")
        stage.say(SENTENCE * 2)
        await stage.until(lambda: len(stage.transport.of("edit")) == 3)
        stage.say(SENTENCE * 9)
        await stage.quiet()

    stage.play(scene)
    assert len(stage.transport.of("edit")) == 3


def test_a_complaint_about_the_first_message_is_waited_out(stage) -> None:
    stage.transport.fail(RateLimited(retry_after=3600))

    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.calls))
        stage.say(SENTENCE * 5)
        await stage.quiet()

    stage.play(scene)
    assert len(stage.transport.calls) == 1


@pytest.mark.parametrize("error", [NetworkDown(), MessageGone(), Refused("no rights")])
def test_any_other_trouble_ends_the_preview_and_nothing_else(stage, error) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.screen))
        stage.transport.fail(error, on="edit")
        stage.say(SENTENCE * 2)
        await stage.until(lambda: len(stage.transport.of("edit")) == 1)
        stage.say(SENTENCE * 9)
        await stage.quiet()
        assert await stage.live.take_over(KEY) == ["m1"]

    stage.play(scene)
    assert len(stage.transport.of("edit")) == 1


def test_a_database_that_is_away_ends_the_preview_and_nothing_else(stage) -> None:
    stage.desk.database.outages["store"] = 1

    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: "store" in stage.desk.database.calls)
        stage.say(SENTENCE * 9)
        await stage.quiet()
        assert await stage.live.take_over(KEY) == []

    stage.play(scene)
    assert stage.transport.calls == []


@pytest.mark.proves("D5")
@pytest.mark.parametrize("ends", ["unanswered", "killed"])
def test_a_preview_whose_id_nobody_learnt_is_owned_up_to_by_the_final(stage, ends) -> None:
    if ends == "unanswered":
        stage.transport.fail(OutcomeUnknown(), arrives=True)
    else:
        stage.desk.database.outages["store"] = 0

    async def hang(call) -> None:
        await asyncio.Event().wait()

    async def scene(stage) -> None:
        if ends == "killed":
            stage.transport.before = hang
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.calls))
        await stage.quiet()

    stage.play(scene)
    stage.transport.before = None
    stage.owe_answer()
    stage.desk.serve()
    assert stage.transport.texts[-1].startswith("♻️")
    assert stage.transport.texts[-1].endswith("The whole answer.")


def test_a_preview_that_was_refused_leaves_no_doubt_behind(stage) -> None:
    stage.transport.fail(Refused())

    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.calls))
        await stage.quiet()

    stage.play(scene)
    stage.owe_answer()
    stage.desk.serve()
    assert stage.transport.texts == ["The whole answer."]


def test_where_the_platform_drops_copies_a_lost_preview_gets_its_name_by_the_next_try(
    stage,
) -> None:
    stage.desk.change_outlet(certainty=Certainty.IDEMPOTENT)
    stage.transport.drops_copies = True
    stage.transport.fail(OutcomeUnknown(), arrives=True)

    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.sees(SENTENCE.strip() + CURSOR)
        await stage.until(lambda: len(stage.transport.of("send")) == 2)
        await stage.quiet()
        assert await stage.live.take_over(KEY) == ["m1"]

    stage.play(scene)
    assert len(stage.transport.texts) == 1


# B075: what a group may get in a minute is not spent on progress.
@pytest.mark.proves("D9")
def test_a_preview_leaves_room_for_what_is_owed(stage) -> None:
    stage.rates = Rates(private=Rate(8, 60.0))

    async def scene(stage) -> None:
        for length in range(1, 30):
            stage.say(SENTENCE * length)
            await stage.quiet()

    stage.play(scene)
    assert len(stage.transport.calls) == 6  # of eight, a quarter is kept


@pytest.mark.proves("D9")
def test_a_chat_that_must_wait_gets_no_preview(stage) -> None:
    stage.transport.fail(RateLimited(retry_after=60))

    async def scene(stage) -> None:
        stage.say(SENTENCE, key="t1.0")
        await stage.until(lambda: bool(stage.transport.calls))
        stage.say(SENTENCE, key="t2.0")
        await stage.quiet()

    stage.play(scene)
    assert len(stage.transport.calls) == 1


@pytest.mark.proves("D13")
def test_nothing_is_shown_once_the_final_has_taken_over(stage) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.screen))
        assert await stage.live.take_over(KEY) == ["m1"]
        stage.say(SENTENCE * 9, epoch=7)
        await stage.quiet()

    stage.play(scene)
    assert len(stage.transport.calls) == 1


def test_a_final_that_comes_before_the_first_preview_finds_none(stage) -> None:
    async def scene(stage) -> None:
        stage.say("short")
        assert await stage.live.take_over(KEY) == []
        stage.say(SENTENCE * 9)
        await stage.quiet()

    stage.play(scene)
    assert stage.transport.calls == []


def test_a_final_waits_for_the_preview_under_way_so_that_nothing_comes_after_it(stage) -> None:
    async def slowly(call) -> None:
        await asyncio.sleep(0.1)

    async def scene(stage) -> None:
        stage.transport.before = slowly
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.calls))
        assert await stage.live.take_over(KEY) == ["m1"]

    stage.play(scene)


def test_a_final_does_not_wait_for_a_preview_that_only_waits_its_turn(stage) -> None:
    async def scene(stage) -> None:
        while stage.live._budget.take(asyncio.get_running_loop().time()):
            pass
        stage.say(SENTENCE)
        stage.live._live[KEY].pace.interval = 3600.0
        await asyncio.sleep(0)
        await asyncio.wait_for(stage.live.take_over(KEY), 5)

    stage.play(scene)
    assert stage.transport.calls == []


@pytest.mark.proves("D13")
def test_words_of_a_replaced_execution_are_not_shown(stage) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE, epoch=2)
        await stage.until(lambda: bool(stage.transport.screen))
        stage.say("old " * 50, epoch=1)
        await stage.quiet()
        stage.say(SENTENCE * 2, epoch=2)
        await stage.sees((SENTENCE * 2).strip() + CURSOR)

    stage.play(scene)
    assert not any("old" in call.text for call in stage.transport.calls)


def left_behind(stage) -> None:
    """An earlier process showed a preview and was killed."""
    stage.transport.show("This is" + CURSOR, DM)
    preview_rows.store(KEY, "telegram", DM, ["m1"], stage.desk.clock())


def test_after_a_restart_the_same_message_goes_on(stage) -> None:
    left_behind(stage)

    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.sees(SENTENCE.strip() + CURSOR)

    stage.play(scene)
    assert stage.transport.of("send") == []


def test_after_a_restart_a_final_still_finds_the_message(stage) -> None:
    left_behind(stage)

    async def scene(stage) -> None:
        assert await stage.live.take_over(KEY) == ["m1"]

    stage.play(scene)


def test_after_a_restart_a_final_finds_it_though_the_stream_has_only_just_gone_on(stage) -> None:
    left_behind(stage)

    async def scene(stage) -> None:
        stage.say("short")
        assert await stage.live.take_over(KEY) == ["m1"]

    stage.play(scene)


def test_a_stopped_answer_says_so_and_loses_its_cursor(stage) -> None:
    async def scene(stage) -> None:
        stage.say(SENTENCE)
        await stage.until(lambda: bool(stage.transport.screen))
        await stage.live.discard(KEY, "⏹ Stopped")
        stage.say(SENTENCE * 9)
        await stage.quiet()

    stage.play(scene)
    assert stage.transport.texts == [f"{SENTENCE.strip()}\n\n⏹ Stopped"]


def test_a_stop_before_anything_was_shown_shows_nothing(stage) -> None:
    async def scene(stage) -> None:
        stage.say("short")
        await stage.live.discard(KEY, "⏹ Stopped")
        await stage.quiet()

    stage.play(scene)
    assert stage.transport.calls == []


def test_several_streams_do_not_mix(stage) -> None:
    async def scene(stage) -> None:
        stage.say("First. " * 9, key="t1.0")
        stage.say("Second. " * 9, key="t2.0")
        await stage.until(lambda: len(stage.transport.texts) == 2)

    stage.play(scene)
    assert {text[:5] for text in stage.transport.texts} == {"First", "Secon"}
    assert Preview.objects.count() == 2


def test_ended_streams_are_not_remembered_for_ever(stage, monkeypatch) -> None:
    monkeypatch.setattr(previews, "REMEMBERED", 5)

    async def scene(stage) -> None:
        for number in range(20):
            await stage.live.take_over(f"t{number}.0")
        assert len(stage.live._ended) == 5

    stage.play(scene)
