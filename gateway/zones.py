"""Hours of a day in a time zone, over all changes of the clocks. Pure."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

ONE_DAY = timedelta(days=1)


def is_time_zone(name: str) -> bool:
    """Whether there is such a time zone."""
    return name in available_timezones()


def last_hour(hour: int, zone: ZoneInfo, now: datetime) -> datetime:
    """The last time before or at `now` that it was `hour` o'clock there.

    An hour that a change of the clocks leaves out is the first instant after the gap; one that
    comes twice is the first of the two.

    Args:
        hour: 0 to 23.
        zone: Whose clocks.
        now: Aware.

    Returns:
        In UTC.
    """
    today = now.astimezone(zone).date()
    days = (today + ONE_DAY * offset for offset in (1, 0, -1, -2))
    instants = (_instant(datetime.combine(day, time(hour)), zone) for day in days)
    return next(instant for instant in instants if instant <= now)


def _instant(wall: datetime, zone: ZoneInfo) -> datetime:
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None) == wall:
        return first
    # In a gap. The offset before it carries past it; the one after it falls short of it by as much.
    low, high = wall.replace(tzinfo=zone, fold=1).astimezone(UTC), first
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)
