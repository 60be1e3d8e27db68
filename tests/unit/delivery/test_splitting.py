import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from delivery.content import Limit, Unit
from delivery.document import CodeBlock, Heading, Paragraph, Table, Text
from delivery.layout import Look, Segment, Shape, Span, lay_out
from delivery.markdown import parse
from delivery.portions import portions, text_of
from delivery.splitting import Scale, is_visible, measure, pack
from tests.unit.delivery.writings import FAMILY, markdowns, seen, small_limits, squeezed

PLAIN = Look(can_link=lambda _target: False, has_quotes=False)
CHARACTERS = Scale(len)
CLUSTERS = ["e\u0301", FAMILY, "🇩🇪", "👍🏽", "1\ufe0f\u20e3", "क\u094dष\u093f"]


def cut(markdown: str, room: int, scale: Scale = CHARACTERS) -> list[str]:
    parts = pack(lay_out(parse(markdown), PLAIN), room, scale)
    return ["".join(span.text for span in part) for part in parts]


def split_text(text: str, limit: Limit) -> list[str]:
    """Plain text in parts, without any markup around it."""
    scale = Scale(lambda words: measure(words, limit.unit))
    parts = pack([Segment((Span(text),))], limit.size, scale)
    return ["".join(span.text for span in part) for part in parts]


@pytest.mark.parametrize(
    ("unit", "length"), [(Unit.CHARACTERS, 4), (Unit.UTF16, 5), (Unit.BYTES, 10)]
)
def test_a_text_is_measured_in_the_unit_asked_for(unit, length):
    assert measure("aé汉😀", unit) == length


def test_a_lone_surrogate_is_measured_too():
    assert [measure("\udfa9", unit) for unit in Unit] == [1, 1, 3]


@pytest.mark.parametrize(("size", "parts"), [(4096, 1), (4097, 2), (8192, 2), (8193, 3)])
def test_a_text_without_any_break_is_cut_into_full_parts(size, parts):
    text = ("0123456789" * 820)[:size]

    found = split_text(text, Limit(4096, Unit.UTF16))

    assert (len(found), "".join(found)) == (parts, text)


@pytest.mark.parametrize(
    ("text", "parts"), [("😀" * 2049, 2), ("𠀀" * 2049, 2), ("a" * 4095 + "😀", 2)]
)
def test_a_character_of_two_units_is_counted_twice_and_kept_whole(text, parts):
    found = split_text(text, Limit(4096, Unit.UTF16))

    assert (len(found), "".join(found)) == (parts, text)
    assert all(measure(part, Unit.UTF16) <= 4096 for part in found)


@pytest.mark.parametrize(
    ("text", "size"),
    [("汉" * 6827, 20_480), ("汉" * 683, 2048), ("a" + "汉" * 682 + "😀", 2048)],
)
def test_a_limit_in_bytes_never_cuts_a_character(text, size):
    found = split_text(text, Limit(size, Unit.BYTES))

    assert (len(found), "".join(found)) == (2, text)
    assert all(len(part.encode()) <= size for part in found)


@pytest.mark.proves("D15")
@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("room", range(20, 32))
def test_a_cluster_is_never_cut(cluster, room):
    text = cluster * 40

    found = split_text(text, Limit(room, Unit.UTF16))

    assert "".join(found) == text
    assert all(set(regex.findall(r"\X", part)) == {cluster} for part in found)


def test_a_cluster_longer_than_a_part_is_cut_between_code_points():
    text = "e" + "\u0301" * 100

    assert "".join(split_text(text, Limit(30, Unit.UTF16))) == text


def test_a_break_between_paragraphs_comes_before_all_others():
    assert cut("One. Two.\n\nThree. Four.", 20) == ["One. Two.", "Three. Four."]


def test_a_line_end_comes_before_the_end_of_a_sentence():
    assert split_text("aaa bbb\nccc. ddd eee", Limit(14, Unit.CHARACTERS)) == [
        "aaa bbb",
        "ccc. ddd eee",
    ]


def test_the_end_of_a_sentence_comes_before_the_end_of_a_word():
    assert split_text("Some words. And more words", Limit(20, Unit.CHARACTERS)) == [
        "Some words.",
        "And more words",
    ]


