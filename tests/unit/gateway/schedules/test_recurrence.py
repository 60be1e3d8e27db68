"""[C2]: when a schedule comes due, over a year of changing clocks."""

from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import BadSchedule
from gateway.schedules.recurrence import (
    Cron,
    Every,
    Once,
    checked,
    instant_of,
    next_instant,
    zone_of,
)

pytestmark = pytest.mark.proves("C2")

HALF_HOUR = timedelta(minutes=30)
# Each with a year in which its clocks change, some of them at midnight, one by half an hour.
YEARS = {
    "Europe/Berlin": 2026,
    "America/New_York": 2026,
    "Australia/Lord_Howe": 2026,
    "Asia/Tehran": 2021,
    "America/Sao_Paulo": 2018,
    "Africa/Casablanca": 2026,
    "UTC": 2026,
}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def runs(expression: str, zone: str, start: datetime, end: datetime) -> list[datetime]:
    """All instants of a schedule from `start` on and before `end`."""
    found, now = [], start - timedelta(seconds=1)
    schedule = checked(Cron(expression, zone))
    while (now := next_instant(schedule, now)) is not None and now < end:
        found.append(now)
    return found


@cache
def clock(zone: str) -> list[tuple[datetime, datetime]]:
    """Every half hour of a zone's year, with what its clocks show then."""
    start = datetime(YEARS[zone], 1, 1, tzinfo=UTC)
    instants = (start + HALF_HOUR * step for step in range(365 * 48))
    return [(now, now.astimezone(ZoneInfo(zone)).replace(tzinfo=None)) for now in instants]


def by_looking(zone: str, hour: int, minute: int) -> list[datetime]:
    """When a daily job is due, found by watching the clocks: when they first show it or more."""
    due, watched = [], clock(zone)
    days = sorted({shown.date() for _, shown in watched})
    for day in days[1:-1]:
        wanted = datetime.combine(day, time(hour, minute))
        due.append(next(now for now, shown in watched if shown >= wanted and shown.date() >= day))
    return due


@pytest.mark.parametrize("minute", [0, 30])
@pytest.mark.parametrize("hour", [0, 1, 2, 3, 23])
@pytest.mark.parametrize("zone", YEARS)
def test_a_daily_job_runs_once_a_day_all_year_when_its_clocks_first_show_its_time(
    zone, hour, minute
):
    expected = by_looking(zone, hour, minute)

    found = runs(f"{minute} {hour} * * *", zone, expected[0], expected[-1] + HALF_HOUR)

    assert found == expected


@pytest.mark.parametrize("zone", YEARS)
def test_the_clocks_of_each_zone_but_one_change_in_its_year(zone):
    offsets = {now.astimezone(ZoneInfo(zone)).utcoffset() for now, _ in clock(zone)}

    assert (len(offsets) > 1) is (zone != "UTC")


def around_changes(zone: str) -> list[tuple[datetime, datetime]]:
    """From a day before each change of a zone's clocks to a day after it, as (from, until)."""
    watched, day = [now for now, _ in clock(zone)], timedelta(days=1)
    offset = {now: now.astimezone(ZoneInfo(zone)).utcoffset() for now in watched}
    changes = [later for now, later in pairwise(watched) if offset[now] != offset[later]]
    return [(change - day, change + day) for change in changes or watched[48:49]]


@pytest.mark.parametrize("zone", YEARS)
def test_a_job_of_every_half_hour_runs_each_half_hour_that_passes(zone):
    for start, end in around_changes(zone):
        expected = [now for now, _ in clock(zone) if start <= now < end]

        assert runs("*/30 * * * *", zone, start, end) == expected


