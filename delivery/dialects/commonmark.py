"""A document written as Markdown again, for platforms that read it ([D14]). Pure.

What an agent wrote is not passed on as it is: a platform reads other extensions than we do, and
what is cut must be whole again. So it is written from the tree, and what is a word is escaped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from delivery.dialects.marks import Marks
from delivery.dialects.writing import legal, write
from delivery.document import (
    Align,
    Block,
    Blocks,
    Break,
    CodeBlock,
    Heading,
    Inline,
    Inlines,
    Item,
    ItemList,
    Paragraph,
    Quote,
    Row,
    Rule,
    Table,
    Text,
)
from delivery.layout import DONE, TODO, Look, lay_out

_LANGUAGE = regex.compile(r"[\w+#.\-]{1,32}", regex.ASCII)
_TICKS = regex.compile(r"`+")
_FINAL_SIGNS = regex.compile(r"#+$")
_PIPE = regex.compile(r"(?<!\\)\|")
_RULE = "___"
_LEANINGS = {Align.LEFT: "---", Align.CENTER: ":-:", Align.RIGHT: "--:"}
# As no platform takes a message that long, no style is ever too long for it.
_NO_BOUND = 1_000_000


@dataclass(frozen=True, slots=True)
class MarkdownWriter:
    """Writes documents.

    Args:
        marks: How words are marked up and escaped.
        look: Which targets can be linked to.
    """

    marks: Marks
    look: Look

    def write(self, blocks: Blocks) -> str:
        """The blocks as Markdown, without a line end at the end."""
        return "\n".join(self._lines(blocks))

    def _lines(self, blocks: Blocks, *, is_tight: bool = False) -> list[str]:
        lines: list[str] = []
        is_other = False
        before: Block | None = None
        for block in blocks:
            # Two lists that meet would be one if they had the same sign.
            is_other = isinstance(block, ItemList) and isinstance(before, ItemList) and not is_other
            written = list(self._block(block, is_other=is_other))
            if lines and written and not (is_tight and _interrupts(block)):
                lines.append("")
            lines += written
            before = block
        return lines

    def _block(self, block: Block, *, is_other: bool) -> Iterator[str]:
        match block:
            case Paragraph(inlines):
                yield from self._words(inlines).split("\n")
            case Heading(level, inlines):
                words = self._on_one_line(inlines)
                yield f"{'#' * level} " + _FINAL_SIGNS.sub(r"\\\g<0>", words)
            case CodeBlock(code, language):
                yield from _fenced(code, language)
            case Quote(blocks):
                yield from (f"> {line}".rstrip() for line in self._lines(blocks))
            case ItemList():
                yield from self._list(block, is_other=is_other)
            case Table():
                yield from self._table(block)
            case Rule():
                yield _RULE

    def _words(self, inlines: Inlines) -> str:
        spans = [
            span
            for segment in lay_out((Paragraph(inlines),), self.look)
            for span in legal(segment, self.marks, _NO_BOUND).spans
        ]
        return write(spans, self.marks)

    def _on_one_line(self, inlines: Inlines) -> str:
        return self._words(tuple(_without_break(inline) for inline in inlines)).replace("\n", " ")

    def _list(self, block: ItemList, *, is_other: bool) -> Iterator[str]:
        for number, item in enumerate(block.items):
            if number and not block.is_tight:
                yield ""
            marker = _marker(block, number, is_other=is_other)
            first, *others = self._item(item, is_tight=block.is_tight) or [""]
            yield f"{marker} {first}".rstrip()
            hang = " " * (len(marker) + 1)
            yield from ((hang + line).rstrip() for line in others)

    def _item(self, item: Item, *, is_tight: bool) -> list[str]:
        lines = self._lines(item.blocks, is_tight=is_tight)
        if item.is_done is None or not lines:
            return lines
        box = DONE if item.is_done else TODO
        if isinstance(item.blocks[0], Paragraph):
            return [f"{box} {lines[0]}", *lines[1:]]
        return [box, "", *lines]

    def _table(self, table: Table) -> Iterator[str]:
        yield self._row(table.header)
        yield f"| {' | '.join(_LEANINGS[leaning] for leaning in table.alignments)} |"
        for row in table.rows:
            yield self._row(row)

    def _row(self, row: Row) -> str:
        cells = [_PIPE.sub(r"\\|", self._on_one_line(cell)) for cell in row]
        return f"| {' | '.join(cells)} |"


def _interrupts(block: Block) -> bool:
    """Whether a list may follow a paragraph without a blank line."""
    if not isinstance(block, ItemList) or block.start not in {None, 1}:
        return False
    return bool(block.items[0].blocks)


def _marker(block: ItemList, number: int, *, is_other: bool) -> str:
    if block.start is None:
        return "*" if is_other else "-"
    delimiters = (".", ")") if block.delimiter == "." else (")", ".")
    return f"{block.start + number}{delimiters[is_other]}"


def _without_break(inline: Inline) -> Inline:
    return Text(" ") if isinstance(inline, Break) else inline


def _fenced(code: str, language: str) -> Sequence[str]:
    longest = max((len(ticks) for ticks in _TICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    named = language if _LANGUAGE.fullmatch(language) else ""
    return (fence + named, *code.split("\n"), fence)
