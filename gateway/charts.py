"""Bars for a chart that is drawn without a script: where each stands, and what it says. Pure.

A place is in units of the drawing (`viewBox`), which the page stretches to the width that there is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 480.0, 72.0  # of one row of bars
GAP = 0.25  # of a bar's place, left free beside it
LEAST = 2.0  # how high the smallest bar is, so that one among thousands is seen


@dataclass(frozen=True)
class Bar:
    """One bar: its upper left corner, its size, and the value that it stands for."""

    x: float
    y: float
    width: float
    height: float
    value: int
    label: str


@dataclass(frozen=True)
class Bars:
    """One row of bars.

    Attributes:
        bars: In order, those of nothing left out.
        highest: The largest value.
        last: The newest one.
        total: All of them together.
    """

    bars: tuple[Bar, ...]
    highest: int
    last: int
    total: int


def bars(values: Sequence[int], labels: Sequence[str]) -> Bars:
    """Lay out one row of bars.

    Args:
        values: What they stand for, oldest first; at least one, none below 0.
        labels: When, for each of them.
    """
    highest = max(values)
    place = WIDTH / len(values)
    drawn = []
    for position, (value, label) in enumerate(zip(values, labels, strict=True)):
        if not value:
            continue
        height = round(max(LEAST, HEIGHT * value / highest), 2)
        x = round(place * (position + GAP / 2), 2)
        width = round(place * (1 - GAP), 2)
        drawn.append(Bar(x, round(HEIGHT - height, 2), width, height, value, label))
    return Bars(tuple(drawn), highest, values[-1], sum(values))
