"""What a written answer is made of: blocks and inlines, whatever will show them ([D14]). Pure.

Every dialect renders from this one tree, so a construct is understood once and in one way.
`delivery.markdown` makes it from Markdown. All nodes are frozen; sequences are tuples.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Text:
    """Words, exactly as they are to be read."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A code span; nothing inside it is markup."""

    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """The end of a line inside a paragraph."""


@dataclass(frozen=True, slots=True)
class Strong:
    """Bold words."""

    children: tuple["Inline", ...]


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Italic words."""

    children: tuple["Inline", ...]


@dataclass(frozen=True, slots=True)
class Strike:
    """Words struck through."""

    children: tuple["Inline", ...]


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to `target`, which is as written and may be of any scheme, or none."""

    children: tuple["Inline", ...]
    target: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that lives at `target`; `alt` says what it shows and may be empty."""

    alt: str
    target: str


Inline = Text | Code | Break | Strong | Emphasis | Strike | Link | Image
Inlines = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    inlines: Inlines


@dataclass(frozen=True, slots=True)
class Heading:
    """A title of `level` 1 (the highest) to 6."""

    level: int
    inlines: Inlines


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines of code, byte for byte, without the last line end; `language` may be empty."""

    code: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Somebody else's words."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a list; `is_done` is None where the entry is no task."""

    blocks: tuple["Block", ...]
    is_done: bool | None = None


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list. `start` is the first number, or None for bullets; `delimiter` follows the number."""

    items: tuple[Item, ...]
    start: int | None = None
    delimiter: str = "."
    is_tight: bool = True


class Align(StrEnum):
    """To which side a table column leans."""

    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"


Row = tuple[Inlines, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A header, rows of as many cells, and one alignment a column."""

    header: Row
    rows: tuple[Row, ...]
    alignments: tuple[Align, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across."""


Block = Paragraph | Heading | CodeBlock | Quote | ItemList | Table | Rule
Blocks = tuple[Block, ...]


def words_of(inlines: Iterable[Inline]) -> str:
    """The visible words alone, with line ends; a picture is its description."""
    return "".join(_words(inlines))


def _words(inlines: Iterable[Inline]) -> Iterator[str]:
    for inline in inlines:
        match inline:
            case Text(text) | Code(text):
                yield text
            case Break():
                yield "\n"
            case Image(alt, target):
                yield alt or target
            case _:
                yield from _words(inline.children)


def lines_of(text: str) -> Inlines:
    """Plain words as inlines: a break at every line end."""
    inlines: list[Inline] = []
    for line in text.split("\n"):
        inlines += [Break(), Text(line)] if inlines else [Text(line)]
    return tuple(inline for inline in inlines if inline != Text(""))
