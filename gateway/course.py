"""How much was owed, recovered and given up in each of the last hours, for staff."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Count, IntegerField, Q, Value, When
from django.utils import timezone

from delivery.models import OPEN_STATES, Obligation
from delivery.states import State
from gateway import charts
from gateway.charts import Bars

HOURS = 24
HOUR = timedelta(hours=1)
BEFORE = -1  # the number of what happened before the first hour


@dataclass(frozen=True, kw_only=True)
class Hour:
    """What happened in one hour.

    Attributes:
        begins_at: When it began.
        owed: How many messages were owed at its end.
        recovered: How many arrived in it of which nobody had known whether they had arrived.
        given_up: How many were given up in it.
    """

    begins_at: datetime
    owed: int
    recovered: int
    given_up: int


@dataclass(frozen=True)
class Row:
    """One row of the chart: its name, what it says in words, its colour's name, its bars."""

    name: str
    said: str
    colour: str
    bars: Bars


@dataclass(frozen=True, kw_only=True)
class Course:
    """The last day: its rows, when its first hour began and its middle one, by the site's clock."""

    rows: tuple[Row, ...]
    begin: str
    middle: str


def course(*, now: datetime) -> Course:
    """The last day as staff are shown it, in two queries, each over an index."""
    hours = hours_until(now)
    times = [f"{timezone.localtime(hour.begins_at):%H:%M}" for hour in hours]
    owed = charts.bars([hour.owed for hour in hours], times)
    recovered = charts.bars([hour.recovered for hour in hours], times)
    given_up = charts.bars([hour.given_up for hour in hours], times)
    rows = (
        Row("Owed", f"{owed.last} now, at most {owed.highest}", "owed", owed),
        Row("Recovered", f"{recovered.total} in all", "recovered", recovered),
        Row("Given up", f"{given_up.total} in all", "given-up", given_up),
    )
    return Course(rows=rows, begin=times[0], middle=times[HOURS // 2])


def hours_until(now: datetime) -> list[Hour]:
    """The hours of the last day, the oldest first; the last one is still under way."""
    begin = now.replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * HOUR
    # Whatever was recorded within the day is owed still, or was settled within the day.
    settled = Obligation.objects.filter(settled_at__gte=begin).values_list(
        _hour_of("settled_at", begin), _hour_of("created_at", begin)
    )
    counted = settled.annotate(
        count=Count("pk"),
        recovered=Count("pk", filter=Q(state=State.DELIVERED, recoveries__gt=0)),
        given_up=Count("pk", filter=Q(state=State.ABANDONED)),
    ).order_by()
    still = Obligation.objects.filter(state__in=OPEN_STATES)
    open_since = still.values_list(_hour_of("created_at", begin)).annotate(count=Count("pk"))
    owed, recovered, given_up = [0] * HOURS, [0] * HOURS, [0] * HOURS
    for ended, began, count, came_late, lost in counted:
        recovered[ended] += came_late
        given_up[ended] += lost
        for hour in range(max(began, 0), ended):  # at the end of these it was owed
            owed[hour] += count
    for began, count in open_since.order_by():
        for hour in range(max(began, 0), HOURS):
            owed[hour] += count
    return [
        Hour(begins_at=begin + number * HOUR, owed=one, recovered=two, given_up=three)
        for number, (one, two, three) in enumerate(zip(owed, recovered, given_up, strict=True))
    ]


def _hour_of(field: str, begin: datetime) -> Case:
    """The number of the hour that an instant is in, counted from `begin`; `BEFORE` it, -1."""
    steps = [When(**{f"{field}__lt": begin}, then=Value(BEFORE))]
    steps += [
        When(**{f"{field}__lt": begin + (number + 1) * HOUR}, then=Value(number))
        for number in range(HOURS - 1)
    ]
    return Case(*steps, default=Value(HOURS - 1), output_field=IntegerField())
