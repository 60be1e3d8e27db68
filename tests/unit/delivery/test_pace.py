"""When a growing answer is shown next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.previews import (
    FIRST_AFTER,
    FIRST_LENGTH,
    GROWTH,
    LONGEST_INTERVAL,
    STRIKES,
    Pace,
)


@pytest.fixture
def pace() -> Pace:
    return Pace(interval=1.0, started_at=100.0)


def test_a_few_characters_are_not_worth_a_message(pace: Pace) -> None:
    assert pace.next_at(FIRST_LENGTH - 1) is None


def test_the_first_preview_waits_for_a_quick_answer_to_end(pace: Pace) -> None:
    assert pace.next_at(FIRST_LENGTH) == 100.0 + FIRST_AFTER


def test_a_little_growth_is_not_worth_an_edit(pace: Pace) -> None:
    pace.shown(50, 101.0)
    assert pace.next_at(50 + GROWTH - 1) is None


def test_growth_is_shown_no_earlier_than_the_interval_allows(pace: Pace) -> None:
    pace.shown(50, 101.0)
    assert pace.next_at(50 + GROWTH) == 102.0


def test_a_complaint_doubles_the_interval(pace: Pace) -> None:
    pace.shown(50, 101.0)
    pace.complained(102.0, 0.0)
    assert pace.interval == 2.0


def test_a_complaint_is_waited_out(pace: Pace) -> None:
    pace.shown(50, 101.0)
    pace.complained(102.0, 30.0)
    assert pace.next_at(500) == 132.0


def test_a_complaint_about_the_very_first_message_is_waited_out_too(pace: Pace) -> None:
    pace.complained(101.0, 30.0)
    assert pace.next_at(500) == 131.0


def test_after_three_complaints_nothing_more_is_shown(pace: Pace) -> None:
    for at in (101.0, 102.0, 103.0):
        pace.complained(at, 0.0)
    assert pace.has_given_up
    assert pace.next_at(5000) is None


@given(
    complaints=st.lists(
        st.tuples(st.floats(100, 10_000), st.floats(0, 1000)), min_size=1, max_size=STRIKES - 1
    )
)
def test_nothing_is_ever_shown_before_a_wait_is_over(complaints) -> None:
    pace = Pace(interval=1.0, started_at=100.0)
    latest = 0.0
    for at, retry_after in sorted(complaints):
        pace.complained(at, retry_after)
        latest = max(latest, at + retry_after)
    due = pace.next_at(10_000)
    assert due is not None
    assert due >= latest - 1e-6
    assert pace.interval <= LONGEST_INTERVAL


# --- B084: a hundred pieces in ten seconds, on a platform that takes one edit a second


class Strict:
    """Takes one call a second, none before it says so, and asks those who come too early to wait.

    Args:
        opens_at: Nothing passes before.
        retry_after: What it asks for, in seconds.
    """

    def __init__(self, opens_at: float = 0.0, retry_after: float = 1.0) -> None:
        self.opens_at, self.retry_after = opens_at, retry_after
        self.taken: list[float] = []
        self.refused: list[float] = []

    def takes(self, at: float) -> bool:
        early = at < self.opens_at or (self.taken and at < self.taken[-1] + 1.0)
        (self.refused if early else self.taken).append(at)
        return not early


def stream(pace: Pace, platform: Strict) -> None:
    """Ten characters each tenth of a second."""
    for number in range(1, 101):
        at, length = number / 10, number * 10
        due = pace.next_at(length)
        if due is None or due > at:
            continue
        if platform.takes(at):
            pace.shown(length, at)
        else:
            pace.complained(at, platform.retry_after)


@pytest.mark.proves("D13")
def test_an_interval_that_is_too_short_grows_until_the_platform_is_content() -> None:
    pace, platform = Pace(interval=0.3, started_at=0.0), Strict()
    stream(pace, platform)
    assert len(platform.refused) < STRIKES
    assert pace.interval >= 1.0
    assert 5 <= len(platform.taken) <= 11


@pytest.mark.proves("D13")
def test_edits_go_on_once_the_platform_has_recovered() -> None:
    pace, platform = Pace(interval=1.0, started_at=0.0), Strict(opens_at=3.0, retry_after=2.5)
    stream(pace, platform)
    assert len(platform.refused) == 1
    assert platform.taken[0] >= 3.0
    assert len(platform.taken) >= 2


@pytest.mark.proves("D13")
def test_a_platform_that_stays_in_trouble_is_left_in_peace_after_three_complaints() -> None:
    pace, platform = Pace(interval=0.3, started_at=0.0), Strict(opens_at=100.0, retry_after=0.0)
    stream(pace, platform)
    assert len(platform.refused) == STRIKES
    assert pace.has_given_up


@given(st.integers(1, 10**6), st.lists(st.floats(0, 60), max_size=2))
def test_no_interval_is_longer_than_the_longest(length, waits) -> None:
    pace = Pace(interval=1.0, started_at=0.0)
    for wait in waits:
        pace.complained(1.0, wait)
    assert pace.interval <= LONGEST_INTERVAL
    assert pace.next_at(length) is None or not pace.has_given_up