@pytest.mark.parametrize("zone", YEARS)
def test_every_two_hours_are_two_real_hours_all_year(zone):
    now = start = clock(zone)[0][0]
    schedule = Every(timedelta(hours=2), start)

    for step in range(1, 365 * 12):
        now = next_instant(schedule, now)

        assert now == start + timedelta(hours=2) * step


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        # the offset of the last run does not go on into the season after it
        ("0 9 * * *", "America/Toronto", "2026-03-07T09:00-05:00", "2026-03-08T13:00Z"),
        ("0 9 * * *", "America/Toronto", "2026-10-31T09:00-04:00", "2026-11-01T14:00Z"),
        # in the second of two equal hours the next one is never in the past
        ("*/15 * * * *", "America/Toronto", "2026-11-01T06:30Z", "2026-11-01T06:45Z"),
        ("30 1 * * *", "America/Toronto", "2026-11-01T04:00Z", "2026-11-01T05:30Z"),
        ("30 1 * * *", "America/Toronto", "2026-11-01T05:30Z", "2026-11-02T06:30Z"),
        # whoever asks in the second of two equal hours does not get its time again
        ("30 1 * * *", "America/Toronto", "2026-11-01T06:15Z", "2026-11-02T06:30Z"),
        ("*/15 1 * * *", "America/Toronto", "2026-11-01T05:50Z", "2026-11-02T06:00Z"),
        ("30 2 * * *", "America/Toronto", "2026-03-08T05:00Z", "2026-03-08T07:00Z"),
        ("30 2 * * *", "America/Toronto", "2026-03-08T07:00Z", "2026-03-09T06:30Z"),
        # once after the end of summer time, although the week before it was an hour earlier
        ("0 12 * * 1", "Europe/Amsterdam", "2013-10-21T10:00Z", "2013-10-28T11:00Z"),
        # the zone that is named counts
        ("30 9 * * *", "Europe/Moscow", "2026-06-01T00:00Z", "2026-06-01T06:30Z"),
        ("30 10 * * 1", "Europe/Brussels", "2026-01-05T00:00Z", "2026-01-05T09:30Z"),
        ("30 10 * * 1", "Europe/Brussels", "2026-07-06T00:00Z", "2026-07-06T08:30Z"),
        # after a restart: the next time, neither one that passed nor one too far
        ("0 21 * * *", "America/Sao_Paulo", "2026-04-04T20:12Z", "2026-04-05T00:00Z"),
        ("0 4 * * *", "America/New_York", "2026-02-06T14:59-05:00", "2026-02-07T04:00-05:00"),
        # just after a run: the next day, however far behind the zone is
        ("0 9 * * *", "America/New_York", "2026-05-05T09:00:01-04:00", "2026-05-06T09:00-04:00"),
        # midnight may be what is left out
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", "2018-11-04T03:00Z"),
        ("@monthly", "UTC", "2026-01-31T12:00Z", "2026-02-01T00:00Z"),
        ("0 0 29 2 *", "UTC", "2026-03-01T00:00Z", "2028-02-29T00:00Z"),
        ("0 12 * * 5#3", "UTC", "2026-11-01T00:00Z", "2026-11-20T12:00Z"),
        ("0 12 L * *", "UTC", "2026-02-01T00:00Z", "2026-02-28T12:00Z"),
    ],
)
def test_known_cases_come_due_when_they_should(expression, zone, after, expected):
    schedule = checked(Cron(expression, zone))

    assert next_instant(schedule, at(after)) == at(expected)


def test_a_job_at_several_minutes_of_an_hour_that_is_left_out_runs_once_after_the_gap():
    day = at("2026-03-29T00:00Z")

    found = runs("*/15 2 * * *", "Europe/Berlin", day, day + timedelta(days=1))

    assert found == [at("2026-03-29T01:00Z")]


def test_a_day_that_a_zone_left_out_is_made_up_for_at_its_end():
    found = runs("0 9 * * *", "Pacific/Apia", at("2011-12-29T00:00Z"), at("2012-01-01T00:00Z"))

    # 30 December 2011 was left out there; Samoa went over to the other side of the date line
    assert found == [
        at("2011-12-29T19:00Z"),
        at("2011-12-30T10:00Z"),
        at("2011-12-30T19:00Z"),
        at("2011-12-31T19:00Z"),
    ]


def test_each_minute_of_a_day_that_is_left_out_is_passed_over_by_what_goes_with_real_time():
    before = at("2011-12-30T09:59Z")

    found = next_instant(Cron("* * * * *", "Pacific/Apia"), before)

    assert found == at("2011-12-30T10:00Z")


def test_what_is_due_once_is_due_until_then_and_never_again():
    schedule = Once(at("2026-05-05T05:05Z"))

    assert next_instant(schedule, at("2026-05-05T05:04Z")) == at("2026-05-05T05:05Z")
    assert next_instant(schedule, at("2026-05-05T05:05Z")) is None


