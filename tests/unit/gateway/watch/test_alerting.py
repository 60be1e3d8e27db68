"""[O1]: once for each incident, once that it is over, and no storm."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.watch import alerting
from gateway.watch.alerting import MOST_AN_HOUR, MOST_AT_ONCE, Standing, Telling, Word

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
pytestmark = pytest.mark.proves("O1")


def one(**facts) -> Standing:
    usual = {
        "pk": 1,
        "severity": "error",
        "says": "It is broken.",
        "fix": "Mend it.",
        "began_at": NOW - timedelta(minutes=5),
        "seen_at": NOW,
    }
    return Standing(**(usual | facts))


def words(*standings: Standing) -> list[Word]:
    return [telling.word for telling in alerting.due(standings, now=NOW)]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, [Word.RAISED]),
        ({"began_at": NOW - timedelta(seconds=29)}, []),
        ({"told": "error"}, []),
        ({"told": "warning"}, [Word.WORSE]),
        ({"told": "error", "severity": "warning"}, []),
        ({"told": "error", "seen_at": NOW - timedelta(seconds=60)}, []),
        ({"told": "error", "seen_at": NOW - timedelta(minutes=3)}, [Word.OVER]),
        ({"seen_at": NOW - timedelta(minutes=3)}, []),  # nobody was told, so nobody need be
    ],
)
def test_what_is_told_of_an_incident(facts, expected) -> None:
    assert words(one(**facts)) == expected


def test_the_worst_comes_first() -> None:
    told = alerting.due([one(pk=1, severity="warning"), one(pk=2)], now=NOW)

    assert [telling.standing.pk for telling in told] == [2, 1]


def test_an_alert_says_what_since_when_what_to_do_and_where_to_look() -> None:
    raised = Telling(Word.RAISED, one(since="2026-03-01 11:55 UTC"))
    text = alerting.message(raised, "https://x.example/health/")

    assert text == (
        "**Error:** It is broken. (since 2026-03-01 11:55 UTC)\n\nMend it.\n\n"
        "https://x.example/health/"
    )
    assert alerting.message(Telling(Word.OVER, one()), "x") == "**Over:** It is broken."


@given(count=st.integers(0, 60), lately=st.integers(0, 60))
def test_no_more_than_a_handful_is_ever_told_one_by_one(count, lately) -> None:
    due = alerting.due([one(pk=number) for number in range(count)], now=NOW)

    chosen = alerting.chosen(due, told_lately=lately)

    assert len(chosen) <= MOST_AT_ONCE
    assert not chosen or len(chosen) + lately <= MOST_AN_HOUR
    assert chosen == due[: len(chosen)]