def test_a_sentence_ends_without_a_space_in_chinese():
    assert split_text("汉字汉字。汉字汉字", Limit(7, Unit.CHARACTERS)) == ["汉字汉字。", "汉字汉字"]


def test_a_word_is_kept_whole_if_it_fits():
    assert split_text("alpha beta gamma", Limit(12, Unit.CHARACTERS)) == ["alpha beta", "gamma"]


def test_the_words_of_a_link_are_kept_together():
    linked = Look(can_link=lambda _target: True, has_quotes=False)
    segments = lay_out(parse("some words [a link of five words](https://a.b)"), linked)

    parts = pack(segments, 25, CHARACTERS)

    assert ["".join(s.text for s in part) for part in parts] == [
        "some words",
        "a link of five words",
    ]


def test_parts_are_filled_before_the_next_one_is_begun():
    paragraphs = "\n\n".join(["x" * 30] * 9)

    assert [len(part) for part in cut(paragraphs, 100)] == [94, 94, 94]


def test_a_block_that_fits_a_part_is_not_cut():
    code = "\n".join(["line"] * 15)

    assert cut(f"{'w' * 60}\n\n```\n{code}\n```", 80) == ["w" * 60, code]


def test_a_heading_goes_along_with_what_follows_it():
    assert cut(f"{'w' * 60}\n\n# Title\n\n{'v' * 40}", 80) == ["w" * 60, "Title\n\n" + "v" * 40]


def test_code_is_cut_between_lines_and_keeps_every_byte():
    code = "\n".join(f"    v{i} = calc({i})" for i in range(300))

    parts = cut(f"Module:\n```py\n{code}\n```\nDone.", 2000)

    joined = "".join(parts)
    assert joined == f"Module:\n\n{code}\n\nDone."
    assert all(len(part) <= 2000 for part in parts)


def test_code_keeps_its_indentation_over_a_cut():
    entries = "\n".join(f"  key{i}:\n    list:\n      - item {i}\n" for i in range(200))

    assert "".join(cut(f"```yaml\nroot:\n{entries}```", 997)) == f"root:\n{entries}".rstrip()


@pytest.mark.parametrize(
    "markdown",
    [
        "```\n" + "A" * 10_000 + "\n```",
        "```\n" + "B\n" * 9000,
        "```python\n" + "x" * 3000,
        "intro ```" + "y" * 3000,
    ],
)
def test_code_without_a_place_to_cut_is_cut_all_the_same(markdown):
    parts = cut(markdown, 2000)

    assert squeezed("".join(parts)) == squeezed(text_of(parse(markdown)))
    assert all(is_visible(part) and len(part) <= 2000 for part in parts)


@pytest.mark.proves("D15")
def test_a_table_repeats_its_header():
    rows = "\n".join(f"| {i} | row |" for i in range(40))

    parts = cut(f"| n | what |\n|---|---|\n{rows}", 120)

    assert len(parts) > 2
    assert all(part.startswith("n  | what\n---+-----\n") for part in parts)


def test_a_row_longer_than_a_part_is_cut():
    parts = cut(f"|a|\n|-|\n|{'w' * 300}|", 100)

    assert squeezed("".join(parts)).count("w") == 300
    assert all(len(part) <= 100 for part in parts)


def test_a_list_keeps_its_numbers_and_indentation_over_a_cut():
    items = "\n".join(f"{i}. item number {i}" for i in range(1, 8))

    assert cut(items, 60) == [
        "1. item number 1\n2. item number 2\n3. item number 3",
        "4. item number 4\n5. item number 5\n6. item number 6",
        "7. item number 7",
    ]
    assert cut("- some words and more words", 16) == ["• some words and", "  more words"]


def test_what_nobody_can_see_is_not_sent():
    assert split_text(" \n\u200b\u3164", Limit(20, Unit.CHARACTERS)) == []
    assert cut("```\na\n" + "\n" * 300 + "b\n```", 100)[-1].strip() == "b"


def test_an_overhead_for_marks_is_counted():
    fenced = Scale(len, overhead=lambda styles: 8 if styles else 0)

    parts = pack(lay_out(parse("```\n" + "ab\n" * 100 + "```"), PLAIN), 50, fenced)

    assert all(fenced.weigh(part) <= 50 for part in parts)
    assert "".join(s.text for part in parts for s in part) == "\n".join(["ab"] * 100)


