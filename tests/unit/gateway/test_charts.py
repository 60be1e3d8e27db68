"""Bars that are drawn without a script."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.charts import HEIGHT, LEAST, WIDTH, bars


def labels(count: int) -> list[str]:
    return [f"{number:02}:00" for number in range(count)]


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=48))
def test_every_bar_stands_in_its_place_and_none_leaves_the_drawing(values) -> None:
    row = bars(values, labels(len(values)))
    place = WIDTH / len(values)
    shown = [(number, value) for number, value in enumerate(values) if value]
    assert [bar.value for bar in row.bars] == [value for _, value in shown]
    for bar, (number, _) in zip(row.bars, shown, strict=True):
        assert number * place <= bar.x
        assert bar.x + bar.width <= (number + 1) * place + 0.01
        assert LEAST <= bar.height <= HEIGHT
        assert abs(bar.y + bar.height - HEIGHT) < 0.02


def test_the_highest_fills_the_drawing_and_one_among_thousands_is_seen() -> None:
    row = bars([1, 5000], labels(2))
    assert [bar.height for bar in row.bars] == [LEAST, HEIGHT]
    assert (row.highest, row.last, row.total) == (5000, 5000, 5001)


def test_of_nothing_nothing_is_drawn() -> None:
    row = bars([0, 0], labels(2))
    assert (row.bars, row.highest, row.total) == ((), 0, 0)
