"""When a schedule comes due: one function, `next_instant`. Pure.

What is decided about the days on which clocks change ([C2]):

* A time that does not exist that day comes due once, at the first instant after the gap.
* A time that exists twice comes due once, at the first of the two.
* An expression that names every hour of the day ("*/15 * * * *") goes with the hours that really
  pass: it comes due in both of two equal hours, and in none that is left out.
* "Every two hours" are two real hours, whatever the clocks on the wall do.

`cronsim` reads the expressions and finds the wall-clock times; what these mean in a time zone is
decided here (docs/decisions/0015-jobs-on-a-tick.md says why).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from gateway.errors import BadSchedule

SHORTEST = timedelta(minutes=1)
LONGEST = timedelta(days=366)
LONGEST_EXPRESSION = 120  # characters
MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
FIELDS = 5
A_DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
# Wall-clock times looked at before an expression counts as one that never comes due again. What is
# in a gap is left out, and the longest gap there was took a day.
MOST_LOOKED_AT = 2000


@dataclass(frozen=True)
class Cron:
    """At the wall-clock times of a cron expression in a time zone.

    Attributes:
        expression: Five fields: minute, hour, day of the month, month, day of the week.
        zone: The name of an IANA time zone.
    """

    expression: str
    zone: str


@dataclass(frozen=True)
class Every:
    """Again and again after so much real time.

    Attributes:
        period: Whole seconds.
        anchor: The instant from which periods are counted; aware. It is not itself due.
    """

    period: timedelta
    anchor: datetime


@dataclass(frozen=True)
class Once:
    """At one instant; aware."""

    at: datetime


Schedule = Cron | Every | Once


def zone_of(name: str) -> ZoneInfo:
    """The time zone of that name.

    Raises:
        BadSchedule: There is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSchedule(
            f"There is no time zone called {name!r}; a name looks like Europe/Berlin."
        ) from error


def checked(schedule: Schedule) -> Schedule:
    """The same schedule, tidied, if it can be kept at all.

    Raises:
        BadSchedule: It cannot; the message says why and what can.
    """
    match schedule:
        case Cron(expression, zone):
            zone_of(zone)
            fields = " ".join(expression.split())
            fields = MACROS.get(fields.lower(), fields)
            _parsed(fields, datetime(2000, 1, 1))  # noqa: DTZ001 - wall-clock time has no zone
            return Cron(fields, zone)
        case Every(period):
            if not SHORTEST <= period <= LONGEST:
                raise BadSchedule(
                    "A job can come due every minute at most, and once a year at least."
                )
        case Once():
            pass
    return schedule


def next_instant(schedule: Schedule, after: datetime) -> datetime | None:
    """When a schedule comes due next.

    Args:
        schedule: As `checked` gave it.
        after: An aware instant; the result lies strictly after it.

    Returns:
        An instant in UTC; None if it never comes due again.

    Raises:
        BadSchedule: The schedule cannot be kept.
    """
    after = after.astimezone(UTC)
    match schedule:
        case Cron():
            return _next_of_cron(schedule, after)
        case Every(period, anchor):
            passed = max(0, (after - anchor) // period)
            return (anchor + (passed + 1) * period).astimezone(UTC)
        case Once(at):
            return at.astimezone(UTC) if at > after else None


def _parsed(expression: str, start: datetime) -> CronSim:
    if len(expression) > LONGEST_EXPRESSION:
        raise BadSchedule(f"A cron expression has at most {LONGEST_EXPRESSION} characters.")
    if len(expression.split()) != FIELDS:
        raise BadSchedule(
            "A cron expression has five fields: minute, hour, day of the month, month, day of the"
            " week. For example `30 8 * * 1-5`."
        )
    try:
        return CronSim(expression, start)
    except CronSimError as error:
        what = str(error).removeprefix("Bad ")
        raise BadSchedule(f"The {what} of `{expression}` is not one that can be.") from error


def _next_of_cron(schedule: Cron, after: datetime) -> datetime | None:
    zone = zone_of(schedule.zone)
    expression = schedule.expression
    is_hourly = _parsed(expression, datetime(2000, 1, 1)).hours == set(range(24))  # noqa: DTZ001
    # Where the clocks are turned back within a day, wall-clock times come again that lie before
    # the present one; only what goes with the real hours comes due in them.
    starts = [_wall(after, zone)]
    if is_hourly and (change := _change_between(after, after + A_DAY, zone)):
        starts.append(_wall(change, zone) - SECOND)
    found = (_first_due(expression, start, zone, after, is_hourly) for start in starts)
    return min(filter(None, found), default=None)


def _first_due(
    expression: str, start: datetime, zone: ZoneInfo, after: datetime, is_hourly: bool
) -> datetime | None:
    """The first instant after `after` at a wall-clock time after `start`."""
    for wall in islice(_times(expression, start), MOST_LOOKED_AT):
        later = [at for at in _instants(wall, zone, is_hourly) if at > after]
        if later:
            return later[0]
    return None


def _times(expression: str, start: datetime) -> Iterator[datetime]:
    """The wall-clock times of an expression after `start`."""
    yield from _parsed(expression, start)


def _wall(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def _instants(wall: datetime, zone: ZoneInfo, is_hourly: bool) -> list[datetime]:
    """When the clocks of a zone show a time, as far as a schedule comes due then."""
    earlier, later = sorted(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if _wall(earlier, zone) == wall:  # it exists, perhaps twice
        return [earlier, later] if is_hourly and later != earlier else [earlier]
    if is_hourly:
        return []
    change = _change_between(earlier, later, zone)
    return [change] if change else []


def _change_between(start: datetime, end: datetime, zone: ZoneInfo) -> datetime | None:
    """The first instant of another offset after `start` and up to `end`; None if it is the same."""
    if _offset(start, zone) == _offset(end, zone):
        return None
    low, high = start.replace(microsecond=0), end.replace(microsecond=0)
    while high - low > SECOND:
        middle = low + (high - low) // 2
        middle = middle.replace(microsecond=0)
        if _offset(middle, zone) == _offset(low, zone):
            low = middle
        else:
            high = middle
    return high


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta | None:
    return instant.astimezone(zone).utcoffset()


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """The instant at which the clocks of a zone first show a time, or first show a later one.

    Args:
        wall: Without a time zone.
        zone: Whose clocks.
    """
    found = _instants(wall, zone, is_hourly=False)
    return found[0] if found else wall.replace(tzinfo=zone).astimezone(UTC)
