"""Styles as stretches of a text, for platforms that take text and styles apart ([D14]). Pure."""

from collections.abc import Sequence
from itertools import accumulate

from delivery.content import Unit
from delivery.layout import Span, Style, Styles
from delivery.splitting import measure

Stretch = tuple[Style, int, int]  # a style, and the code points it covers, the end not included


def stretches_of(spans: Sequence[Span]) -> list[Stretch]:
    """The styles and what they cover, outer before inner, in order.

    Neighbouring spans that share their outer styles share those stretches, so of two stretches
    that meet one always holds the other.
    """
    found: list[Stretch] = []
    opened: list[Stretch] = []  # here the last number is the place in `found`
    at = 0
    for span in (*(span for span in spans if span.text), Span("")):
        shared = _shared(opened, span.styles)
        while len(opened) > shared:
            style, start, place = opened.pop()
            found[place] = (style, start, at)
        for style in span.styles[shared:]:
            opened.append((style, at, len(found)))
            found.append((style, at, at))
        at += len(span.text)
    return found


def _shared(opened: Sequence[Stretch], styles: Styles) -> int:
    shared = 0
    for (style, _start, _place), other in zip(opened, styles, strict=False):
        if style != other:
            break
        shared += 1
    return shared


def utf16_offsets(text: str) -> Sequence[int]:
    """For every code point, and the end, how many UTF-16 units come before it."""
    if measure(text, Unit.UTF16) == len(text):
        return range(len(text) + 1)
    return list(accumulate((1 + (character > "\uffff") for character in text), initial=0))
