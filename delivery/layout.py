"""A document set out as lines of styled words, ready to be cut into messages ([D14]). Pure.

What a chat has no means for is written out: bullets, numbers, boxes for tasks, tables as
monospaced text, the target of a link that cannot be followed. Styles are left to the dialect.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import NamedTuple

from delivery.document import (
    Block,
    Blocks,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Image,
    Inline,
    Inlines,
    Item,
    ItemList,
    Link,
    Paragraph,
    Quote,
    Row,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
    words_of,
)
from delivery.widths import table_lines

BULLET = "•"
RULE = "———"
TODO, DONE = "☐", "☑"
QUOTE_SIGN = "> "


class Kind(StrEnum):
    """What may be done to words."""

    BOLD = "bold"
    ITALIC = "italic"
    STRIKE = "strike"
    CODE = "code"  # inside a line
    PRE = "pre"  # whole lines; the style's value is the language
    LINK = "link"  # the style's value is the target
    QUOTE = "quote"  # the style's value tells neighbouring quotes apart


class Style(NamedTuple):
    """One thing done to words, and its detail."""

    kind: Kind
    value: str = ""


_KINDS = {Strong: Kind.BOLD, Emphasis: Kind.ITALIC, Strike: Kind.STRIKE}

Styles = tuple[Style, ...]  # outermost first


class Span(NamedTuple):
    """Words in one style. A solid span is not cut at its spaces if that can be helped."""

    text: str
    styles: Styles = ()
    is_solid: bool = False


class Shape(StrEnum):
    """How a segment may be cut."""

    PROSE = "prose"  # spaces at a cut are not shown
    CODE = "code"  # every byte is kept
    TABLE = "table"  # between rows, under the same header again


@dataclass(frozen=True, slots=True)
class Segment:
    """The smallest block that is kept whole if it fits a message.

    Attributes:
        gap: What stands between it and the segment before, in the same message.
        around: The styles of what holds it; a gap has those its two neighbours share.
        header: Put at the top of the segment, and again wherever it goes on after a cut.
        hang: Put before every line but the first; already in `spans`, after each line end.
        keeps_next: It makes no sense as the last thing of a message.
    """

    spans: tuple[Span, ...]
    shape: Shape = Shape.PROSE
    gap: str = "\n\n"
    around: Styles = ()
    header: tuple[Span, ...] = ()
    hang: str = ""
    keeps_next: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What a platform has means for.

    Attributes:
        can_link: Whether words may lead to this target; if not, it is written out after them.
        has_quotes: Whether quoted words can be styled; if not, their lines begin with a sign.
    """

    can_link: Callable[[str], bool]
    has_quotes: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block stands: what goes before its first line, before the others, and around it."""

    lead: str = ""
    hang: str = ""
    around: Styles = ()

    @property
    def inside(self) -> "_Place":
        """The same place after its first line."""
        return _Place(self.hang, self.hang, self.around)


def lay_out(blocks: Blocks, look: Look) -> list[Segment]:
    """Set out a document.

    Returns:
        The segments in order. None of them is without any character.
    """
    return list(_Setter(look).blocks(blocks, _Place(), "\n\n"))


def is_same_target(label: str, target: str) -> bool:
    """Whether the words of a link already are its target, so that it need not be said twice.

    Scheme and host compare without case, and the scheme may be left out; all the rest is exact:
    a path that differs only in case leads elsewhere.
    """
    return _bare(label.strip()) == _bare(target)


def _bare(target: str) -> str:
    scheme, colon, rest = target.partition("://")
    if not colon:
        is_mail = target[:7].lower() == "mailto:"
        scheme, rest = "", target[7:] if is_mail else target
    host, slash, path = rest.partition("/")
    is_web = not scheme or scheme.lower() in {"http", "https"}
    kept = host.lower() + (slash + path if path else "")
    return kept if is_web else f"{scheme.lower()}://{kept}"


def target_note(label: str, target: str) -> str:
    """What is written after a link's words where they cannot lead anywhere; may be nothing."""
    if not target or is_same_target(label, target):
        return ""
    if target[:5].lower() == "data:":
        # A picture inside its own address: its bytes are no words.
        target = target.partition(",")[0] + ",…"
    return f" ({target})"


