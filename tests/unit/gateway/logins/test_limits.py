"""[X1]: how long somebody waits who guesses, and who does not."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.logins import limits
from gateway.logins.limits import FORGOTTEN, LIMITS, Count, Failures

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
pytestmark = pytest.mark.proves("X1")


def failures(**numbers: int) -> dict[Count, Failures]:
    return {count: Failures(numbers.get(count.value, 0), NOW) for count in Count}


def waits(*, is_known: bool = False, after: float = 0.0, **numbers: int) -> float:
    later = NOW + timedelta(seconds=after)
    pause, _ = limits.wait(failures(**numbers), is_known=is_known, now=later)
    return pause.total_seconds()


@pytest.mark.parametrize(
    ("number", "seconds"), [(0, 0), (4, 0), (5, 15), (6, 30), (7, 60), (11, 900), (500, 900)]
)
def test_each_failure_beyond_the_free_ones_doubles_the_wait(number, seconds) -> None:
    assert waits(pair=number) == seconds


def test_a_wait_ends_and_failures_are_forgotten_after_an_hour() -> None:
    assert waits(pair=5, after=15) == 0
    assert waits(pair=50, after=899) == 1
    assert waits(pair=50, name=99, address=999, after=FORGOTTEN.total_seconds()) == 0


def test_whoever_is_at_home_somewhere_is_not_locked_out_by_others() -> None:
    assert waits(name=10_000, address=10_000) == 900
    assert waits(name=10_000, address=10_000, is_known=True) == 0
    assert waits(pair=7, is_known=True) == 60


@given(
    pair=st.integers(0, 10**6), name=st.integers(0, 10**6), address=st.integers(0, 10**6),
    known=st.booleans(), after=st.integers(0, 7200),
)  # fmt: skip
def test_nobody_ever_waits_longer_than_the_longest(pair, name, address, known, after) -> None:
    longest = max(limit.longest.total_seconds() for limit in LIMITS.values())

    paused = waits(pair=pair, name=name, address=address, is_known=known, after=after)
    assert 0 <= paused <= longest


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("::ffff:203.0.113.5", "203.0.113.5"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("", "unknown"),
        ("a.sock", "unknown"),
    ],
)
def test_an_address_is_what_one_customer_has(address, counted_as) -> None:
    assert limits.network(address) == counted_as


@pytest.mark.parametrize(
    ("remote", "forwarded", "who"),
    [
        ("203.0.113.5", "", "203.0.113.5"),
        ("203.0.113.5", "198.51.100.1", "203.0.113.5"),  # said by who is no proxy of ours
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "6.6.6.6, 198.51.100.1", "198.51.100.1"),  # the first is what they claim
        ("10.0.0.7", "6.6.6.6, 198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "198.51.100.1, 10.0.0.7", "198.51.100.1"),
        ("::1", "2001:db8::1", "2001:db8::1"),
        ("127.0.0.1", "nonsense", "nonsense"),
    ],
)
def test_behind_proxies_that_are_believed_the_first_other_is_who_asks(
    remote, forwarded, who
) -> None:
    assert limits.peer(remote, forwarded, proxies=["10.0.0.0/8"]) == who


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, (1, False)), (90, (90, False)), (91, (2, True)), (900, (15, True))]
)
def test_a_wait_is_told_in_seconds_or_whole_minutes(seconds, words) -> None:
    assert limits.in_words(timedelta(seconds=seconds)) == words
