"""A document cut into smaller documents, for dialects that keep its structure ([D15]). Pure.

Where a dialect sends lines, `delivery.splitting` cuts the lines. Where it sends structure, as HTML
does, every message must be a whole document: a list goes on with its next number, a table
has its header again, code stays code of the same language.
"""

from collections.abc import Iterator

from delivery.document import (
    Block,
    Blocks,
    CodeBlock,
    Item,
    ItemList,
    Paragraph,
    Quote,
    Table,
    lines_of,
)
from delivery.layout import Look, Segment, Shape, Span, lay_out
from delivery.splitting import Scale, pack

_PLAIN = Look(can_link=lambda _target: False, has_quotes=False)
_GAP = "\n\n"


def text_of(blocks: Blocks) -> str:
    """The document as plain text, whatever its length."""
    written: list[str] = []
    for segment in lay_out(blocks, _PLAIN):
        if written:
            written.append(segment.gap)
        written.extend(span.text for span in (*segment.header, *segment.spans))
    return "".join(written)


def portions(blocks: Blocks, room: int, scale: Scale) -> Iterator[Blocks]:
    """Cut a document.

    Args:
        blocks: The document.
        room: How long the plain text of one portion may be, in the unit of `scale`.
        scale: How words weigh.

    Yields:
        Documents in order; `text_of` each fits `room`.
    """
    gap = scale.measure(_GAP)
    portion: list[Block] = []
    used = 0
    for block, weight in _pieces(blocks, room, scale):
        if portion and used + gap + weight > room:
            yield tuple(portion)
            portion, used = [], 0
        used += weight + (gap if portion else 0)
        portion.append(block)
    if portion:
        yield tuple(portion)


def _pieces(blocks: Blocks, room: int, scale: Scale) -> Iterator[tuple[Block, int]]:
    """The blocks, those that are too long in pieces, each with its weight."""
    for block in blocks:
        weight = scale.measure(text_of((block,)))
        if weight <= room:
            yield block, weight
        elif halves := _halves(block):
            yield from _pieces(halves, room, scale)
        else:
            for piece in _cut(block, room, scale):
                yield piece, scale.measure(text_of((piece,)))


def _halves(block: Block) -> Blocks:
    """The block as two or more of its kind; none if it has nothing to come apart at."""
    match block:
        case ItemList(items, start) if len(items) > 1:
            middle = len(items) // 2
            following = None if start is None else start + middle
            return (
                ItemList(items[:middle], start, block.delimiter, block.is_tight),
                ItemList(items[middle:], following, block.delimiter, block.is_tight),
            )
        case ItemList((item,), start) if len(item.blocks) > 1:
            first = ItemList((Item(item.blocks[:1], item.is_done),), start, block.delimiter)
            return (first, *item.blocks[1:])
        case Quote(blocks) if len(blocks) > 1:
            middle = len(blocks) // 2
            return Quote(blocks[:middle]), Quote(blocks[middle:])
        case Table(header, rows, alignments) if len(rows) > 1:
            middle = len(rows) // 2
            return (
                Table(header, rows[:middle], alignments),
                Table(header, rows[middle:], alignments),
            )
        case Paragraph(inlines) if len(inlines) > 1:
            middle = len(inlines) // 2
            return Paragraph(inlines[:middle]), Paragraph(inlines[middle:])
        case _:
            return ()


def _cut(block: Block, room: int, scale: Scale) -> Blocks:
    """The text of a block that does not come apart, as paragraphs or code that fit."""
    if isinstance(block, CodeBlock):
        parts = _texts(block.code, Shape.CODE, room, scale)
        return tuple(CodeBlock(part.removesuffix("\n"), block.language) for part in parts)
    parts = _texts(text_of((block,)), Shape.PROSE, room, scale)
    return tuple(Paragraph(lines_of(part)) for part in parts)


def _texts(text: str, shape: Shape, room: int, scale: Scale) -> list[str]:
    parts = pack([Segment((Span(text),), shape)], room, scale)
    return ["".join(span.text for span in part) for part in parts]
