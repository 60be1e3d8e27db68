"""Schedules as people write them: "every 2h", "weekdays at 9:00", "0 9 * * 1-5". Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from gateway.errors import BadSchedule
from gateway.schedules.recurrence import (
    MACROS,
    Cron,
    Every,
    Once,
    Schedule,
    checked,
    instant_of,
    next_instant,
    zone_of,
)

EXAMPLES = (
    "every 2h",
    "every 15 minutes",
    "daily at 9:00",
    "weekdays at 8:30 Europe/Berlin",
    "every monday and friday at 18:00",
    "in 20 minutes",
    "tomorrow at 9:00",
    "2026-12-24 18:00",
    "30 8 * * 1-5",
)
HOW = "Say when and then what, for example: " + "; ".join(f"`{each}`" for each in EXAMPLES) + "."

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
FARTHEST = timedelta(days=3653)
WEEK = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
GROUPS = {"day": "*", "daily": "*", "weekday": "1-5", "weekend": "0,6"}

_END = r"(?=$|[\s,;–—]|:(?!\d)|-(?!\d))"
_UNIT = r"(?P<unit>seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)"
_PERIOD = rf"(?P<number>\d{{1,6}})?\s*{_UNIT}"
_TIME = r"(?P<time>noon|midnight|\d{1,2}(?::\d{2})?\s*(?:am|pm)?)"
_ZONE = r"(?:\s+(?P<zone>(?-i:[A-Z][A-Za-z_]+(?:/[A-Za-z_+\-0-9]+)+|UTC)))?"
_DAY = r"(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:days?)?"
_DAYS = rf"(?P<days>days?|daily|weekdays?|weekends?|{_DAY}(?:(?:\s*,\s*|\s+and\s+){_DAY})*)"
_STAR = r"[\d*/,\-]+"
_WEEKDAY = r"(?:[\d*/,\-L#]|SUN|MON|TUE|WED|THU|FRI|SAT)+"
_FIELDS = rf"(?:{_STAR}\s+){{2}}[\d*/,\-LW]+\s+[\d*/,\-A-Z]+\s+{_WEEKDAY}"
_OPTION = re.compile(
    r"\s*(?:--|[–—])(?P<name>[a-z]+)(?:\s*=\s*|\s+)(?P<value>\"[^\"]*\"|“[^”]*”|\S+)", re.IGNORECASE
)
OPTIONS = ("to", "tz", "name", "model")


@dataclass(frozen=True)
class Said:
    """What somebody wants done, and when.

    Attributes:
        schedule: When.
        words: What: all that was said after the time.
        options: What was said before it as `--name value`.
    """

    schedule: Schedule
    words: str
    options: dict[str, str] = field(default_factory=dict)


def read(text: str, *, zone: str, now: datetime) -> Said:
    """Read options, a time and what is to be done then.

    Args:
        text: As a person wrote it.
        zone: The time zone that counts where none is named.
        now: The present.

    Raises:
        BadSchedule: It names no time, or one that cannot be kept; the message says what can.
    """
    options, rest = _options(text.strip())
    zone = options.get("tz") or zone
    zone_of(zone)
    for pattern, make in _FORMS:
        found = pattern.match(rest)
        if found:
            schedule = checked(make(found, zone, now))
            if next_instant(schedule, now) is None:
                raise BadSchedule(
                    "That never comes due: it lies in the past, or no day is like it."
                )
            return Said(schedule, rest[found.end() :].lstrip(" \n\t`'\":,;–—-").strip(), options)
    raise BadSchedule(f"I cannot find a time in that. {HOW}")


def _options(text: str) -> tuple[dict[str, str], str]:
    options: dict[str, str] = {}
    while found := _OPTION.match(text):
        name = found["name"].lower()
        if name not in OPTIONS:
            known = ", ".join(f"`--{each}`" for each in OPTIONS)
            raise BadSchedule(f"There is no option `--{name}`; there are {known}.")
        options[name] = found["value"].strip('"“”')
        text = text[found.end() :]
    return options, text.lstrip()


def _cron(found: re.Match[str], zone: str, now: datetime) -> Schedule:
    del now
    return Cron(found["cron"].upper() if found["cron"][0] != "@" else found["cron"], zone)


def _every(found: re.Match[str], zone: str, now: datetime) -> Schedule:
    del zone
    period = _period(found)
    if found["time"]:
        raise BadSchedule(
            "What comes every so often is counted from now and keeps no time of day. For one, say"
            " the days: `every monday at 9:00`."
        )
    if found["number"] is None and found["unit"][0] in "dw":
        raise BadSchedule("Say at what time, for example `every day at 9:00`.")
    return Every(period, now)


def _in(found: re.Match[str], zone: str, now: datetime) -> Schedule:
    del zone
    period = _period(found)
    if period > FARTHEST:
        raise BadSchedule("That is too far away: ten years are the most.")
    return Once(now + period)


def _period(found: re.Match[str]) -> timedelta:
    return timedelta(seconds=int(found["number"] or 1) * SECONDS[found["unit"][0].lower()])


def _weekly(found: re.Match[str], zone: str, now: datetime) -> Schedule:
    del now
    at = _time(found["time"])
    return Cron(f"{at.minute} {at.hour} * * {_days(found['days'].lower())}", found["zone"] or zone)


def _days(words: str) -> str:
    group = words if words in GROUPS else words.removesuffix("s")
    if group in GROUPS:
        return GROUPS[group]
    named = re.split(r"\s*,\s*|\s+and\s+", words)
    return ",".join(sorted(str(WEEK.index(day[:3])) for day in set(named)))


def _at(found: re.Match[str], zone: str, now: datetime) -> Schedule:
    place = zone_of(found["zone"] or zone)
    today = now.astimezone(place).date()
    days = 1 if (found["day"] or "").lower() == "tomorrow" else 0
    at = instant_of(datetime.combine(today + timedelta(days=days), _time(found["time"])), place)
    if at <= now and not found["day"]:
        tomorrow = datetime.combine(today + timedelta(days=1), _time(found["time"]))
        at = instant_of(tomorrow, place)
    return Once(at)


def _on(found: re.Match[str], zone: str, now: datetime) -> Schedule:
    del now
    try:
        day = date.fromisoformat(found["date"])
    except ValueError as error:
        raise BadSchedule(f"There is no day {found['date']}.") from error
    wall = datetime.combine(day, _time(found["time"]))
    return Once(instant_of(wall, zone_of(found["zone"] or zone)).astimezone(UTC))


def _time(words: str) -> time:
    """A time of day: "9", "9:30", "9 pm", "noon"."""
    words = words.lower().replace(" ", "")
    named = {"noon": time(12), "midnight": time(0)}
    if words in named:
        return named[words]
    half = words[-2:] if words.endswith(("am", "pm")) else ""
    hour, _, minute = words.removesuffix(half).partition(":")
    hours = int(hour)
    if half:
        if not 1 <= hours <= 12:
            raise BadSchedule(f"There is no such time: {words}.")
        hours = hours % 12 + (12 if half == "pm" else 0)
    try:
        return time(hours, int(minute or 0))
    except ValueError as error:
        raise BadSchedule(f"There is no such time: {words}.") from error


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern + _END, re.IGNORECASE)


_MACRO = "|".join(re.escape(name) for name in MACROS)
_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str, datetime], Schedule]], ...] = (
    (re.compile(rf"[`'\"]?(?P<cron>{_MACRO}|{_FIELDS})(?=$|[\s`'\",:;])", re.IGNORECASE), _cron),
    (_form(rf"(?:every|each)\s+{_DAYS}\s+at\s+{_TIME}{_ZONE}"), _weekly),
    (_form(rf"(?:on\s+)?{_DAYS}\s+at\s+{_TIME}{_ZONE}"), _weekly),
    (_form(rf"(?:every|each)\s+{_PERIOD}(?:\s+at\s+{_TIME})?"), _every),
    (_form(rf"in\s+{_PERIOD}"), _in),
    (_form(rf"(?:(?P<day>today|tomorrow)\s+)?at\s+{_TIME}{_ZONE}"), _at),
    (_form(rf"(?:on\s+)?(?P<date>\d{{4}}-\d{{2}}-\d{{2}})(?:T|\s+(?:at\s+)?){_TIME}{_ZONE}"), _on),
)
