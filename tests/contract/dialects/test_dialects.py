"""What every dialect must do, whatever the platform ([D14], [D15])."""

from collections.abc import Iterable, Iterator

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delivery.content import Limit, Rendered, Unit
from delivery.dialects import DIALECTS, MINIMUM_ROOM
from delivery.document import (
    Block,
    CodeBlock,
    Heading,
    ItemList,
    Paragraph,
    Quote,
    Table,
    words_of,
)
from delivery.markdown import parse
from delivery.portions import text_of
from delivery.ports import Dialect
from delivery.rendering import EMPTY_REPLY
from delivery.splitting import is_visible
from tests.contract.dialects.documents import documents
from tests.contract.dialects.readers import READERS, Page
from tests.unit.delivery.writings import (
    HOSTILE_UNITS,
    SAMPLES,
    hostile,
    is_subsequence,
    markdowns,
    seen,
)

PLENTY = 10_000_000
# No message of a real platform is smaller than the largest of these.
SIZES = [MINIMUM_ROOM, 200, 4096]
each_dialect = pytest.mark.parametrize("name", DIALECTS)
STRUCTURED = {"matrix", "mattermost"}


def dialect(name: str, size: int | None = None) -> Dialect:
    usual = DIALECTS[name](None)
    return DIALECTS[name](Limit(size, usual.limit.unit)) if size else usual


def count(text: str, unit: Unit) -> int:
    return {
        Unit.CHARACTERS: len(text),
        Unit.UTF16: len(text.encode("utf-16-le")) // 2,
        Unit.BYTES: len(text.encode()),
    }[unit]


def check(name: str, part: Rendered, room: int) -> Page:
    """The part is one that its platform takes as it stands, and reads as it was meant."""
    unit = dialect(name).limit.unit
    sent = part.text + part.format.get("formatted_body", "")
    assert part.length == count(sent, unit) <= room
    assert count(part.plain, unit) <= room
    assert is_visible(part.text)
    assert is_visible(part.plain)
    page = READERS[name](part)
    # HTML and Markdown may show a list with nothing in it.
    assert name in STRUCTURED or is_visible(page.words)
    return page


def pages(name: str, markdown: str, size: int, reserve: int = 0) -> list[Page]:
    parts = dialect(name, size).render(markdown, reserve=reserve)
    return [check(name, part, size - reserve) for part in parts]


def words_in(blocks: Iterable[Block]) -> Iterator[str]:
    """The words of a tree, without what shows its structure or where its links lead."""
    for block in blocks:
        match block:
            case Paragraph(inlines) | Heading(_, inlines):
                yield words_of(inlines)
            case CodeBlock(code):
                yield code
            case Quote(inner):
                yield from words_in(inner)
            case ItemList(items):
                yield from words_in([inner for item in items for inner in item.blocks])
            case Table(header, rows):
                yield from (words_of(cell) for row in (header, *rows) for cell in row)


def meant(markdown: str) -> str:
    return seen("\n".join(words_in(parse(markdown))))


def clusters(text: str) -> set[str]:
    return {found for found in regex.findall(r"\X", text) if is_visible(found)}


def check_words(name: str, markdown: str, size: int, reserve: int = 0) -> None:
    """All words are there, in every size, and nothing else but what shows structure."""
    (whole,) = pages(name, markdown, PLENTY)
    parts = pages(name, markdown, size, reserve)

    if not meant(markdown):
        signs = seen(text_of(parse(markdown)))
        assert seen(whole.words) == seen(EMPTY_REPLY) or is_subsequence(seen(whole.words), signs)
        return
    assert is_subsequence(meant(markdown), seen(whole.words))
    assert is_subsequence(seen(whole.words), seen(text_of(parse(markdown))))
    assert is_subsequence(meant(markdown), seen("".join(page.words for page in parts)))


@pytest.mark.proves("D14", "D15")
@each_dialect
@settings(max_examples=40)
@example("**a。**`|`", MINIMUM_ROOM, 0)
@given(documents, st.sampled_from(SIZES), st.sampled_from([0, 0, 30]))
def test_any_document_keeps_its_words_and_fits(name, markdown, size, reserve):
    check_words(name, markdown, size + reserve, reserve)


@each_dialect
@settings(max_examples=40)
@given(markdowns, st.sampled_from(SIZES))
def test_any_markdown_keeps_its_words_and_fits(name, markdown, size):
    check_words(name, markdown, size)


