"""Which of several messages goes first, after they have waited for a while."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.ageing import LATE, VERY_LATE, rank

pytestmark = pytest.mark.proves("D9")
MOMENT = timedelta(seconds=1)
waits = st.timedeltas(timedelta(0), timedelta(days=1))


@pytest.mark.parametrize(
    ("priority", "waited", "expected"),
    [
        (2, LATE - MOMENT, 2),
        (2, LATE + MOMENT, 1),
        (1, LATE + MOMENT, 1),
        (0, LATE + MOMENT, 0),
        (2, VERY_LATE + MOMENT, 0),
        (1, VERY_LATE + MOMENT, 0),
    ],
)
def test_what_has_waited_goes_as_what_is_more_urgent(priority, waited, expected) -> None:
    assert rank(priority, waited) == expected


@given(st.integers(0, 5), waits, waits)
def test_waiting_never_puts_a_message_back(priority, one, other) -> None:
    assert rank(priority, max(one, other)) <= rank(priority, min(one, other)) <= priority


@given(st.integers(0, 5), st.integers(0, 5), waits)
def test_of_two_that_waited_as_long_the_more_urgent_does_not_go_last(one, other, waited) -> None:
    assert rank(min(one, other), waited) <= rank(max(one, other), waited)