@pytest.mark.parametrize(
    ("wall", "expected"),
    [
        ("2026-03-29T02:30", "2026-03-29T01:00Z"),  # left out
        ("2026-10-25T02:30", "2026-10-25T00:30Z"),  # twice
        ("2026-05-05T02:30", "2026-05-05T00:30Z"),
    ],
)
def test_a_time_of_day_is_the_first_instant_that_it_can_be(wall, expected):
    assert instant_of(datetime.fromisoformat(wall), zone_of("Europe/Berlin")) == at(expected)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("", "five fields"),
        ("* * * *", "five fields"),
        ("0 0 * * * *", "five fields"),
        ("60 * * * *", "minute"),
        ("0 24 * * *", "hour"),
        ("0 0 0 * *", "day-of-month"),
        ("0 0 31 2 *", "day-of-month"),
        ("0 0 * 13 *", "month"),
        ("0 0 * * 8", "day-of-week"),
        ("0 0 * * MON-", "day-of-week"),
        ("*/0 * * * *", "minute"),
        ("٣ * * * *", "minute"),
        (f"0 0 {'1,' * 100}1 * *", "at most"),
    ],
)
def test_an_expression_that_can_never_be_kept_is_refused_with_what_is_wrong(expression, why):
    with pytest.raises(BadSchedule, match=why):
        checked(Cron(expression, "UTC"))


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd", "Europe", "\x00"])
def test_a_time_zone_that_is_none_is_refused(zone):
    with pytest.raises(BadSchedule, match="time zone"):
        checked(Cron("0 9 * * *", zone))


@pytest.mark.parametrize("period", [timedelta(0), timedelta(seconds=59), timedelta(days=367)])
def test_a_period_that_is_too_short_or_too_long_is_refused(period):
    with pytest.raises(BadSchedule, match="every minute"):
        checked(Every(period, at("2026-01-01T00:00Z")))


zones = st.sampled_from(
    [*YEARS, "America/Toronto", "Asia/Kathmandu", "Pacific/Apia", "Antarctica/Troll"]
)
instants = st.integers(1_300_000_000, 2_100_000_000).map(
    lambda seconds: datetime.fromtimestamp(seconds, UTC)
)


def numbers(most: int, least: int = 0):
    return st.one_of(
        st.just("*"),
        st.integers(least, most).map(str),
        st.lists(st.integers(least, most), min_size=1, max_size=4).map(
            lambda found: ",".join(map(str, found))
        ),
        st.integers(1, most).map(lambda step: f"*/{step}"),
    )


expressions = st.tuples(numbers(59), numbers(23), numbers(28, 1), numbers(12, 1), numbers(6)).map(
    " ".join
)


@given(expressions, zones, instants)
@settings(max_examples=60, deadline=None)
def test_the_next_run_always_lies_after_the_present_and_the_one_after_it_later(
    expression, zone, now
):
    schedule = checked(Cron(expression, zone))

    first = next_instant(schedule, now)
    second = next_instant(schedule, first)

    assert now < first < second


@given(expressions, st.sampled_from(sorted(YEARS)), st.data())
@settings(max_examples=60, deadline=None)
def test_asking_in_between_changes_nothing_not_even_where_clocks_change(expression, zone, data):
    start, end = data.draw(st.sampled_from(around_changes(zone)))
    schedule, minutes = checked(Cron(expression, zone)), int((end - start).total_seconds()) // 60
    now = start + timedelta(minutes=data.draw(st.integers(0, minutes)))
    first = next_instant(schedule, now)

    between = now + (first - now) * data.draw(st.integers(0, 9)) / 10

    assert next_instant(schedule, between) == first


@given(expressions, zones, instants, st.integers(0, 86_400))
@settings(max_examples=60, deadline=None)
def test_nothing_comes_due_between_the_present_and_the_next_run(expression, zone, now, seconds):
    schedule = checked(Cron(expression, zone))
    first = next_instant(schedule, now)
    between = min(now + timedelta(seconds=seconds), first - timedelta(seconds=1))

    assert next_instant(schedule, max(now, between)) == first


@given(st.integers(0, 59), st.integers(0, 23), zones, instants)
@settings(max_examples=60, deadline=None)
def test_a_daily_job_never_runs_twice_by_the_same_time_of_the_clocks(minute, hour, zone, now):
    schedule = Cron(f"{minute} {hour} * * *", zone)
    found = [now := next_instant(schedule, now) for _ in range(4)]

    shown = [one.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for one in found]

    assert shown == sorted(set(shown))


@given(
    st.timedeltas(timedelta(minutes=1), timedelta(days=30)), instants, st.integers(-(10**8), 10**8)
)
def test_a_period_is_kept_from_its_beginning_whenever_one_asks(period, anchor, offset):
    now = anchor + timedelta(seconds=offset)

    found = next_instant(Every(period, anchor), now)

    assert found > now
    assert found - max(now, anchor) <= period
    assert (found - anchor) % period == timedelta(0)
