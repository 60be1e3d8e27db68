"""The limits of an account: what may go now, and what waits for what."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.errors import RateLimited
from delivery.ports import Rate, Rates
from delivery.scheduling import MOST_CHATS, Bucket, Errand, Schedule

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def errand(chat: str = "1", method: str = "send", **facts) -> Errand:
    return Errand(chat=chat, is_private=not chat.startswith("-"), method=method, **facts)


def limited(scope: str, seconds: float = 5) -> RateLimited:
    return RateLimited(retry_after=seconds, scope=scope)


@given(
    calls=st.integers(1, 5),
    window=st.integers(1, 10),
    steps=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=60),
)
def test_no_window_ever_holds_more_than_its_limit(calls, window, steps) -> None:
    bucket, now, passed = Bucket(Rate(calls, float(window))), 0, []
    for pause, takes, counts in steps:
        now += pause
        if bucket.free_at(at(now)) != at(now):
            continue
        bucket.take()
        now += takes
        bucket.end(at(now), counts=counts)
        if counts:
            passed.append(now)  # the latest moment at which the platform may have taken it
    for end in passed:
        assert len([one for one in passed if end - window < one <= end]) <= calls


def test_what_is_under_way_counts_until_it_has_ended() -> None:
    bucket = Bucket(Rate(1, 10.0))
    bucket.take()
    assert bucket.free_at(at(99)) is None
    bucket.end(at(100), counts=True)
    assert bucket.free_at(at(101)) == at(110)


def test_what_was_refused_makes_room_at_once() -> None:
    bucket = Bucket(Rate(1, 10.0))
    bucket.take()
    bucket.end(at(1), counts=False)
    assert bucket.free_at(at(1)) == at(1)


def test_the_longest_word_of_the_platform_holds() -> None:
    bucket = Bucket(None)
    bucket.close(at(9))
    bucket.close(at(3))
    assert bucket.free_at(at(0)) == at(9)


@pytest.mark.proves("D10")
@pytest.mark.parametrize(
    ("scope", "waits", "goes"),
    [
        ("chat", [errand(), errand(method="edit")], [errand("2")]),
        ("account", [errand(), errand("2"), errand("3", "edit")], []),
        ("method", [errand(), errand("2")], [errand(method="edit"), errand("2", "edit")]),
        ("media", [errand("2", is_media=True)], [errand(), errand("2")]),
    ],
)
def test_a_complaint_closes_what_it_names_and_nothing_else(scope, waits, goes) -> None:
    schedule = Schedule(Rates())
    schedule.limited(errand(), limited(scope), NOW)
    assert [schedule.take(one, at(4.9)) for one in waits] == [False] * len(waits)
    assert [schedule.take(one, at(4.9)) for one in goes] == [True] * len(goes)
    assert [schedule.take(one, at(5)) for one in waits] == [True] * len(waits)


@pytest.mark.proves("D9")
def test_what_may_be_dropped_leaves_a_quarter_for_what_is_owed() -> None:
    schedule = Schedule(Rates(group=Rate(20, 60.0)))
    preview = errand("-1", "edit")
    let = [schedule.spare(preview, NOW) for _ in range(20)]
    assert let == [True] * 15 + [False] * 5
    assert [schedule.take(errand("-1"), NOW) for _ in range(6)] == [True] * 5 + [False]


@pytest.mark.proves("D9")
def test_typing_costs_nothing_and_yields_only_to_what_is_closed() -> None:
    schedule = Schedule(Rates(group=Rate(1, 60.0)))
    assert schedule.take(errand("-1"), NOW)
    typing = errand("-1", "typing")
    assert all(schedule.spare(typing, NOW) for _ in range(99))
    schedule.limited(errand("-1"), limited("account"), NOW)
    assert not schedule.spare(typing, NOW)


def test_a_lane_that_must_wait_is_left_alone_until_it_may_go() -> None:
    schedule = Schedule(Rates())
    schedule.limited(errand(), limited("chat"), NOW)
    assert not schedule.take_first("lane 1", errand(), NOW)
    assert schedule.held(at(1)) == ["lane 1"]
    assert schedule.look_at(at(1)) == at(5)
    assert schedule.held(at(5)) == []


def test_a_lane_that_waits_for_one_under_way_is_looked_at_when_that_ends() -> None:
    schedule = Schedule(Rates(private=Rate(1, 0.1)))
    assert schedule.take(errand(), NOW)
    assert not schedule.take_first("lane 1", errand(), NOW)
    assert schedule.held(at(1)) == ["lane 1"]
    assert schedule.waits_for_an_end
    schedule.end(errand(), at(1), counts=True)
    assert schedule.held(at(1)) == []


def test_while_the_account_must_wait_nothing_else_is_waited_for() -> None:
    schedule = Schedule(Rates())
    schedule.limited(errand(), limited("chat", 1), NOW)
    schedule.take_first("lane 1", errand(), NOW)
    schedule.limited(errand(), limited("account", 20), NOW)
    assert schedule.room(at(2)) == 0
    assert schedule.look_at(at(2)) == at(20)


def test_chats_are_not_remembered_for_ever() -> None:
    schedule = Schedule(Rates(private=Rate(1, 1.0)))
    schedule.limited(errand("kept"), limited("chat", 10**6), NOW)
    for number in range(MOST_CHATS * 2):
        one = errand(str(number))
        assert schedule.take(one, at(number * 2))
        schedule.end(one, at(number * 2), counts=True)
    assert len(schedule._chats) <= MOST_CHATS
    assert not schedule.take(errand("kept"), at(9))
