"""Reading the number of an option however it is written: `2`, `(２)`, `#2`, `the second`, `2番`.

Pure. The whole text must be a number and what people put around one; "2 servers" is none.
"""

from dataclasses import dataclass

import regex

from clarify.folding import fold
from clarify.vocabulary import (
    ARTICLES,
    COUNTERS,
    LAST,
    NEEDS_COMPANY,
    NUMBER_WORDS,
    OPTION_NOUNS,
    ORDINAL_WORDS,
    QUANTITIES,
    THROUGH,
)

LONGEST_NUMERAL = 60
_LONGEST_SHOWN = 12
_HIGHEST = 999_999  # stands for any higher number; no list is that long
# NFKC writes these with letters, or not at all.
_SIGNS = {
    **{0x2160 + i: str(i + 1) for i in range(12)},  # Roman numerals, capital
    **{0x2170 + i: str(i + 1) for i in range(12)},  # Roman numerals, small
    0x1F51F: "10",  # the keycap "10"
    0x1F170: "a",  # squared letters, as emoji
    0x1F171: "b",
}
_WORDS = "|".join(regex.escape(w) for w in sorted(NUMBER_WORDS, key=len, reverse=True))
_OPENING = " ([{<【「『《\"'*`_“„«"
_CLOSING = " )]}>】」』》\"'*`_”».,:;!?…。、،؛؟！"
_NUMERAL = regex.compile(
    rf"(?P<article>(?:{ARTICLES})\s+)?"
    rf"(?P<noun>(?:(?:{OPTION_NOUNS})[\s.:]*)*+(?:(?:no|nr|num)(?![a-z])[\s.:]*(?=\d))?)[(\[]?"
    rf"(?P<core>-?\d+|{_WORDS})[)\]]?"
    rf"(?P<counter>(?:\.?\s*(?:{COUNTERS}))*+)"
)
_LETTER = regex.compile(
    rf"(?:(?:{ARTICLES})\s+)?(?:(?:{OPTION_NOUNS})[\s.:]*)*+[(\[]?(?P<letter>[a-z])[)\]]?"
)
_RANGE = regex.compile(rf"(?P<first>[^\s~-]+)\s*(?:{THROUGH})\s*(?P<last>[^\s~-]+?)(?:まで|까지)?")
_ORDINAL_MARKS = frozenset(["st", "nd", "rd", "th", "番目", "つ目", "번째", "째", "مین", "می"])


@dataclass(frozen=True)
class Numeral:
    """A number as it was written.

    Attributes:
        value: The number; `vocabulary.LAST` with `is_ordinal` means the last one.
        is_ordinal: It says a place in the list ("the second", "第二个") and nothing else.
        has_noun: It was called an option or a number ("option 2", "#2").
        shown: The number as it is told back to the person; a very long one is cut.
    """

    value: int
    shown: str = ""
    is_ordinal: bool = False
    has_noun: bool = False

    def index(self, count: int) -> int | None:
        """The place in a list of `count`, from 0; None if the list has no such place."""
        value = count if self.is_ordinal and self.value == LAST else self.value
        return value - 1 if 1 <= value <= count else None


def read_numeral(text: str) -> Numeral | None:
    """The number that the whole of `text` is; None if it is anything else."""
    match = _matched(_NUMERAL, text)
    if match is None:
        return None
    core, noun, counter = match["core"], match["noun"], match["counter"].strip()
    if not noun and _is_no_place(core, counter, match["article"]):
        return None
    is_ordinal = core in ORDINAL_WORDS or "第" in noun or bool(_ORDINAL_MARKS & {*counter.split()})
    value = NUMBER_WORDS[core] if core in NUMBER_WORDS else _bounded(core)
    shown = core if len(core) <= _LONGEST_SHOWN else f"{core[:_LONGEST_SHOWN]}…"
    return Numeral(value, shown, is_ordinal=is_ordinal, has_noun=bool(noun))


def _is_no_place(core: str, counter: str, article: str | None) -> bool:
    """Whether a number word alone says something else: "the one", "三个" (three of them)."""
    if counter:
        return counter in QUANTITIES and core not in ORDINAL_WORDS
    is_cardinal = core in NUMBER_WORDS and core not in ORDINAL_WORDS
    return core in NEEDS_COMPANY or (is_cardinal and article == "the ")


def read_letter(text: str) -> int | None:
    """The place in the alphabet, from 0, of the one letter that `text` is: `b`, `(B)`, `Ｂ`."""
    match = _matched(_LETTER, text)
    return None if match is None else ord(match["letter"]) - ord("a")


def read_range(text: str) -> tuple[int, int] | None:
    """The two ends of `1-3`, `1 to 3`, `１～３`, the lower first; None if it is no range."""
    match = _matched(_RANGE, text)
    if match is None:
        return None
    ends = (read_numeral(match["first"]), read_numeral(match["last"]))
    if ends[0] is None or ends[1] is None:
        return None
    low, high = sorted((ends[0].value, ends[1].value))
    return low, high


def _matched(pattern: "regex.Pattern[str]", text: str) -> "regex.Match[str] | None":
    """The match of `pattern` with the whole of a short text, folded, bare of marks around it."""
    if len(text) > LONGEST_NUMERAL:
        return None
    core = fold(text.translate(_SIGNS)).removeprefix("- ")
    bare = core.lstrip(_OPENING).rstrip(_CLOSING)
    return pattern.fullmatch(bare) if bare else None


def _bounded(digits: str) -> int:
    """The value of digits however many there are: Python refuses to read thousands of them."""
    short = digits.lstrip("-").lstrip("0")
    value = int(short or "0") if len(short) <= 6 else _HIGHEST
    return -value if digits.startswith("-") else value