@each_dialect
@pytest.mark.parametrize("size", [MINIMUM_ROOM, 4096])
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_keeps_its_words_and_fits(name, size, sample):
    check_words(name, sample, size)


@each_dialect
@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_hostile_repetitions_keep_their_words_and_fit(name, unit):
    markdown = hostile(unit, 1500)

    if meant(markdown):
        parts = pages(name, markdown, 400)

        assert is_subsequence(meant(markdown), seen("".join(page.words for page in parts)))


@each_dialect
@settings(max_examples=40)
@given(documents, st.sampled_from(SIZES))
def test_no_cluster_is_cut(name, markdown, size):
    text = text_of(parse(markdown))
    (whole,) = pages(name, markdown, PLENTY)
    known = clusters(text) | clusters(whole.words.replace("\u200b", ""))

    for page in pages(name, markdown, size):
        if max(map(len, known), default=0) < MINIMUM_ROOM // 4:
            assert clusters(page.words.replace("\u200b", "")) <= known


@pytest.mark.proves("D15")
@each_dialect
@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from(["", "    x = 1", "\tif a < b & c:", "`t`", "é👍🏽汉", "> no"]), max_size=60
    ),
    st.sampled_from([MINIMUM_ROOM, 300, 4096]),
)
def test_code_keeps_its_lines_and_its_language(name, lines, size):
    code = "\n".join(["def f():", *lines, "    end"])
    if name in {"plain", "weixin"}:
        return

    parts = pages(name, f"Before.\n\n```py\n{code}\n```\n\nAfter.", size)

    assert "\n".join(each for page in parts for each in page.code).replace("\u200b", "") == code
    if name not in {"slack", "signal"}:
        assert {language for page in parts for language in page.languages} == {"py"}


@each_dialect
def test_a_table_cut_in_two_has_its_header_twice(name):
    rows = "\n".join(f"| {n} | row number {n} |" for n in range(60))

    parts = pages(name, f"| n | **what** |\n|---|---|\n{rows}", 400)

    assert len(parts) > 2
    assert all("what" in page.words for page in parts)


@each_dialect
def test_a_list_cut_in_two_goes_on_with_its_next_number(name):
    parts = dialect(name, 300).render("\n".join(f"{n}. item *{n}*" for n in range(3, 60)))

    assert len(parts) > 2
    numbers = [
        int(number)
        for part in parts
        for number in regex.findall(r"^(\d+)\. ", part.plain, regex.MULTILINE)
    ]
    assert numbers == list(range(3, 60))
    if name == "matrix":
        starts = [regex.findall(r'<ol start="(\d+)"', p.format["formatted_body"]) for p in parts]
        assert all(starts)


@each_dialect
@settings(max_examples=40)
@given(documents, st.sampled_from(["♻️ Recovered — *maybe* a duplicate", "> 1. [x](y) @here"]))
def test_a_marker_is_a_first_line_for_which_the_reserve_made_room(name, markdown, marker):
    size = 500
    chosen = dialect(name, size)
    part = chosen.render(markdown, reserve=chosen.measure(marker) + 1)[0]

    marked = chosen.mark(part, marker)

    page = check(name, marked, size)
    if name != "matrix":
        assert page.words.replace("\u200b", "").startswith(marker)
    assert marked.plain == f"{marker}\n{part.plain}"
    assert seen(page.words).endswith(seen(READERS[name](part).words)[-20:])


@each_dialect
@pytest.mark.parametrize("markdown", ["", " \n\t", "\u200b", "```\n```", "&nbsp;", "#"])
def test_an_answer_nobody_could_see_says_so(name, markdown):
    (page,) = pages(name, markdown, 4096)

    assert page.words.replace("\u200b", "").strip() == EMPTY_REPLY


@each_dialect
@settings(max_examples=40)
@given(st.text(), st.sampled_from(SIZES))
@example("\ud83c\udfa9 \udfa9 \x00", 100)
def test_any_text_at_all_is_rendered(name, text, size):
    assert pages(name, text, size)


@each_dialect
def test_a_part_survives_being_stored(name):
    (part,) = dialect(name).render("**a** `b`\n\n- c")

    assert Rendered.from_dict(part.as_dict()) == part


def test_every_dialect_has_a_reader():
    assert set(READERS) == set(DIALECTS)