@given(st.lists(st.sampled_from([*CLUSTERS, "a", " ", "\n", ". ", "。", "，"])), small_limits)
def test_any_text_comes_back_whole_cluster_by_cluster(pieces, size):
    text = "".join(pieces)

    parts = split_text(text, Limit(size, Unit.UTF16))

    found = [c for part in parts for c in regex.findall(r"\X", part) if c.strip()]
    assert found == [c for c in regex.findall(r"\X", text) if c.strip()]
    assert all(measure(part, Unit.UTF16) <= size for part in parts)


@given(st.text(alphabet=st.sampled_from("ab \n\t😀é"), min_size=1).filter(str.strip), small_limits)
def test_any_code_keeps_its_bytes(code, size):
    segment = Segment((Span(f"x{code}x"),), Shape.CODE)

    parts = pack([segment], size, Scale(lambda text: measure(text, Unit.BYTES)))

    found = "".join(span.text for part in parts for span in part)
    dropped = len(code) + 2 - len(found)
    assert squeezed(found) == squeezed(f"x{code}x")
    assert dropped == 0 or dropped >= size // 4


@pytest.mark.proves("D15")
@given(markdowns, small_limits, st.sampled_from(list(Unit)))
def test_any_markdown_fits_and_keeps_its_words(markdown, size, unit):
    scale = Scale(lambda text: measure(text, unit))

    parts = cut(markdown, size, scale)

    assert all(is_visible(part) and scale.measure(part) <= size for part in parts)
    whole = text_of(parse(markdown))
    if "|" not in markdown and ">" not in markdown:
        assert seen("".join(parts)) == seen(whole)


def test_portions_of_a_document_are_documents():
    markdown = "# T\n\n3. a\n4. b\n5. c\n\n|h|\n|-|\n|1|\n|2|\n|3|\n\n```py\n  x\n  y\n  z\n```"

    found = list(portions(parse(markdown), 9, CHARACTERS))

    assert all(len(text_of(blocks)) <= 9 for blocks in found)
    lists = [b for blocks in found for b in blocks if hasattr(b, "start")]
    tables = [b for blocks in found for b in blocks if isinstance(b, Table)]
    code = [b for blocks in found for b in blocks if isinstance(b, CodeBlock)]
    assert [b.start for b in lists] == [3, 4]
    assert {b.header for b in tables} == {((Text("h"),),)}
    assert [b.language for b in code] == ["py", "py"]
    assert "\n".join(b.code for b in code) == "  x\n  y\n  z"


@given(markdowns, small_limits)
def test_any_portions_fit_and_keep_the_words(markdown, size):
    found = list(portions(parse(markdown), size, CHARACTERS))

    assert all(len(text_of(blocks)) <= size for blocks in found)
    if "|" not in markdown and ">" not in markdown:
        joined = seen("".join(text_of(blocks) for blocks in found))
        assert joined == seen(text_of(parse(markdown)))


def test_a_portion_holds_as_many_blocks_as_fit():
    found = list(portions(parse("# A\n\nb\n\nc\n\nd"), 7, CHARACTERS))

    assert [len(blocks) for blocks in found] == [3, 1]
    assert isinstance(found[0][0], Heading)
    assert isinstance(found[1][0], Paragraph)


def test_a_space_that_carries_an_accent_is_no_place_to_cut():
    text = "aaaa \u0301bbbb. \u0301cccc"

    parts = split_text(text, Limit(9, Unit.CHARACTERS))

    assert "".join(parts) == text
    assert not any(part.startswith("\u0301") for part in parts)


def test_a_line_of_code_that_fits_an_empty_part_is_not_begun_in_a_used_one():
    lines = ["x" * 50, "y" * 50]

    parts = cut(f"{'w' * 20}\n\n```\n{lines[0]}\n{lines[1]}\n```", 60)

    assert parts == ["w" * 20, lines[0] + "\n", lines[1]]


def test_a_heading_that_leaves_no_room_stands_alone():
    scale = Scale(lambda text: measure(text, Unit.UTF16))

    parts = cut(f"w\n\n# {'h' * 57}\n\n{'😀 ' * 40}", 60, scale)

    assert parts[:2] == ["w", "h" * 57]
    assert all(scale.measure(part) <= 60 for part in parts)
