"""Reading several options from one reply: "1, 3", "1-3", "docs and tests", "1、2". Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import regex

from clarify.folding import fold
from clarify.matching import (
    Label,
    cores,
    find_part,
    find_whole,
    is_politeness,
    without_article,
)
from clarify.numerals import read_range
from clarify.readings import Chosen, Hint, Reading, Unclear
from clarify.vocabulary import NEGATING

LONGEST_LIST = 2000  # characters; what is longer is prose
_MOST_PIECES = 64

_MARKS = r"[,，､、،;；؛\n]"
_STRONG = regex.compile(rf"\s*{_MARKS}\s*(?:(?:and|und|et|&|و)\s+)?")
_AND = r"and|und|sowie|et|y|e|и|و|&|\+"
_WEAK = regex.compile(
    rf"\s+(?:{_AND})\s+|(?<=\S)\s*[和与與跟と&+]\s*(?=\S)|(?<=\S)(?:와|과|이랑|랑|하고)\s+"
)
_OR = r"or|oder|ou|或|或者|还是|아니면|または|か|یا"
_SEPARATE = rf"\s|{_MARKS}|[/&+|·・ᆞ和与與跟と]"
_JOINED = rf"{_AND}|u\.?|와|과|이랑|랑|하고"
_BETWEEN_NUMBERS = regex.compile(rf"(?:{_SEPARATE}|(?<=[\d\s번째])(?:{_JOINED})(?=[\d\s]))+")
_BETWEEN_ALTERNATIVES = regex.compile(
    rf"(?:{_SEPARATE}|(?<=[\d\s번째])(?:{_JOINED}|{_OR})(?=[\d\s]))+"
)
_LOOSE_RANGE = regex.compile(r"(?<=[\d번])\s*(-|~|to|through|bis|到|至|تا|から|부터)\s*(?=\d)")

Place = Callable[[str], Reading | None]


@dataclass
class Several:
    """What a list of options turned out to hold.

    Attributes:
        labels: The labels chosen, as they came; they may repeat.
        others: Own words among them.
        unclear: The first piece that is not one option; nothing may be taken then.
    """

    labels: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    unclear: Unclear | None = None

    def add(self, reading: Reading) -> None:
        """Take one more piece."""
        if isinstance(reading, Chosen):
            self.labels += reading.labels
        elif isinstance(reading, Unclear) and self.unclear is None:
            self.unclear = reading


def read_several(
    labels: Sequence[Label], said: str, place: Place, *, alternatives: bool = False
) -> Several | None:
    """The options that a list in `said` names; None if it is not a list of options.

    Args:
        labels: The options, in their order.
        said: The whole reply.
        place: What one number or letter alone would mean; None for anything else.
        alternatives: "1 or 2" counts as a list as well, for telling that it is one too many.
    """
    if len(said) > LONGEST_LIST:
        return None
    between = _BETWEEN_ALTERNATIVES if alternatives and "?" not in fold(said) else _BETWEEN_NUMBERS
    for text in (said, *cores(said)):
        several = _numbers(labels, text, place, between)
        if several is not None:
            return several
    return _pieces(labels, said, place)


def _numbers(
    labels: Sequence[Label],
    said: str,
    place: Place,
    between: "regex.Pattern[str]" = _BETWEEN_NUMBERS,
) -> Several | None:
    """A list of nothing but numbers, letters and ranges, in whatever way they are kept apart."""
    tokens = [t for t in between.split(_LOOSE_RANGE.sub(r"\1", fold(_lines(said)))) if t]
    if not tokens or len(tokens) > _MOST_PIECES:
        return None
    several = Several()
    for token in tokens:
        readings = _spread(labels, token, place)
        if not readings:
            return None
        for reading in readings:
            several.add(reading)
    return several if len(tokens) > 1 or read_range(tokens[0]) is not None else None


def _lines(said: str) -> str:
    """`said` with a comma for every line end, which folding would make a mere space."""
    line: str = regex.sub(r"\s*\n\s*(?:[-*•]\s+)?", ",", said)
    return line.removeprefix("- ")


def _spread(labels: Sequence[Label], token: str, place: Place) -> list[Reading]:
    """The readings of one number, letter or range; none if it is no such thing."""
    alone = place(token)
    if alone is not None:
        return [alone]
    ends = read_range(token)
    if ends is None:
        return []
    low, high = ends
    if low >= 1 and high <= len(labels):
        return [reading for n in range(low, high + 1) if (reading := place(str(n))) is not None]
    outside = place(str(low if low < 1 else high))
    return [] if outside is None else [outside]


def _pieces(labels: Sequence[Label], said: str, place: Place) -> Several | None:
    """A list with labels in it, kept apart by marks or "and"; the rest are own words."""
    spans = _spans(said)
    if not 2 <= len(spans) <= _MOST_PIECES:
        return None
    widest = 1 + max(len(_STRONG.findall(label.exact)) for label in labels)
    several = Several()
    own: tuple[int, int] | None = None
    at = 0
    while at < len(spans):
        width, readings = _piece(labels, said, spans[at : at + widest], place)
        begin, end = spans[at][0], spans[at + width - 1][1]
        if readings:
            _keep(several, said, own)
            own = None
            for reading in readings:
                several.add(reading)
        else:
            own = (own[0] if own else begin, end)
        at += width
    _keep(several, said, own)
    if any(map(NEGATING.search, map(fold, several.others))):
        return None  # "docs, not ui" and "don't do 1, 2" are no lists
    return several if several.labels or several.unclear else None


def _keep(several: Several, said: str, own: tuple[int, int] | None) -> None:
    """Take the own words that end here, as they were typed."""
    if own is None:
        return
    text = said[own[0] : own[1]].strip()
    if text and not is_politeness(text):
        several.others.append(text)


def _spans(said: str) -> list[tuple[int, int]]:
    """Where the pieces between strong marks are; nothing between two marks is no piece."""
    spans, begin = [], 0
    for mark in _STRONG.finditer(said):
        spans.append((begin, mark.start()))
        begin = mark.end()
    spans.append((begin, len(said)))
    filled = [(b, e) for b, e in spans if said[b:e].strip()]
    if len(filled) > 1:
        return filled
    return _parts(said)  # no marks: the "and" of "docs and tests" may keep two labels apart


def _parts(said: str) -> list[tuple[int, int]]:
    """Where the pieces between each "and" are."""
    parts, begin = [], 0
    for joint in _WEAK.finditer(said):
        parts.append((begin, joint.start()))
        begin = joint.end()
    return [*parts, (begin, len(said))]


def _piece(
    labels: Sequence[Label], said: str, spans: list[tuple[int, int]], place: Place
) -> tuple[int, list[Reading]]:
    """The longest run of pieces from the first that is one label, or what the first one is."""
    for width in range(len(spans), 1, -1):
        run = said[spans[0][0] : spans[width - 1][1]]
        for text in (run, *cores(run)):
            found = find_whole(labels, text)
            if len(found) == 1:
                return width, [Chosen((labels[found[0]].exact,))]
    return 1, _alone(labels, said[spans[0][0] : spans[0][1]], place)


def _alone(labels: Sequence[Label], piece: str, place: Place) -> list[Reading]:
    """What one piece names, its courtesies aside; nothing if it is own words."""
    for text in (piece, *cores(piece)):
        if readings := _exactly(labels, text, place):
            return readings
    parts = _parts(piece)
    if len(parts) > 1:
        named = [_alone(labels, piece[begin:end], place) for begin, end in parts]
        if all(named):
            return [reading for readings in named for reading in readings]
    for text in (piece, *cores(piece)):
        if found := find_part(labels, text):
            return _found(labels, found)
    return []


def _exactly(labels: Sequence[Label], text: str, place: Place) -> list[Reading]:
    """The options whose labels or numbers `text` is."""
    found = find_whole(labels, text) or find_whole(labels, without_article(fold(text)))
    if found:
        return _found(labels, found)
    if numbers := _spread(labels, text, place):
        return numbers
    inner = _numbers(labels, text, place)
    return [] if inner is None else [inner.unclear or Chosen(tuple(inner.labels))]


def _found(labels: Sequence[Label], found: tuple[int, ...]) -> list[Reading]:
    if len(found) > 1:
        shown = tuple(f"{i + 1}. {labels[i].exact}" for i in found)
        return [Unclear(Hint("ambiguous", {"options": shown}))]
    return [Chosen((labels[i].exact,)) for i in found]
