"""What is set for chats, by plain values: busy modes, resets, pieces, prices, names."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.content import Limit, Unit
from gateway import busy, fragments, matching, prices, resets, zones
from gateway.busy import Open, Plan
from gateway.rules import BusyMode, Histories, Reset, Rules, together

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [
    BERLIN,
    ZoneInfo("America/New_York"),
    ZoneInfo("Asia/Tehran"),
    ZoneInfo("Australia/Lord_Howe"),
]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.proves("S3")
def test_the_more_exact_setting_holds_and_silence_inherits():
    thread = Rules(busy=BusyMode.STEER)
    chat = Rules(busy=BusyMode.COLLECT, model="large", stop_suspends=False)
    account = Rules(model="small", groups=Histories.SHARED, stop_suspends=True)

    found = together([thread, chat, account])

    assert (found.busy, found.model, found.groups) == (BusyMode.STEER, "large", Histories.SHARED)
    assert found.stop_suspends is False
    assert (found.reset, found.threads) == (Reset.NONE, None)


# --- busy


@pytest.mark.proves("T2")
@pytest.mark.parametrize("mode", BusyMode)
def test_where_nothing_is_open_every_mode_begins_a_turn(mode):
    assert busy.plan(mode, [], "7") is Plan.BEGIN


@pytest.mark.proves("T2")
@given(
    st.sampled_from(BusyMode),
    st.lists(st.tuples(st.sampled_from("78"), st.booleans()), min_size=1, max_size=4),
)
def test_nobody_gets_into_the_turn_of_somebody_else(mode, ahead):
    turns = [Open(number, who, number > 0 or queued) for number, (who, queued) in enumerate(ahead)]

    plan = busy.plan(mode, turns, "7")

    touched = {Plan.COLLECT: turns[-1], Plan.STEER: turns[0], Plan.INTERRUPT: turns[0]}.get(plan)
    assert touched is None or touched.sender_id == "7"
    assert plan is not Plan.COLLECT or turns[-1].is_queued
    assert plan not in {Plan.STEER, Plan.INTERRUPT} or not turns[0].is_queued


# --- pieces of one message


@pytest.mark.proves("T2")
@pytest.mark.parametrize(
    ("length", "waits"), [(10, False), (3839, False), (3840, True), (4096, True)]
)
def test_only_what_nearly_fills_a_message_may_go_on(length, waits):
    assert fragments.may_go_on(length, Limit(4096, Unit.UTF16)) is waits


def test_what_was_sent_minutes_later_is_something_else():
    now = at("2026-03-01T12:00")

    assert fragments.belongs(now, now + timedelta(seconds=2))
    assert not fragments.belongs(now, now + timedelta(minutes=2))


# --- resets


@pytest.mark.proves("S4")
@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-03-29T01:30", "2026-03-29T01:00"),  # 02:00 does not exist: the instant after the gap
        ("2026-03-29T00:59", "2026-03-28T01:00"),
        ("2026-10-25T00:30", "2026-10-25T00:00"),  # 02:00 comes twice: the first
        ("2026-10-25T01:30", "2026-10-25T00:00"),
        ("2026-07-01T12:00", "2026-07-01T00:00"),
    ],
)
def test_an_hour_of_the_day_when_the_clocks_change(now, expected):
    assert zones.last_hour(2, BERLIN, at(now)) == at(expected)


@pytest.mark.proves("S4")
@pytest.mark.parametrize("zone", ZONES, ids=str)
@pytest.mark.parametrize("hour", [0, 2, 3, 23])
def test_a_daily_hour_comes_once_on_each_of_a_years_days(zone, hour):
    start = at("2026-01-01T12:00")
    found = {
        zones.last_hour(hour, zone, start + timedelta(minutes=30 * half))
        for half in range(365 * 48)
    }

    days = [instant.astimezone(zone).date() for instant in found]
    assert len(found) in {365, 366}
    assert len(days) == len(set(days))


@pytest.mark.proves("S4")
def test_nothing_is_over_by_the_clock_where_no_reset_is_set():
    long_ago = at("2020-01-01T00:00")

    over = resets.over_by(together([]), last_word=long_ago, now=at("2026-01-01T00:00"), zone=BERLIN)

    assert over is None


# --- names and prices


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("LARGE", "large"),
        ("lar", "large"),
        ("smal", "small"),
        ("smlal", "small"),
        ("x", ""),
        ("", ""),
    ],
)
def test_a_name_is_found_by_its_beginning_and_over_a_slip(said, found):
    assert matching.closest(said, ["small", "large", "larger"][:2]) == found


def test_a_beginning_of_two_names_means_neither_of_them():
    assert matching.closest("la", ["large", "last one of them"]) == ""


@pytest.mark.proves("S4")
def test_tokens_from_a_cache_cost_what_they_cost():
    price = prices.parse("m=2/10/0.5")["m"]

    paid = prices.cost(price, read=1_000_000, cached=400_000, written=100_000)

    assert paid == Decimal("1.2") + Decimal("0.2") + Decimal(1)


@pytest.mark.parametrize("said", ["m", "m=1", "m=1/2/3/4", "=1/2", "m=a/b", "m=1/-2"])
def test_prices_that_cannot_be_read_are_refused_by_name(said):
    with pytest.raises(ValueError, match=r"\S"):
        prices.parse(said)


def test_a_name_with_colons_and_slashes_has_a_price():
    assert "openai:gpt/5" in prices.parse("openai:gpt/5=1/2, small = 0.1/0.2")
