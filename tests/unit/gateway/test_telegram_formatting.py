from typing import Any

import pytest
import regex
from hypothesis import example, given

from delivery.content import Limit, Rendered, Unit
from delivery.ports import Dialect
from delivery.rendering import EMPTY_REPLY
from delivery.splitting import is_visible
from gateway.platforms.telegram.formatting import TelegramDialect, can_link
from tests.peers.telegram import entities as peer
from tests.unit.delivery.writings import (
    HOSTILE_UNITS,
    SAMPLES,
    hostile,
    markdowns,
    small_limits,
    squeezed,
)

TELEGRAM: Dialect = TelegramDialect()
CODE = {"code", "pre"}
Shape = tuple[str, str]


def units(text: str) -> bytes:
    return text.encode("utf-16-le")


def covered(part: Rendered, entity: dict[str, Any]) -> str:
    """What an entity covers; fails to decode if it begins or ends inside a surrogate pair."""
    start, length = entity["offset"] * 2, entity["length"] * 2
    return units(part.text)[start : start + length].decode("utf-16-le")


def shapes(markdown: str) -> list[Shape]:
    (part,) = TELEGRAM.render(markdown)
    check(part, 4096)
    return [(entity["type"], covered(part, entity)) for entity in part.format["entities"]]


def check(part: Rendered, room: int) -> None:
    """The part is one Telegram would take as it stands."""
    assert part.text.strip()
    assert part.plain.strip()
    assert part.length == len(units(part.text)) // 2 <= room
    assert len(units(part.plain)) // 2 <= room
    entities = part.format["entities"]
    peer.check(part.text, entities)
    assert len(entities) <= 100
    assert entities == sorted(entities, key=lambda e: e["offset"])
    open_ends: list[tuple[int, str]] = []
    for entity in entities:
        check_one(part, entity, open_ends)


def check_one(part: Rendered, entity: dict[str, Any], outer: list[tuple[int, str]]) -> None:
    kind, start, end = entity["type"], entity["offset"], entity["offset"] + entity["length"]
    assert 0 <= start < end <= part.length
    words = covered(part, entity)
    assert words.strip()
    # The spaces of code are kept, also where something else begins or ends together with it.
    code = [e for e in part.format["entities"] if e["type"] in CODE]
    begins_in_code = any(e["offset"] == start for e in code)
    ends_in_code = any(e["offset"] + e["length"] == end for e in code)
    assert kind in CODE or begins_in_code or words == words.lstrip()
    assert kind in CODE or ends_in_code or words == words.rstrip()
    while outer and outer[-1][0] <= start:
        outer.pop()
    assert not outer or end <= outer[-1][0]
    around = {name for _end, name in outer}
    assert kind not in around
    assert not around & CODE
    assert kind not in CODE or around <= {"blockquote"}
    assert kind != "text_link" or can_link(entity["url"])
    outer.append((end, kind))


@pytest.mark.proves("D14")
@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("***bold italic***", [("italic", "bold italic"), ("bold", "bold italic")]),
        ("**bold *italic* text**", [("bold", "bold italic text"), ("italic", "italic")]),
        ("**bold\ntext**", [("bold", "bold\ntext")]),
        ("a * b * c", []),
        ("****", []),
        ("a**b", []),
        ("**a _b** c_", [("bold", "a _b")]),
        ("__a *b__ c*", [("bold", "a *b")]),
        ("~~s~~ `c`", [("strikethrough", "s"), ("code", "c")]),
        ("**b `c` d**", [("bold", "b"), ("code", "c"), ("bold", "d")]),
        ("**`c`**", [("code", "c")]),
        ("# T **b** *i*", [("bold", "T b i"), ("italic", "i")]),
        ("[`x` y](https://a.b)", [("text_link", "x y")]),
        ("**👍🏽 b** 👨 *i*", [("bold", "👍🏽 b"), ("italic", "i")]),
        ("> a\n> > b\n>\n> c\n\nd", [("blockquote", "a\n\n> b\n\nc")]),
        ("> a\n\n> b", [("blockquote", "a"), ("blockquote", "b")]),
        ("> ```\n>   x\n> ```", [("blockquote", "  x"), ("pre", "  x")]),
        ("- Foo:\n  ```\n    Bar\n  ```", [("pre", "  Bar")]),
        ("|a|b|\n|-|-|\n|`x`|**y**|", [("pre", "a | b\n--+--\nx | y")]),
        ("![cat](https://a.b/c.png)", [("text_link", "cat")]),
        ("` ` `` ` ``", [("code", "`")]),
        ("`@everyone` @here", [("code", "@everyone")]),
    ],
)
def test_markdown_becomes_entities(markdown, expected):
    assert shapes(markdown) == expected


def test_four_stars_are_four_stars():
    (part,) = TELEGRAM.render("****")

    assert part.text == "****"


def test_a_code_block_names_its_language():
    (part,) = TELEGRAM.render("```py title\nx\n```\n\n```<b>\ny\n```")

    languages = [entity.get("language") for entity in part.format["entities"]]
    assert languages == ["py", None]


