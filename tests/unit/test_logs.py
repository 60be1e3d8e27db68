"""The lines of the log: readable by people, or by programs, with the ids that go with them."""

import json
import logging
import sys

import pytest

from delivery import bearings
from hermes_site.logs import JsonFormatter, LineFormatter
from hermes_site.supervisor.alarms import Alarms


def record(words: str = "It went %s", *args: object, level: int = logging.WARNING, **extra):
    made = logging.getLogger("gateway.x").makeRecord(
        "gateway.x", level, "file.py", 1, words, args, None, extra=extra
    )
    made.created = 1_769_860_800.123
    return made


@pytest.mark.proves("O1")
def test_a_line_of_json_holds_the_sentence_and_its_ids() -> None:
    line = json.loads(JsonFormatter().format(record("It went %s", "wrong", turn=12)))

    assert line == {
        "at": "2026-01-31T12:00:00.123Z",
        "level": "WARNING",
        "logger": "gateway.x",
        "says": "It went wrong",
        "turn": 12,
    }


@pytest.mark.proves("O1")
def test_every_line_inside_a_piece_of_work_carries_its_ids() -> None:
    with bearings.about(account="bot", message="41", turn=None), bearings.about(delivery=7):
        inside = json.loads(JsonFormatter().format(record("Sent")))
        line = LineFormatter().format(record("Sent"))
    outside = json.loads(JsonFormatter().format(record("Sent")))

    ids = {"account": "bot", "message": "41", "delivery": "7"}
    assert {name: inside[name] for name in ids} == ids
    assert "turn" not in inside
    assert line.endswith("Sent account=bot message=41 delivery=7")
    assert not ids.keys() & outside.keys()


def test_what_a_line_says_itself_goes_before_what_is_worked_on() -> None:
    with bearings.about(turn=1):
        assert json.loads(JsonFormatter().format(record("x", turn=2)))["turn"] == 2


def test_a_line_of_json_is_one_line_whatever_is_in_it() -> None:
    try:
        int("two\nlines")
    except ValueError:
        made = record("more\nlines ü", level=logging.ERROR, at="mine", thing=object())
        made.exc_info = sys.exc_info()
    text = JsonFormatter().format(made)

    assert "\n" not in text
    line = json.loads(text)
    assert line["traceback"].startswith("Traceback")
    assert line["at_"] == "mine"
    assert line["says"] == "more\nlines ü"


def test_the_terminal_shows_warnings_of_either_format() -> None:
    shown = Alarms()
    for format_, level in (
        (JsonFormatter(), logging.WARNING),
        (LineFormatter(), logging.ERROR),
    ):
        assert shown.shown(format_.format(record("Bad", level=level)), now=0.0)
    for format_ in (JsonFormatter(), LineFormatter()):
        assert not shown.shown(format_.format(record("Fine", level=logging.INFO)), now=0.0)
