"""Cutting what is laid out into messages that fit ([D15]). Pure and linear.

A segment that fits a message is never cut. One that does not is cut, each time at the best place
the room allows: between lines, sentences, words, and only then between two grapheme clusters
(Unicode Standard Annex 29). Every cut moves forward, so the work ends.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from unicodedata import category

import regex

from delivery.content import Unit
from delivery.layout import Segment, Shape, Span, Styles

# In every unit one code point fits, so that there is always a next cut.
MINIMUM_ROOM = 4
# Blank to the eye though no white space: Hangul fillers and the empty Braille cell.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
# How far a cluster is followed beyond the room to see whether it ends there.
_LOOK_AHEAD = 64

_CLUSTER = regex.compile(r"\X")
_SENTENCE = regex.compile(r"[.!?…][\"'”’)\]]*(?=[ \n])|[。！？；][”’」』）]*")
_WORD_ENDS = " \t\n、，："
_SPACES = " \t\n"
# A space or stop that carries an accent or joiner is one cluster with it: no place to cut.
_CARRIER = regex.compile(r"[\s\p{P}](?=[\p{M}\u200d])")
_FILLER = "x"


def measure(text: str, unit: Unit) -> int:
    """The length of `text` counted in `unit`; a lone surrogate counts as the platform would."""
    if text.isascii() or unit is Unit.CHARACTERS:
        return len(text)
    if unit is Unit.UTF16:
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass"))


def is_visible(text: str) -> bool:
    """Whether a person would see anything of `text`."""
    return any(
        not character.isspace()
        and category(character) not in {"Cc", "Cf"}
        and character not in _BLANK_LETTERS
        for character in text
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """How a dialect weighs words.

    Attributes:
        measure: The length of words as sent, escapes and all. It must be additive: the length
            of two texts joined is the sum of their lengths.
        overhead: What the marks around words in these styles add; paid once a span.
        escaped: The length of words in these styles where that depends on the styles, as it does
            where code is not escaped; `measure` for None. It must be additive too.
    """

    measure: Callable[[str], int]
    overhead: Callable[[Styles], int] = lambda _styles: 0
    escaped: Callable[[str, Styles], int] | None = None

    def weigh(self, spans: Iterable[Span]) -> int:
        """The length of all of `spans`."""
        return sum(
            self.length(span.text, span.styles) + self.overhead(span.styles) for span in spans
        )

    def length(self, text: str, styles: Styles) -> int:
        """The length of `text` in these styles, without the marks around it."""
        return self.measure(text) if self.escaped is None else self.escaped(text, styles)

    def fitting(self, text: str, room: int, styles: Styles = ()) -> int:
        """How many code points from the start of `text` fit `room`."""
        text = text[: max(room, 0)]
        if self.length(text, styles) <= room:
            return len(text)
        low, high = 0, len(text)
        while low + 1 < high:
            middle = (low + high) // 2
            if self.length(text[:middle], styles) <= room:
                low = middle
            else:
                high = middle
        return low


def pack(segments: Sequence[Segment], room: int, scale: Scale) -> list[list[Span]]:
    """Fill messages with segments, in order.

    Args:
        segments: What is to be sent.
        room: How long a message may be, in the unit of `scale`; taken as at least 4.
        scale: How words weigh.

    Returns:
        The spans of each message, each within `room`; none for segments nobody can see.
    """
    packer = _Packer(max(room, MINIMUM_ROOM), scale)
    for segment in segments:
        packer.add(segment)
    packer.close()
    return packer.parts


class _Packer:
    """Messages being filled, one after the other."""

    def __init__(self, room: int, scale: Scale) -> None:
        self.parts: list[list[Span]] = []
        self._room = room
        self._scale = scale
        self._placed: list[tuple[Segment, list[Span]]] = []
        self._used = 0

    def add(self, segment: Segment) -> None:
        """Put a segment into this message, or the next, or cut it over several."""
        header_weight = self._scale.weigh(segment.header)
        if header_weight > min(self._room // 2, self._room - MINIMUM_ROOM):
            segment = replace(segment, spans=segment.header + segment.spans, header=())
            header_weight = 0
        weight = header_weight + self._scale.weigh(segment.spans)
        if weight > self._room:
            self._cut(segment, header_weight)
            return
        if weight > self._left(segment):
            self._turn_over()
        if weight > self._left(segment):
            self.close()
        self._place(segment, [*segment.header, *segment.spans], weight)

    def close(self) -> None:
        """End this message; one that nobody can see is not sent."""
        spans = [span for _segment, spans in self._placed for span in spans]
        if is_visible("".join(span.text for span in spans)):
            self.parts.append(spans)
        self._placed, self._used = [], 0

    def _turn_over(self) -> None:
        """End this message, but take along the headings it would end with."""
        kept = len(self._placed)
        while kept and self._placed[kept - 1][0].keeps_next:
            kept -= 1
        taken = self._placed[kept:] if kept else []
        self._placed = self._placed[: len(self._placed) - len(taken)]
        self.close()
        for segment, _spans in taken:
            self._place(segment, list(segment.spans), self._scale.weigh(segment.spans))

    def _cut(self, segment: Segment, header_weight: int) -> None:
        if self._left(segment) < self._room // 4 + header_weight:
            self._turn_over()
        cutter = _Cutter(segment, self._scale)
        while not cutter.is_done:
            left = self._left(segment) - header_weight
            piece = cutter.take(left, may_wait=bool(self._placed))
            if piece:
                weight = header_weight + self._scale.weigh(piece)
                self._place(segment, [*segment.header, *piece], weight)
            if not cutter.is_done:
                self.close()

    def _gap(self, segment: Segment) -> Span:
        if not self._placed:
            return Span("")
        before = self._placed[-1][0]
        shared = 0
        for mine, theirs in zip(segment.around, before.around, strict=False):
            if mine != theirs:
                break
            shared += 1
        return Span(segment.gap, segment.around[:shared])

    def _left(self, segment: Segment) -> int:
        gap = self._gap(segment)
        return self._room - self._used - (self._scale.weigh([gap]) if gap.text else 0)

    def _place(self, segment: Segment, spans: list[Span], weight: int) -> None:
        gap = self._gap(segment)
        if gap.text:
            spans.insert(0, gap)
            weight += self._scale.weigh([gap])
        self._placed.append((segment, spans))
        self._used += weight


class _Cutter:
    """One segment, taken off piece by piece."""

    def __init__(self, segment: Segment, scale: Scale) -> None:
        self._spans = segment.spans
        self._shape = segment.shape
        self._scale = scale
        self._hang = segment.hang
        self._around = segment.around
        self._text = "".join(span.text for span in segment.spans)
        # The text with fillers where it should not be cut; of the same length.
        shadow = "".join(
            _FILLER * len(span.text) if span.is_solid else span.text for span in segment.spans
        )
        self._shadow: str = _CARRIER.sub(_FILLER, shadow)
        self._at = 0
        self._span = 0  # the span that holds `_at`
        self._span_start = 0

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._text)

    def take(self, room: int, *, may_wait: bool) -> list[Span]:
        """The next piece.

        Args:
            room: How long it may be.
            may_wait: A whole message will be free next time, so that nothing is better than
                a cut within a word.

        Returns:
            Its spans, or none if it is better to wait or nothing but spaces was left.
        """
        if may_wait and room < MINIMUM_ROOM:
            return []
        hang = self._hanging(room)
        reach = self._reach(room - self._scale.weigh(hang))
        end = self._end_within(reach, may_wait=may_wait)
        if end <= self._at:
            return []
        after = end
        if self._shape is Shape.PROSE:
            end, after = self._without_spaces(end)
        words = self._text[self._at : end]
        if self._shape is Shape.TABLE:
            end -= len(words) - len(words.rstrip("\n"))
        is_kept = self._shape is Shape.CODE or is_visible(words)
        piece = [*hang, *self._slices(end)] if is_kept else []
        self._at = after
        return piece

    def _end_within(self, reach: int, *, may_wait: bool) -> int:
        """Where to cut, up to and with `reach`; not beyond where we are if it is better to wait."""
        if reach >= len(self._text):
            return len(self._text)
        if self._shape is Shape.PROSE:
            end = self._cut_in_prose(reach)
        else:
            end = self._text.rfind("\n", self._at, reach) + 1
            if not end and not may_wait:
                middle = self._at + (reach - self._at + 1) // 2
                end = self._text.rfind(" ", middle, reach) + 1
        if end > self._at or may_wait:
            return end
        return self._between_clusters(reach)

    def _hanging(self, room: int) -> list[Span]:
        hang = [Span(self._hang, self._around, is_solid=True)]
        if not self._at or not self._hang:
            return []
        weight = self._scale.weigh(hang)
        return hang if weight <= room // 4 and room - weight >= MINIMUM_ROOM else []

    def _reach(self, room: int) -> int:
        """How far the text fits `room`; at least one code point further than now."""
        at, number, start = self._at, self._span, self._span_start
        while number < len(self._spans):
            span = self._spans[number]
            end = start + len(span.text)
            if at < end:
                room -= self._scale.overhead(span.styles)
                words = self._text[at : min(end, at + max(room, 0))]
                fitting = self._scale.fitting(words, room, span.styles)
                room -= self._scale.length(words[:fitting], span.styles)
                at += fitting
                if at < end:
                    break
            number, start = number + 1, end
        return max(at, self._at + 1)

    def _cut_in_prose(self, reach: int) -> int:
        """The best border of a line, sentence or word up to and with `reach`; 0 for none."""
        middle = self._at + (reach - self._at + 1) // 2
        line = self._shadow.rfind("\n", middle, reach + 1)
        if line > self._at:
            return line
        window_end = min(reach + 1, len(self._shadow))
        sentence = _last(_SENTENCE.finditer(self._shadow, middle, window_end), reach)
        if sentence > 0:
            return sentence
        if self._shadow[reach] in _SPACES:
            return reach
        return max(self._shadow.rfind(mark, self._at + 1, reach) for mark in _WORD_ENDS) + 1

    def _between_clusters(self, reach: int) -> int:
        """The last border between two clusters up to `reach`, or `reach` if there is none."""
        window = self._text[self._at : reach + _LOOK_AHEAD]
        border = 0
        for cluster in _CLUSTER.finditer(window):
            if self._at + cluster.end() > reach:
                break
            border = cluster.end()
        return self._at + border if border else reach

    def _without_spaces(self, end: int) -> tuple[int, int]:
        """The cut moved back before the spaces there, and where the text goes on after them."""
        after = end
        while end > self._at and self._shadow[end - 1] in _SPACES:
            end -= 1
        while after < len(self._text) and self._shadow[after] in _SPACES:
            is_line_end = self._text[after] == "\n"
            after += 1
            if is_line_end and self._hang and self._text.startswith(self._hang, after):
                after += len(self._hang)
        return end, after

    def _slices(self, end: int) -> Iterator[Span]:
        """The spans from here to `end`."""
        at = self._at
        while at < end:
            span = self._spans[self._span]
            span_end = self._span_start + len(span.text)
            if at < span_end:
                words = span.text[at - self._span_start : end - self._span_start]
                yield span._replace(text=words)
                at += len(words)
            if at >= span_end:
                self._span += 1
                self._span_start = span_end


def _last(matches: Iterable[regex.Match[str]], reach: int) -> int:
    end = -1
    for match in matches:
        if match.end() <= reach:
            end = match.end()
    return end
