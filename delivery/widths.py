"""Tables for a monospaced face: columns aligned by what a terminal cell shows. Pure.

Chinese, Japanese and Korean characters and emoji take two columns (Unicode Standard Annex 11);
accents and joiners take none.
"""

from collections.abc import Sequence

from wcwidth import width

from delivery.document import Align

# Shorter cells are filled up to the widest of their column, but never further than this: one
# enormous cell would otherwise make every row of the table enormous.
MAXIMUM_FILL = 40


def display_width(text: str) -> int:
    """How many columns `text` takes; control characters take none."""
    if text.isascii() and text.isprintable():
        return len(text)
    columns: int = width(text, control_codes="ignore")
    return columns


def table_lines(rows: Sequence[Sequence[str]], alignments: Sequence[Align]) -> list[str]:
    """Draw a table.

    Args:
        rows: The header first; every row has one text, without line ends, for each alignment.
        alignments: One a column.

    Returns:
        The header, a line across, and a line for each further row; no line ends in a space.
    """
    columns = [
        min(max(display_width(row[index]) for row in rows), MAXIMUM_FILL)
        for index in range(len(alignments))
    ]
    drawn = [_line(row, columns, alignments) for row in rows]
    across = "-+-".join("-" * max(columns_wide, 1) for columns_wide in columns)
    return [drawn[0], across, *drawn[1:]]


def _line(row: Sequence[str], columns: Sequence[int], alignments: Sequence[Align]) -> str:
    cells = [
        _fill(cell, wide, leaning)
        for cell, wide, leaning in zip(row, columns, alignments, strict=True)
    ]
    return " | ".join(cells).rstrip()


def _fill(cell: str, wide: int, leaning: Align) -> str:
    missing = max(0, wide - display_width(cell))
    if leaning is Align.RIGHT:
        return " " * missing + cell
    if leaning is Align.CENTER:
        return " " * (missing // 2) + cell + " " * (missing - missing // 2)
    return cell + " " * missing