class _Setter:
    """Sets one document."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._serials = count(1)

    def blocks(self, blocks: Blocks, place: _Place, gap: str) -> Iterator[Segment]:
        """Set blocks below one another; the first stands at the place's lead."""
        for index, block in enumerate(blocks):
            yield from self._block(block, place.inside if index else place, gap)

    def _block(self, block: Block, place: _Place, gap: str) -> Iterator[Segment]:
        match block:
            case Paragraph(inlines):
                yield self._prose(inlines, place, gap)
            case Heading(_, inlines):
                yield replace(
                    self._prose(inlines, place, gap, (Style(Kind.BOLD),)), keeps_next=True
                )
            case ItemList():
                yield from self._list(block, place, gap)
            case Quote(blocks):
                yield from self._quote(blocks, place, gap)
            case Rule():
                yield self._prose((Text(RULE),), place, gap)
            case CodeBlock() | Table():
                yield from self._monospaced(block, place, gap)

    def _prose(self, inlines: Inlines, place: _Place, gap: str, styles: Styles = ()) -> Segment:
        spans = [Span(place.lead, place.around, is_solid=True)] if place.lead else []
        for inline in inlines:
            spans.extend(self._inline(inline, place.around + styles, place.hang))
        return Segment(tuple(spans), gap=gap, around=place.around, hang=place.hang)

    def _inline(self, inline: Inline, styles: Styles, hang: str) -> Iterator[Span]:
        match inline:
            case Text(text):
                yield Span(text, styles)
            case Break():
                yield Span("\n", styles)
                if hang:
                    yield Span(hang, styles, is_solid=True)
            case Code(text):
                yield Span(text, (*styles, Style(Kind.CODE)), is_solid=True)
            case Link(children, target):
                yield from self._link(children, target, styles, hang)
            case Image(alt, target):
                yield from self._link((Text(alt or target),), target, styles, hang)
            case _:
                yield from self._styled(inline, styles, hang)

    def _styled(
        self, inline: Strong | Emphasis | Strike, styles: Styles, hang: str
    ) -> Iterator[Span]:
        style = Style(_KINDS[type(inline)])
        inner = styles if style in styles else (*styles, style)
        for child in inline.children:
            yield from self._inline(child, inner, hang)

    def _link(self, children: Inlines, target: str, styles: Styles, hang: str) -> Iterator[Span]:
        children = tuple(_named(child) for child in children)
        children = children if words_of(children).strip() else (Text(target),)
        is_inside_link = any(style.kind is Kind.LINK for style in styles)
        if self._look.can_link(target) and not is_inside_link:
            for child in children:
                for span in self._inline(child, (*styles, Style(Kind.LINK, target)), hang):
                    yield span._replace(is_solid=span.text != "\n")
            return
        for child in children:
            yield from self._inline(child, styles, hang)
        note = "" if is_inside_link else target_note(words_of(children), target)
        if note:
            yield Span(note, styles)

    def _list(self, block: ItemList, place: _Place, gap: str) -> Iterator[Segment]:
        between = "\n" if block.is_tight else "\n\n"
        number = block.start
        for index, item in enumerate(block.items):
            marker = _marker(item, number, block.delimiter)
            here = place.inside if index else place
            hang = here.hang + " " * len(marker)
            inner = _Place(here.lead + marker, hang, here.around)
            yield from self._item(item, inner, between if index else gap, between)
            number = None if number is None else number + 1

    def _item(self, item: Item, place: _Place, gap: str, between: str) -> Iterator[Segment]:
        if not item.blocks:
            yield self._prose((), replace(place, lead=place.lead.rstrip()), gap)
            return
        yield from self._block(item.blocks[0], place, gap)
        yield from self.blocks(item.blocks[1:], place.inside, between)

    def _quote(self, blocks: Blocks, place: _Place, gap: str) -> Iterator[Segment]:
        is_nested = any(style.kind is Kind.QUOTE for style in place.around)
        if self._look.has_quotes and not is_nested:
            style = Style(Kind.QUOTE, str(next(self._serials)))
            inner = replace(place, around=(*place.around, style))
        else:
            inner = replace(place, lead=place.lead + QUOTE_SIGN, hang=place.hang + QUOTE_SIGN)
        yield from self._block(blocks[0], inner, gap)
        yield from self.blocks(blocks[1:], inner.inside, "\n\n")

    def _monospaced(self, block: CodeBlock | Table, place: _Place, gap: str) -> Iterator[Segment]:
        if place.lead.strip() and place.lead != place.hang:
            yield self._prose((), replace(place, lead=place.lead.rstrip()), gap)
            gap = "\n"
        if isinstance(block, CodeBlock):
            styles = (*place.around, Style(Kind.PRE, block.language))
            if block.code.strip():
                spans = (Span(block.code, styles),)
                yield Segment(spans, Shape.CODE, gap=gap, around=place.around)
            return
        yield self._table(block, place, gap)

    def _table(self, table: Table, place: _Place, gap: str) -> Segment:
        styles = (*place.around, Style(Kind.PRE))
        lines = self._table_lines(table)
        header = "\n".join(lines[:2])
        if not table.rows:
            return Segment((Span(header, styles),), Shape.TABLE, gap, place.around)
        return Segment(
            spans=(Span("\n".join(lines[2:]), styles),),
            shape=Shape.TABLE,
            gap=gap,
            around=place.around,
            header=(Span(header + "\n", styles),),
        )

    def _table_lines(self, table: Table) -> list[str]:
        rows = [self._cells(row) for row in (table.header, *table.rows)]
        return table_lines(rows, table.alignments)

    def _cells(self, row: Row) -> list[str]:
        return [
            "".join(span.text for inline in cell for span in _UNLINKED.cell(inline)).strip()
            for cell in row
        ]

    def cell(self, inline: Inline) -> Iterator[Span]:
        """The words of one piece of a table cell; their styles are of no use there."""
        return self._inline(inline, (), "")


_UNLINKED = _Setter(Look(can_link=lambda _target: False, has_quotes=False))


def _named(inline: Inline) -> Inline:
    """A picture that is the face of a link leads where the link does, not to its own file."""
    return Text(inline.alt or inline.target) if isinstance(inline, Image) else inline


def _marker(item: Item, number: int | None, delimiter: str) -> str:
    box = "" if item.is_done is None else f"{DONE if item.is_done else TODO} "
    if number is None:
        return box or f"{BULLET} "
    return f"{number}{delimiter} {box}"
