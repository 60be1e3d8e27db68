"""Every example of the CommonMark and GFM specifications against the HTML they give for it.

The words a reader sees on the specification's page are the words of our tree. Where the tree
differs, it does so for a reason that stands in `DIFFERENCES`.
"""

import json
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from delivery.dialects import DIALECTS, MINIMUM_ROOM
from delivery.document import Block, CodeBlock, Heading, ItemList, Paragraph, Quote, Table, words_of
from delivery.markdown import parse
from tests.contract.dialects.test_dialects import check_words
from tests.unit.delivery.writings import is_subsequence, squeezed

PAYLOADS = Path(__file__).parents[2] / "payloads" / "markdown"
EXAMPLES = [
    (specification, example)
    for specification in ("commonmark", "gfm")
    for example in json.loads((PAYLOADS / f"{specification}.json").read_text("utf-8"))
]
# Raw HTML is shown as it was written, and what stands in it is Markdown all the same.
RAW_HTML = {
    *(21, 31, *range(148, 157), *range(158, 192), 201, 308, 309, 344, *range(475, 478), 491, 494),
    *(524, 536, 538, *range(613, 618), 623, *range(625, 632), 642, 643),
}
UNUSED_DEFINITIONS = {204, 207, 208, 210, 317, 537, 544, 545, 563, 565, 567, 571, 592}
# Our words are more than the page's, each time because something would be lost otherwise.
MORE = {
    **{("commonmark", number): "raw HTML stays text" for number in RAW_HTML},
    **{
        ("commonmark", number): "a definition nothing uses is shown"
        for number in UNUSED_DEFINITIONS
    },
    ("commonmark", 77): "bold with nothing in it is shown as its stars",
    ("commonmark", 265): "a line that begins with a great number is a sentence",
    ("commonmark", 581): "a picture without a description is its address",
    ("gfm", 204): "the surplus cells of a row are shown",
    ("gfm", 652): "raw HTML stays text",
}
# On the page these are text, because HTML holds them; as Markdown they name a language.
NAMES_OF_LANGUAGES = {("commonmark", 161)}


class Page(HTMLParser):
    """The words of a page; a picture is its description."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.words += [value or "" for name, value in attrs if name == "alt"]


def words_in(blocks: Iterable[Block]) -> Iterator[str]:
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


def name_of(example) -> str:
    specification, fields = example
    return f"{specification}-{fields['example']}"


def words_and_page(example) -> tuple[str, str]:
    _specification, fields = example
    shown = squeezed("".join(words_in(parse(fields["markdown"]))))
    return shown, squeezed("".join(Page(fields["html"]).words))


def letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def key_of(example) -> tuple[str, int]:
    return example[0], example[1]["example"]


@pytest.mark.proves("D14")
@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_the_words_of_an_example_are_those_of_its_page(example):
    shown, page = words_and_page(example)

    if key_of(example) in NAMES_OF_LANGUAGES:
        assert is_subsequence(letters(page).replace("c", "", 1), letters(shown))
    elif key_of(example) in MORE:
        assert shown != page
        assert is_subsequence(letters(page), letters(shown))
    else:
        assert shown == page


@pytest.mark.proves("D14", "D15")
@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_every_dialect_keeps_the_words_of_an_example(example):
    for name in DIALECTS:
        for size in (MINIMUM_ROOM, 4096):
            check_words(name, example[1]["markdown"], size)
