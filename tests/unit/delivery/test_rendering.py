import pytest
from hypothesis import given

from delivery.content import Limit, Rendered, Unit
from delivery.document import Align
from delivery.layout import is_same_target, target_note
from delivery.ports import Dialect
from delivery.rendering import EMPTY_REPLY, PlainDialect
from delivery.widths import display_width, table_lines
from tests.unit.delivery.writings import FAMILY, HOSTILE_UNITS, hostile, markdowns, small_limits

WIDE: Dialect = PlainDialect(Limit(4096, Unit.CHARACTERS))


def plain(markdown: str) -> str:
    (part,) = WIDE.render(markdown)
    return part.text


@pytest.mark.proves("D14")
@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**a _b** c_ ~~d~~ `e`", "a _b c_ d e"),
        ("# Title\ntext", "Title\n\ntext"),
        ("Part 1\n\n---\n\nPart 2", "Part 1\n\n———\n\nPart 2"),
        ("- a\n  - b\n    1. c\n- d", "• a\n  • b\n    1. c\n• d"),
        ("3. x\n4. y", "3. x\n4. y"),
        ("1) a", "1) a"),
        ("2024. was a good year", "2024. was a good year"),
        ("- [ ] open\n- [x] done\n1. [x] third", "☐ open\n☑ done\n\n1. ☑ third"),
        ("- a\n\n  b", "• a\n\n  b"),
        ("-\n- x", "•\n• x"),
        ("1. Foo:\n\n```\n  Bar\n```", "1. Foo:\n\n  Bar"),
        ("1. ```\n   Bar\n   ```", "1.\nBar"),
        ("> a\nb\n> > c", "> a\n> b\n\n> > c"),
        ("[Doc](https://Ex.com/AbC?T=X)", "Doc (https://Ex.com/AbC?T=X)"),
        ("[https://ex.com](https://ex.com/)", "https://ex.com"),
        ("[ex.com/Report](https://ex.com/report)", "ex.com/Report (https://ex.com/report)"),
        ("<a@b.co> [](https://x.y)", "a@b.co https://x.y"),
        ("![cat](c.png) ![](d.png)", "cat (c.png) d.png"),
        ("[![alt](i.png)](https://ex.com)", "alt (https://ex.com)"),
        ("![dot](data:image/png;base64,AAAA)", "dot (data:image/png;base64,…)"),
        ("<b>x</b> &lt;y&gt;", "<b>x</b> <y>"),
        ("| a | 汉字 |\n|--|--:|\n| x | y |", "a | 汉字\n--+-----\nx |    y"),
    ],
)
def test_a_construct_degrades_readably(markdown, text):
    assert plain(markdown) == text


@pytest.mark.parametrize("markdown", ["", " \n\t", "\u200b", "```\n```", "&nbsp;", "#"])
def test_an_answer_nobody_could_see_says_so(markdown):
    assert plain(markdown) == EMPTY_REPLY


def test_the_reserve_is_left_free_and_a_marker_takes_it():
    dialect = PlainDialect(Limit(50, Unit.CHARACTERS))

    parts = dialect.render("words and " * 30, reserve=10)

    assert all(part.length <= 40 for part in parts)
    marked = dialect.mark(parts[0], "♻️ again")
    assert marked.text == marked.plain == "♻️ again\n" + parts[0].text
    assert marked.length == dialect.measure(marked.text) <= 50


def test_a_tiny_limit_still_gives_parts():
    parts = PlainDialect(Limit(1, Unit.UTF16)).render("😀😀 word")

    assert "".join(part.text for part in parts) == "😀😀word"


def test_a_part_survives_being_stored():
    (part,) = WIDE.render("**a**")

    assert Rendered.from_dict(part.as_dict()) == part


@given(markdowns, small_limits)
def test_any_markdown_gives_parts_that_fit(markdown, size):
    dialect = PlainDialect(Limit(size, Unit.BYTES))

    parts = dialect.render(markdown, reserve=5)

    assert parts
    assert all(part.text.strip() for part in parts)
    assert all(len(part.text.encode()) == part.length <= size - 5 for part in parts)


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_hostile_repetitions_give_parts_that_fit(unit):
    parts = PlainDialect(Limit(500, Unit.UTF16)).render(hostile(unit, 2000))

    assert all(0 < part.length <= 500 for part in parts)


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("汉字", 4), ("e\u0301", 1), (FAMILY, 2), ("🇩🇪", 2), ("a\x07\tb", 2), ("", 0)],
)
def test_a_text_is_as_wide_as_a_terminal_shows_it(text, columns):
    assert display_width(text) == columns


def test_columns_are_aligned_by_display_width():
    rows = [["left", "中", "right"], ["a", "mid", "1"], ["汉字汉字", "x", "22"]]

    assert table_lines(rows, [Align.LEFT, Align.CENTER, Align.RIGHT]) == [
        "left     | 中  | right",
        "---------+-----+------",
        "a        | mid |     1",
        "汉字汉字 |  x  |    22",
    ]


def test_one_enormous_cell_does_not_fill_up_the_others():
    lines = table_lines([["a", "b"], ["x" * 5000, "y"]], [Align.LEFT, Align.LEFT])

    assert [len(line) < 60 for line in lines] == [True, True, False]


@pytest.mark.parametrize(
    ("label", "target", "is_same"),
    [
        ("https://ex.com", "https://ex.com/", True),
        ("EX.com", "https://ex.com", True),
        ("ex.com/a", "https://ex.com/a", True),
        ("ex.com/A", "https://ex.com/a", False),
        ("a@b.co", "mailto:a@b.co", True),
        ("ex.com", "ftp://ex.com", False),
        ("docs", "docs", True),
    ],
)
def test_a_target_is_not_said_twice(label, target, is_same):
    assert is_same_target(label, target) is is_same
    assert (target_note(label, target) == "") is is_same
