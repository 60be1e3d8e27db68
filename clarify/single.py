"""Reading the answer to one question, by the rules in `clarify.choices`. Pure and total."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import regex

from clarify.folding import clean, fold, is_blank, tighten
from clarify.lists import Several, read_several
from clarify.matching import (
    Label,
    cores,
    find_part,
    find_whole,
    labels_of,
    without_article,
)
from clarify.numerals import Numeral, read_letter, read_numeral
from clarify.readings import Chosen, Declined, Hint, Nothing, Own, Reading, Unclear
from clarify.schema import Question
from clarify.vocabulary import ALL, ALL_OF, DECLINES, NONE, OTHER, is_one_of, without_other_prefix

_HIGHEST_LETTER = 7  # "h": a single letter beyond it is hardly meant as an option's
_SKIP_COMMAND = regex.compile(r"/skip(?:@\w+)?(?:\s|$)", regex.IGNORECASE)
_COPIED = regex.compile(
    r"[\s(\[#*-]*(?P<head>\d{1,2}|[a-z])(?P<mark>[\s.):\]、,-]+)(?P<tail>\S.*)", regex.DOTALL
)


# Characters; whatever is longer chooses nothing, it is somebody's own words. Labels end at 200.
LONGEST_CHOICE = 4_000


@dataclass(frozen=True)
class _Asked:
    """One question as the steps below need it."""

    question: Question
    labels: tuple[Label, ...]
    lettered: bool

    def choose(self, indexes: Sequence[int]) -> Chosen:
        """The options at `indexes`, in the order of the list."""
        return Chosen(tuple(self.question.labels[i] for i in sorted(set(indexes))))

    def shown(self, indexes: Sequence[int] | None = None) -> tuple[str, ...]:
        """The options as they are listed on the screen."""
        places = range(len(self.labels)) if indexes is None else sorted(set(indexes))
        return tuple(f"{self.mark(i)}. {self.question.labels[i]}" for i in places)

    def mark(self, index: int) -> str:
        """What stands before the option at `index`."""
        return chr(ord("a") + index) if self.lettered else str(index + 1)

    def place(self, text: str) -> Reading | None:
        """The option whose number or letter `text` is."""
        numeral = read_numeral(text)
        if numeral is not None:
            return self._numbered(numeral)
        letter = read_letter(text) if self.lettered else None
        if letter is None or letter > _HIGHEST_LETTER:
            return None
        in_range = letter < len(self.labels)
        return self.choose((letter,)) if in_range else self.out_of_range(chr(ord("a") + letter))

    def _numbered(self, numeral: Numeral) -> Reading:
        index = numeral.index(len(self.labels))
        meant = set() if index is None else {index}
        said = numeral.shown if numeral.is_ordinal else str(numeral.value)
        if not numeral.is_ordinal:
            called = {i for i, label in enumerate(self.labels) if said in label.tight}
            if len(called) == 1 and not numeral.has_noun:
                return self.choose(tuple(called))
            meant |= {i for i, label in enumerate(self.labels) if said in label.first_words}
        if not numeral.shown.isdigit():  # "the first" beside an option called "First floor"
            meant |= {i for i, label in enumerate(self.labels) if label.has_word(numeral.shown)}
        if len(meant) > 1:
            shown = self.shown(tuple(meant))
            return Unclear(Hint("ambiguous_number", {"said": said, "options": shown}))
        return self.choose(tuple(meant)) if meant else self.out_of_range(numeral.shown)

    def out_of_range(self, said: str) -> Unclear:
        """The reading of a number or letter that the list does not have."""
        ends = {"first": self.mark(0), "last": self.mark(len(self.labels) - 1)}
        return Unclear(Hint("out_of_range", {"said": said, **ends}))

    def matched(self, found: tuple[int, ...]) -> Reading | None:
        """The reading of a text that means the options at `found`."""
        if len(found) > 1:
            return Unclear(Hint("ambiguous", {"options": self.shown(found)}))
        return self.choose(found) if found else None


def read_one(question: Question, text: str, *, lettered: bool = False) -> Reading:
    """What `text` answers to `question`.

    Args:
        question: The question that is open.
        text: The reply as it came in; anything at all.
        lettered: The options were shown as a, b, c; numbers are read all the same.
    """
    said = clean(text).strip()
    if is_blank(said):
        return Nothing()
    if len(said) > LONGEST_CHOICE:
        return Own(said)
    asked = _Asked(question, labels_of(question.options), lettered)
    for step in _STEPS if question.options else _OPEN_STEPS:
        reading = step(asked, said)
        if reading is not None:
            return reading
    return Own(said)


def is_label(question: Question, text: str) -> bool:
    """Whether the whole of `text` is the label of exactly one option of `question`."""
    if len(text) > LONGEST_CHOICE:
        return False
    return len(find_whole(labels_of(question.options), clean(text).strip())) == 1


def looks_like_answer(question: Question, text: str) -> bool:
    """Whether `text` makes sense only as an answer to `question`: a bare number, letter or label.

    For a question that is closed already: such a text must not start a turn ([Q20]).
    """
    said = clean(text[: LONGEST_CHOICE + 1]).strip()
    if not question.options or is_blank(said) or len(text) > LONGEST_CHOICE:
        return False
    if is_label(question, said) or read_numeral(said) is not None:
        return True
    return read_letter(said) is not None and len(tighten(fold(said))) == 1


def _as_label(asked: _Asked, said: str) -> Reading | None:
    if _SKIP_COMMAND.match(said) and said not in asked.question.labels:
        return None
    return _first(asked, said, lambda text: asked.matched(_find(find_whole, asked, text)))


def _find(
    find: Callable[[Sequence[Label], str], tuple[int, ...]], asked: _Asked, text: str
) -> tuple[int, ...]:
    """The options that `text`, with or without an article before it, is found to be."""
    return find(asked.labels, text) or find(asked.labels, without_article(fold(text)))


def _first(asked: _Asked, said: str, read: Callable[[str], Reading | None]) -> Reading | None:
    """The first reading of `said` or of what is left of it without its courtesies."""
    reading = read(said)
    if reading is not None:
        return reading
    for core in cores(said):
        reading = read(core)
        if reading is not None:
            return _unless_opposed(asked, fold(said).partition(core)[0], reading)
    return None


def _unless_opposed(asked: _Asked, courtesy: str, reading: Reading) -> Reading:
    """`reading`, unless the courtesy before it is itself another option: "yes, keep it"."""
    opposed = find_part(asked.labels, courtesy) if courtesy.strip() else ()
    if not opposed or not isinstance(reading, Chosen) or len(reading.labels) != 1:
        return reading
    meant = asked.question.labels.index(reading.labels[0])
    return reading if meant in opposed else (asked.matched((*opposed, meant)) or reading)


def _as_other(_asked: _Asked, said: str) -> Reading | None:
    rest = without_other_prefix(said)
    if rest:
        return Own(rest)
    return Unclear(Hint("own_words")) if is_one_of(said, OTHER) else None


def _as_refusal(asked: _Asked, said: str) -> Reading | None:
    if _SKIP_COMMAND.match(said):
        return Declined()
    return _first(asked, said, lambda text: _refusal(asked, text))


def _refusal(asked: _Asked, text: str) -> Reading | None:
    if is_one_of(text, DECLINES):
        return Declined()
    if asked.labels and is_one_of(text, NONE):
        return Chosen(()) if asked.question.multi_select else Declined()
    return None


def _as_place(asked: _Asked, said: str) -> Reading | None:
    return _first(asked, said, asked.place)


def _as_copied_line(asked: _Asked, said: str) -> Reading | None:
    line = _COPIED.fullmatch(fold(said)) if len(said) < 1500 else None
    if line is None or (asked.question.multi_select and set(line["mark"]) & {",", "、"}):
        return None
    found = find_whole(asked.labels, line["tail"])
    if not found:
        return None
    marked = asked.place(line["head"])
    named = asked.choose(found)
    if marked is None or (len(found) == 1 and marked == named):
        return named if marked is not None else None
    return Unclear(Hint("ambiguous", {"options": asked.shown()}))


def _as_several(asked: _Asked, said: str) -> Reading | None:
    if asked.question.multi_select:
        everything = _first(asked, said, lambda text: _everything(asked, text))
        if everything is not None:
            return everything
        several = read_several(asked.labels, said, asked.place)
        return None if several is None else _all_of(asked, several)
    several = read_several(asked.labels, said, asked.place, alternatives=True)
    if several is None or several.others:
        return None
    if several.unclear is not None:
        return several.unclear
    if len(set(several.labels)) == 1:
        return Chosen((several.labels[0],))
    return Unclear(Hint("choose_one", {"options": asked.shown()}))


def _everything(asked: _Asked, text: str) -> Reading | None:
    count = len(asked.labels)
    is_all = is_one_of(text, ALL) or is_one_of(text, ALL_OF.get(count, ()))
    return asked.choose(range(count)) if is_all else None


def _all_of(asked: _Asked, several: Several) -> Reading:
    if several.unclear is not None:
        return several.unclear
    taken = set(several.labels)
    chosen = tuple(label for label in asked.question.labels if label in taken)
    return Chosen(chosen, tuple(dict.fromkeys(several.others)))


def _as_part(asked: _Asked, said: str) -> Reading | None:
    return _first(asked, said, lambda text: asked.matched(_find(find_part, asked, text)))


_Step = Callable[[_Asked, str], Reading | None]
_STEPS: tuple[_Step, ...] = (
    _as_label,
    _as_other,
    _as_refusal,
    _as_place,
    _as_copied_line,
    _as_several,
    _as_part,
)
_OPEN_STEPS: tuple[_Step, ...] = (_as_refusal,)
