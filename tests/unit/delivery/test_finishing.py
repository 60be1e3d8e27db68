"""Whether an answer is a new message."""

from datetime import UTC, datetime, timedelta

import pytest

from delivery.finishing import comes_anew

SHOWN = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.mark.proves("D13")
@pytest.mark.parametrize(
    ("after", "watched", "anew"),
    [
        (None, timedelta(days=1), False),
        (MINUTE, timedelta(seconds=59), False),
        (MINUTE, MINUTE, True),
        (timedelta(0), timedelta(0), True),
        (timedelta(0), timedelta(seconds=-1), False),  # another host's clock
    ],
)
def test_an_answer_is_a_new_message_where_the_live_one_is_old(after, watched, anew) -> None:
    assert comes_anew(after, shown_at=SHOWN, owed_at=SHOWN + watched) is anew


def test_an_answer_without_a_live_message_takes_no_ones_place() -> None:
    assert not comes_anew(timedelta(0), shown_at=None, owed_at=SHOWN)
