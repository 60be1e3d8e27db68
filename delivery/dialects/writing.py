"""Styled words written with marks, as Markdown and its relatives do ([D14]). Pure.

Marks hug their words and end with the line, for no platform promises more. What agents write may
hold such marks as words: those are escaped, or kept apart by a character of no width.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from unicodedata import category

from delivery.dialects.marks import (
    APART,
    FENCE,
    QUOTE,
    Marks,
    code_in_block,
)
from delivery.dialects.targets import ends_with_url, split_at_urls
from delivery.layout import Kind, Segment, Span, Style, Styles

_LOOKS = frozenset({Kind.BOLD, Kind.ITALIC, Kind.STRIKE})
_BLANKS = " \t\u00a0"
_NO_BREAK_SPACE = "\u00a0"
# Beside these a mark is one on every platform.
_SAFE_BEFORE = " \t\u00a0(\u200b"
_SAFE_AFTER = " \t\u00a0.,;:!?)\u200b"


def legal(segment: Segment, marks: Marks, room: int) -> Segment:
    """The segment without the styles that its platform lacks, that may not meet, or do not fit."""
    return replace(
        segment,
        spans=tuple(_all_legal(segment.spans, marks, room)),
        header=tuple(_all_legal(segment.header, marks, room)),
    )


def _all_legal(spans: Iterable[Span], marks: Marks, room: int) -> Iterator[Span]:
    for span in spans:
        if not span.styles:
            yield span
            continue
        allowed = _legal(span, marks, room)
        plain = tuple(style for style in allowed.styles if style.kind not in _LOOKS)
        if plain == allowed.styles or "://" not in span.text:
            yield allowed
        elif plain and plain[-1].kind is Kind.LINK:
            yield allowed._replace(styles=plain)
        else:
            # A mark beside an address would be taken for the end of it.
            for text, is_url in split_at_urls(span.text):
                yield Span(text, plain if is_url else allowed.styles, span.is_solid)


def _legal(span: Span, marks: Marks, room: int) -> Span:
    by_kind = {style.kind: style for style in span.styles}
    quote = [by_kind[Kind.QUOTE]] if Kind.QUOTE in by_kind else []
    if Kind.PRE in by_kind:
        block = by_kind[Kind.PRE]
        if marks.overhead((block,)) > room // 2:
            block = Style(Kind.PRE)
        return span._replace(styles=(*(quote if marks.quotes_code else ()), block))
    # A link cannot hold code everywhere, and where it leads is worth more than its face.
    core = next(([by_kind[kind]] for kind in (Kind.LINK, Kind.CODE) if kind in by_kind), [])
    is_code = bool(core) and core[0].kind is Kind.CODE
    looks = [style for style in span.styles if style.kind in marks.pairs and not is_code]
    for styles in ((*quote, *looks, *core), (*quote, *core), tuple(quote)):
        if marks.overhead(styles) <= room // 2:
            return span._replace(styles=styles)
    return span._replace(styles=())


def write(spans: Iterable[Span], marks: Marks) -> str:
    """One message.

    Args:
        spans: What is in it, as `legal` left it.
        marks: How it is marked up.

    Returns:
        The text; its length is at most what the scale of `marks` says of `spans`.
    """
    writer = _Writer(marks)
    for styles, group in groupby(spans, key=lambda span: span.styles):
        kind = styles[-1].kind if styles else None
        texts = [span.text for span in group]
        if kind is Kind.PRE:
            writer.block("".join(texts), styles)
        else:
            for text in texts if kind is Kind.CODE else ["".join(texts)]:
                writer.words(text, styles)
    return writer.close()


class _Writer:
    """A message being written, line by line."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._out: list[str] = []
        self._open: list[Style] = []
        self._blanks = ""  # not yet written: whether they stand inside of marks is not known yet
        self._has_begun = False  # the line
        self._is_after_mark = False
        self._last = ""  # the last character of the line; empty if it has no words yet

    def words(self, text: str, styles: Styles) -> None:
        """Running words, or code on its line."""
        is_quoted = any(style.kind is Kind.QUOTE for style in styles)
        inline = tuple(style for style in styles if style.kind is not Kind.QUOTE)
        for number, line in enumerate(text.split("\n")):
            if number:
                self._end_line(is_quoted=is_quoted)
            if line:
                self._begin_line(is_quoted=is_quoted)
                self._within_line(line, inline)

    def block(self, code: str, styles: Styles) -> None:
        """Whole lines of code."""
        is_quoted = any(style.kind is Kind.QUOTE for style in styles)
        if self._has_begun:
            self._end_line(is_quoted=is_quoted)
        code = self._marks.code(code_in_block(code.removesuffix("\n")))
        lines = [FENCE + self._marks.language(styles[-1]), *code.split("\n"), FENCE]
        sign = QUOTE if is_quoted else ""
        self._out.append("\n".join(sign + line for line in lines))
        self._has_begun, self._last = True, FENCE[-1]
        self._is_after_mark = True

    def close(self) -> str:
        """The text, with all marks closed."""
        self._end_marks()
        return "".join(self._out)

    def _begin_line(self, *, is_quoted: bool) -> None:
        if not self._has_begun and is_quoted:
            self._out.append(QUOTE)
        self._has_begun = True

    def _end_line(self, *, is_quoted: bool) -> None:
        self._begin_line(is_quoted=is_quoted)
        self._end_marks()
        self._out.append("\n")
        self._last, self._has_begun, self._is_after_mark = "", False, False

    def _end_marks(self) -> None:
        self._blanks = ""
        self._turn((), "", is_mark=False)

    def _within_line(self, line: str, inline: Styles) -> None:
        is_code = bool(inline) and inline[-1].kind is Kind.CODE
        core = line if is_code else line.strip(_BLANKS)
        if not core:
            self._blanks += line
            return
        start = line.find(core)
        self._blanks += line[:start]
        written = self._written(core, inline)
        is_shy = core[0] in self._marks.shy or core[-1] in self._marks.shy
        looks = tuple(s for s in inline if s.kind in self._marks.pairs and not is_shy)
        self._turn(looks, written, is_mark=is_code)
        self._put(written)
        self._is_after_mark = is_code
        self._is_after_url = not is_code and ends_with_url(core)
        self._blanks = line[start + len(core) :]

    def _written(self, core: str, inline: Styles) -> str:
        style = inline[-1] if inline else Style(Kind.BOLD)
        if style.kind is Kind.CODE:
            return self._marks.ticked(self._marks.code(core))
        escaped = self._marks.escape(core, not self._last)
        return self._marks.link(core, escaped, style.value) if style.kind is Kind.LINK else escaped

    def _turn(self, looks: Styles, following: str, *, is_mark: bool) -> None:
        """End and begin marks, so that what follows has these looks."""
        shared = 0
        for mine, theirs in zip(self._open, looks, strict=False):
            if mine != theirs:
                break
            shared += 1
        pairs = self._marks.pairs
        closing = "".join(pairs[style.kind] for style in reversed(self._open[shared:]))
        opening = "".join(pairs[style.kind] for style in looks[shared:])
        self._open[shared:] = looks[shared:]
        comes_next = (self._blanks or opening or following)[:1]
        if closing:
            is_apart = not self._blanks and (is_mark or opening)
            self._put(self._inside(self._last, APART if is_apart else comes_next) + closing)
            self._is_after_mark = True
        self._put(self._between(comes_next, is_mark=is_mark or bool(opening)))
        if opening:
            self._put(opening + self._inside(following[:1], self._last))

    def _between(self, comes_next: str, *, is_mark: bool) -> str:
        """The blanks before what comes next, or what keeps it apart from a mark."""
        blanks, self._blanks = self._blanks, ""
        if blanks:
            self._is_after_mark = False
            is_start = not self._out and self._marks.measure(_NO_BREAK_SPACE) == 1
            # Platforms drop the spaces that a message begins with.
            return blanks.replace(" ", _NO_BREAK_SPACE) if is_start else blanks
        if not self._last or not comes_next:
            return ""
        if self._is_after_url and comes_next not in _SAFE_AFTER:
            return " "  # or it would be taken for more of the address
        if self._marks.hugs_letters:
            return APART if self._is_after_mark and is_mark else ""
        is_crowded = (self._is_after_mark and comes_next not in _SAFE_AFTER) or (
            is_mark and self._last not in _SAFE_BEFORE
        )
        return APART if is_crowded else ""

    def _inside(self, inner: str, outer: str) -> str:
        """What lets a mark count that stands between a sign and a letter."""
        is_lost = self._marks.hugs_letters and _is_sign(inner) and _is_letter(outer)
        return APART if is_lost else ""

    def _put(self, text: str) -> None:
        if text:
            self._out.append(text)
            self._last = text[-1]


def _is_sign(character: str) -> bool:
    return bool(character) and category(character)[0] in "PS"


def _is_letter(character: str) -> bool:
    return bool(character) and not character.isspace() and not _is_sign(character)