@pytest.mark.parametrize(
    ("target", "is_followed"),
    [
        ("https://ex.com/a", True),
        ("HTTP://ex.com", True),
        ("mailto:a@b.co", True),
        ("tg://user?id=1", True),
        ("javascript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("/relative", False),
        ("https://", False),
        ("https://[broken", False),
        ("mailto:", False),
    ],
)
def test_a_link_is_made_only_where_telegram_follows_it(target, is_followed):
    (part,) = TELEGRAM.render(f"[words](<{target}>)")

    assert can_link(target) is is_followed
    assert bool(part.format["entities"]) is is_followed
    assert part.plain == f"words ({target})"
    assert part.text == ("words" if is_followed else f"words ({target})")


def test_a_number_keeps_its_dot_and_an_indented_first_line_its_indentation():
    dialect = TelegramDialect(Limit(24, Unit.UTF16))

    first, second = dialect.render("1. number one\n   - first\n   - second of them")

    assert first.text == "1. number one\n   • first"
    assert second.text == "\u00a0\u00a0\u00a0• second of them"


def test_cut_code_is_code_in_every_part():
    code = "\n".join(f"    v{i} = calc({i})" for i in range(600))

    parts = TELEGRAM.render(f"Module:\n```py\n{code}\n```\nDone.")

    entities = [(part, entity) for part in parts for entity in part.format["entities"]]
    assert "".join(covered(part, entity) for part, entity in entities) == code
    assert {entity["language"] for _part, entity in entities} == {"py"}
    assert len(parts) == len(entities) == 4


def test_cut_bold_is_bold_in_every_part():
    parts = TelegramDialect(Limit(50, Unit.UTF16)).render("**" + "word " * 30 + "end**")

    for part in parts:
        check(part, 50)
        assert [e["type"] for e in part.format["entities"]] == ["bold"]
        assert part.format["entities"][0]["length"] == part.length


@pytest.mark.parametrize(("size", "count"), [(4096, 1), (4097, 2), (8192, 2), (8193, 3)])
def test_long_words_give_no_part_too_many(size, count):
    text = "x" * size

    assert [p.text for p in TELEGRAM.render(text)] == [
        text[i * 4096 : (i + 1) * 4096] for i in range(count)
    ]


def test_dots_need_no_escape():
    assert len(TELEGRAM.render("." * 4000)) == 1


def test_links_beyond_the_hundredth_go_into_another_part():
    markdown = "\n".join(f"- [l{i}](https://ex.com/{i}) **b**" for i in range(150))

    parts = TELEGRAM.render(markdown)

    links = [e["url"] for p in parts for e in p.format["entities"] if e["type"] == "text_link"]
    assert links == [f"https://ex.com/{i}" for i in range(150)]
    assert squeezed("".join(p.text for p in parts)).count("•") == 150
    for part in parts:
        check(part, 4096)


def test_looks_beyond_the_hundredth_entity_are_dropped_and_no_words():
    (part,) = TELEGRAM.render(" ".join(f"**b{i}** `c{i}` [l](http://a.b)" for i in range(60)))

    check(part, 4096)
    kinds = [entity["type"] for entity in part.format["entities"]]
    assert (kinds.count("text_link"), kinds.count("code"), kinds.count("bold")) == (60, 40, 0)
    assert "b59 c59 l" in part.text


def test_the_plain_text_fits_even_if_the_targets_do_not():
    (part,) = TELEGRAM.render("w" * 4000 + f" [a](https://ex.com/{'x' * 90}) [b](http://a.b)")

    check(part, 4096)
    assert part.plain.endswith(" a b (http://a.b)")


def test_a_marker_is_a_first_line_and_entities_move_along():
    (part,) = TELEGRAM.render("**bold** 👍🏽 `code`", reserve=100)

    marked = TELEGRAM.mark(part, "♻️ 👍🏽 again")

    check(marked, 4096)
    assert marked.text == "♻️ 👍🏽 again\n" + part.text
    assert marked.plain == "♻️ 👍🏽 again\n" + part.plain
    assert [covered(marked, e) for e in marked.format["entities"]] == ["bold", "code"]


def test_an_empty_answer_says_so():
    (part,) = TELEGRAM.render("\u200b\n\n```\n```")

    assert (part.text, part.format) == (EMPTY_REPLY, {"entities": []})


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("size", [4096, 40])
def test_a_sample_gives_parts_telegram_takes(sample, size):
    for part in TelegramDialect(Limit(size, Unit.UTF16)).render(sample, reserve=4):
        check(part, size - 4)


@given(markdowns, small_limits)
@example(">`- [ ] `", 100)
def test_any_markdown_gives_parts_telegram_takes(markdown, size):
    parts = TelegramDialect(Limit(size, Unit.UTF16)).render(markdown, reserve=3)

    for part in parts:
        check(part, size - 3)


@pytest.mark.proves("D14")
@given(markdowns, small_limits)
def test_any_markdown_keeps_its_words_and_clusters(markdown, size):
    (whole,) = TelegramDialect(Limit(1_000_000, Unit.UTF16)).render(markdown)

    parts = TelegramDialect(Limit(size, Unit.UTF16)).render(markdown)

    if "|" not in markdown and ">" not in markdown:
        joined = [c for p in parts for c in regex.findall(r"\X", p.text) if is_visible(c)]
        assert joined == [c for c in regex.findall(r"\X", whole.text) if is_visible(c)]


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_hostile_repetitions_give_parts_telegram_takes(unit):
    for part in TELEGRAM.render(hostile(unit, 4500)):
        check(part, 4096)


@pytest.mark.proves("D15")
@pytest.mark.full
@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_a_hundred_kilobytes_of_anything_are_rendered(unit):
    parts = TELEGRAM.render(hostile(unit, 100_000))

    assert all(part.length <= 4096 for part in parts)
