"""Schedules as people write them, and what becomes of words that are none."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.errors import BadSchedule
from gateway.schedules.recurrence import Cron, Every, Once, next_instant
from gateway.schedules.saying import EXAMPLES, Said, read

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)  # a Monday


def said(text: str, zone: str = "Europe/Berlin") -> Said:
    return read(text, zone=zone, now=NOW)


def once(text: str) -> Once:
    return Once(datetime.fromisoformat(text).astimezone(UTC))


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("every 2h", Every(timedelta(hours=2), NOW)),
        ("every 15 minutes", Every(timedelta(minutes=15), NOW)),
        ("Every 90 min", Every(timedelta(minutes=90), NOW)),
        ("each hour", Every(timedelta(hours=1), NOW)),
        ("every 3 days", Every(timedelta(days=3), NOW)),
        ("every 2 weeks", Every(timedelta(days=14), NOW)),
        ("daily at 9:00", Cron("0 9 * * *", "Europe/Berlin")),
        ("every day at 9", Cron("0 9 * * *", "Europe/Berlin")),
        ("weekdays at 8:30 America/New_York", Cron("30 8 * * 1-5", "America/New_York")),
        ("every weekday at 8:30 UTC", Cron("30 8 * * 1-5", "UTC")),
        ("weekends at noon", Cron("0 12 * * 0,6", "Europe/Berlin")),
        ("every monday and friday at 18:00", Cron("0 18 * * 1,5", "Europe/Berlin")),
        ("on tue, wednesday and thurs at 6 pm", Cron("0 18 * * 2,3,4", "Europe/Berlin")),
        ("Sundays at midnight", Cron("0 0 * * 0", "Europe/Berlin")),
        ("30 8 * * 1-5", Cron("30 8 * * 1-5", "Europe/Berlin")),
        ("`30 8 1,15 jan-mar mon`", Cron("30 8 1,15 JAN-MAR MON", "Europe/Berlin")),
        ("'0 12 * * 5#3'", Cron("0 12 * * 5#3", "Europe/Berlin")),
        ("0 12 L * *", Cron("0 12 L * *", "Europe/Berlin")),
        ("@weekly", Cron("0 0 * * 0", "Europe/Berlin")),
        ("in 20 minutes", once("2026-11-30T12:20+00:00")),
        ("in 45 s", once("2026-11-30T12:00:45+00:00")),
        ("in an hour", None),
        ("at 18:30", once("2026-11-30T18:30+01:00")),
        ("at 9am", once("2026-12-01T09:00+01:00")),
        ("at 12 am", once("2026-12-01T00:00+01:00")),
        ("today at 12:59", None),
        ("tomorrow at 9:00 Asia/Tehran", once("2026-12-01T09:00+03:30")),
        ("2026-12-24 18:00", once("2026-12-24T18:00+01:00")),
        ("on 2026-12-24 at 6 pm UTC", once("2026-12-24T18:00+00:00")),
        ("2026-12-24T18:00", once("2026-12-24T18:00+01:00")),
        ("2027-03-28 02:30", once("2027-03-28T03:00+02:00")),  # left out there
    ],
)
def test_a_time_is_read_as_it_is_meant(text, schedule):
    if schedule is None:
        with pytest.raises(BadSchedule):
            said(f"{text} tea")
    else:
        assert said(f"{text} tea") == Said(schedule, "tea")


@pytest.mark.parametrize("between", [" ", ": ", ", ", " – ", "\n", ":\n\n", " - "])
def test_what_is_to_be_done_follows_however_it_is_set_off(between):
    assert said(f"every 2h{between}look at *the* mail").words == "look at *the* mail"


def test_what_is_to_be_done_keeps_its_lines():
    assert said("daily at 9:00: first\n\n- second").words == "first\n\n- second"


def test_options_stand_before_the_time():
    read_ = said('--to ops --name "Morning news" --tz=Asia/Tehran —model big daily at 7:00 sum up')

    assert read_ == Said(
        Cron("0 7 * * *", "Asia/Tehran"),
        "sum up",
        {"to": "ops", "name": "Morning news", "tz": "Asia/Tehran", "model": "big"},
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "cannot find a time"),
        ("look at the mail", "every 2h"),
        ("9:00 look", "cannot find a time"),
        ("every day look", "at what time"),
        ("every week look", "at what time"),
        ("every 5 days at 9:00 look", "keeps no time of day"),
        ("every 30 seconds look", "every minute at most"),
        ("every 0 hours look", "every minute at most"),
        ("every 400 days look", "once a year at least"),
        ("in 999999 weeks look", "ten years"),
        ("at 24:00 look", "no such time"),
        ("at 9:60 look", "no such time"),
        ("at 13 pm look", "no such time"),
        ("at 0 am look", "no such time"),
        ("2026-02-30 9:00 look", "no day"),
        ("2026-11-30 9:00 look", "never comes due"),
        ("today at 9:00 look", "never comes due"),
        ("0 0 30 2 * look", "day-of-month"),
        ("60 * * * * look", "minute"),
        ("daily at 9:00 Europe/Berlni look", "Europe/Berlni"),
        ("--tz Mars/Olympus daily at 9:00 look", "Mars/Olympus"),
        ("--colour red daily at 9:00 look", "no option"),
    ],
)
def test_what_names_no_time_is_refused_with_what_to_say(text, why):
    with pytest.raises(BadSchedule, match=why):
        said(text)


@pytest.mark.parametrize("example_", EXAMPLES)
def test_every_example_that_people_are_shown_is_understood(example_):
    assert said(f"{example_} tea").words == "tea"


words = st.text(st.sampled_from("every 0123456789:*/,-@amondsh2h in atUTC\n—\"'"), max_size=60)


@given(st.one_of(st.text(max_size=60), words))
@example("every " + "9" * 6 + "w x")
@example("0 0 * * L x")
@example("at 9:00 \x00/\x00 x")
@example("--to")
def test_whatever_is_said_is_a_schedule_that_comes_due_or_refused(text):
    try:
        found = said(text)
    except BadSchedule:
        return

    assert next_instant(found.schedule, NOW) > NOW
