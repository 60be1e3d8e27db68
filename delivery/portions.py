"""A document cut into smaller documents, for dialects that keep its structure ([D15]). Pure.

Where a dialect sends lines, `delivery.splitting` cuts the lines. Where it sends structure, as HTML
does, every message must be a whole document: a list goes on with its next number, a table
has its header again, code stays code of the same language.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from delivery.document import (
    Block,
    Blocks,
    Break,
    CodeBlock,
    Emphasis,
    Heading,
    Inlines,
    Item,
    ItemList,
    Paragraph,
    Quote,
    Strike,
    Strong,
    Table,
    Text,
    lines_of,
)
from delivery.layout import Look, Segment, Shape, Span, lay_out
from delivery.splitting import MINIMUM_ROOM, Scale, pack

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


def portions(
    blocks: Blocks, room: int, scale: Scale, written: Callable[[Blocks], str] = text_of
) -> Iterator[Blocks]:
    """Cut a document.

    Args:
        blocks: The document.
        room: How long one portion may be as it is written, in the unit of `scale`.
        scale: How words weigh.
        written: How the dialect writes blocks. Two blocks may not take more together than each
            alone and a blank line between them.

    Yields:
        Documents in order; `written` each fits `room`, if a single character does.
    """
    gap = scale.measure(_GAP)
    portion: list[Block] = []
    used = 0
    for block, weight in _Knife(room, scale, written).pieces(blocks, room):
        if portion and used + gap + weight > room:
            yield tuple(portion)
            portion, used = [], 0
        used += weight + (gap if portion else 0)
        portion.append(block)
    if portion:
        yield tuple(portion)


Wrap = Callable[[Block], Block]


@dataclass(frozen=True, slots=True)
class _Knife:
    room: int
    scale: Scale
    written: Callable[[Blocks], str]

    def weigh(self, block: Block) -> int:
        return self.scale.measure(self.written((block,)))

    def pieces(self, blocks: Blocks, room: int) -> Iterator[tuple[Block, int]]:
        """The blocks, those that are longer than `room` in pieces, each with its weight."""
        for block in blocks:
            weight = self.weigh(block)
            if weight <= room:
                yield block, weight
            elif halves := _halves(block):
                yield from self.pieces(halves, room)
            elif isinstance(block, ItemList) and block.items[0].blocks:
                yield from self._item(block, room, room)
            elif shell := _shell(block):
                yield from self._wrapped(*shell, room, room)
            else:
                yield from self._cut(block, room, room)

    def _wrapped(
        self, inner: Block, wrap: Wrap, room: int, budget: int
    ) -> Iterator[tuple[Block, int]]:
        """What is inside of a block in pieces of `budget`, each in a shell of its own."""
        for piece, weight in self.pieces((inner,), budget):
            whole = wrap(piece)
            whole_weight = self.weigh(whole)
            if whole_weight <= room:
                yield whole, whole_weight
            elif budget // 2 >= MINIMUM_ROOM:
                yield from self._wrapped(piece, wrap, room, budget // 2)
            else:
                yield piece, weight

    def _item(self, block: ItemList, room: int, budget: int) -> Iterator[tuple[Block, int]]:
        """A list of one item that holds one block: the first piece of that stays in the list."""
        (item,) = block.items
        pieces = list(self.pieces(item.blocks, budget))
        (first, weight), *others = pieces or [(Paragraph(()), 0)]
        whole = replace(block, items=(Item((first,), item.is_done),))
        whole_weight = self.weigh(whole)
        if whole_weight <= room:
            yield whole, whole_weight
        elif budget // 2 >= MINIMUM_ROOM:
            yield from self._item(whole, room, budget // 2)
        else:
            marker = Paragraph((Text(text_of((replace(block, items=(Item((), item.is_done),)),))),))
            yield marker, self.weigh(marker)
            yield first, weight
        yield from others

    def _cut(self, block: Block, room: int, budget: int) -> Iterator[tuple[Block, int]]:
        """The text of a block that does not come apart, as paragraphs or code that fit."""
        for piece in _texts_of(block, budget, self.scale):
            weight = self.weigh(piece)
            if weight <= room or budget // 2 < MINIMUM_ROOM:
                yield piece, weight
            else:
                yield from self._cut(piece, room, budget // 2)


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
            return tuple(Paragraph(half) for half in _halves_of_words(inlines) if half)
        case _:
            return ()


def _halves_of_words(inlines: Inlines) -> tuple[Inlines, Inlines]:
    """Cut at the line end nearest to the middle; where there is none, in the middle."""
    middle = len(inlines) // 2
    ends = [at for at, inline in enumerate(inlines) if isinstance(inline, Break)]
    if not ends:
        return inlines[:middle], inlines[middle:]
    at = min(ends, key=lambda end: abs(end - middle))
    return inlines[:at], inlines[at + 1 :]


def _shell(block: Block) -> tuple[Block, Wrap] | None:
    """What is inside of a block that holds only one thing, and what puts a piece back into it."""
    match block:
        case Quote((only,)):
            return only, lambda piece: Quote((piece,))
        case Heading(level, inlines):
            return Paragraph(inlines), lambda piece: _heading(level, piece)
        case Paragraph((Strong(children) | Emphasis(children) | Strike(children) as looks,)):
            return Paragraph(children), lambda piece: _with_looks(type(looks), piece)
        case _:
            return None


def _heading(level: int, piece: Block) -> Block:
    return Heading(level, piece.inlines) if isinstance(piece, Paragraph) else piece


def _with_looks(looks: type[Strong | Emphasis | Strike], piece: Block) -> Block:
    return Paragraph((looks(piece.inlines),)) if isinstance(piece, Paragraph) else piece


def _texts_of(block: Block, room: int, scale: Scale) -> Iterator[Block]:
    match block:
        case CodeBlock(code, language):
            *parts, last = _texts(code, Shape.CODE, room, scale) or [""]
            for part in parts:
                yield CodeBlock(part.removesuffix("\n"), language)
            yield CodeBlock(last, language)
        case Paragraph((Text(text),)):
            for part in _texts(text, Shape.PROSE, room, scale):
                yield Paragraph(lines_of(part))
        case _:
            for part in _texts(text_of((block,)), Shape.PROSE, room, scale):
                yield Paragraph(lines_of(part))


def _texts(text: str, shape: Shape, room: int, scale: Scale) -> list[str]:
    parts = pack([Segment((Span(text),), shape)], room, scale)
    return ["".join(span.text for span in part) for part in parts]
