"""Rendering and splitting take linear work, told by counting and not by a clock ([D15]).

Every call of a function, ours, the parser's or the interpreter's, is counted. What is twice as
long may take little more than twice the calls: a document that comes apart by halves takes a
logarithm more.
"""

import sys
from collections.abc import Callable

import pytest

from delivery.content import Limit
from delivery.dialects import DIALECTS
from delivery.layout import Look, lay_out
from delivery.markdown import parse
from delivery.ports import Dialect
from delivery.splitting import Scale, pack
from gateway.platforms.console.formatting import ConsoleDialect
from gateway.platforms.telegram.formatting import TelegramDialect
from tests.unit.delivery.writings import FAMILY, hostile

SIZE = 2000
UNITS = [
    *("[", "![", "*a ", "**a", "_", "```\n", "~~", "😀", FAMILY, "e\u0301", "x", "a. ", "words "),
    *(
        "> a\n",
        "- a\n",
        "1. a\n",
        "|a|\n|-|\n",
        "|a",
        "[a](",
        "[a](b) ",
        "[a]: b\n",
        "<",
        "&",
        "\\",
    ),
    *("$", "$$a", "https://e.co/_*", "`a``", "\n", "汉。", "> - a\n"),
]


def small(name: str) -> Dialect:
    """The dialect with a limit at which a hostile text comes to many parts."""
    own = {"telegram": TelegramDialect, "console": ConsoleDialect}
    if name in own:
        return own[name](Limit(300, own[name]().limit.unit))
    return DIALECTS[name](Limit(300, DIALECTS[name](None).limit.unit))


def calls_of(work: Callable[[], object]) -> int:
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.proves("D15")
@pytest.mark.parametrize("name", ["telegram", "console", "plain", "discord", "mattermost"])
@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_takes_twice_the_calls(name, unit):
    dialect = small(name)
    dialect.render(hostile(unit, 100))  # what is compiled once is compiled now
    text = unit * (SIZE // len(unit))

    once = calls_of(lambda: dialect.render(text))
    twice = calls_of(lambda: dialect.render(text * 2))

    assert twice <= 2.5 * once + 1000


@pytest.mark.proves("D15")
@pytest.mark.parametrize("unit", UNITS)
def test_no_character_is_measured_more_than_a_few_times_a_part(unit):
    measured = 0

    def counting(text: str) -> int:
        nonlocal measured
        measured += len(text)
        return len(text)

    text = hostile(unit, 20_000)
    segments = lay_out(parse(text), Look(can_link=lambda _target: False, has_quotes=False))
    pack(segments, 1000, Scale(counting))

    # The end of each part is searched for by halving, a logarithm of its length.
    laid_out = sum(len(span.text) for segment in segments for span in segment.spans)
    assert measured <= 25 * (laid_out + 1000)


@pytest.mark.proves("D15")
@pytest.mark.full
@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("unit", UNITS)
def test_a_hundred_kilobytes_of_anything_fit(name, unit):
    dialect = DIALECTS[name](None)

    parts = dialect.render(hostile(unit, 100_000))

    assert all(part.length <= dialect.limit.size for part in parts)
