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
