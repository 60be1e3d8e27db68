"""Finding the option whose label a person typed, exactly or in part. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import regex

from clarify.folding import fold, tighten, without_recommendation, words
from clarify.schema import Option
from clarify.vocabulary import POLITE_AFTER, POLITE_BEFORE, SMALL_TALK

# A label holds at most 200 characters; what is much longer is a sentence of the person's own.
LONGEST_LABEL_REPLY = 1300  # a label and its description, copied
LONGEST_FRAGMENT = 200
_LONGEST_POLITE = 320
_SHORTEST_STEM = 3  # letters of a word that stand for the whole: "pro" for "Production"
_YES_NO = {"y": "yes", "n": "no"}

_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]")
_BEFORE = regex.compile(
    rf"(?:{POLITE_BEFORE})(?:[\s,:]+|(?<=[\p{{Han}}\p{{Hiragana}}\p{{Hangul}}])[\s,:]*)"
)
_AFTER = regex.compile(
    rf"(?:(?<=[\s,.!]|[\p{{Han}}\p{{Hiragana}}\p{{Hangul}}\p{{Katakana}}\d])(?:{POLITE_AFTER})"
    r"|(?<=\S)(?:으로|로|요|이요|です|で|吧))$"
)
_MARKS_BETWEEN = " ,.!。，"
_MOST_COURTESIES = 3  # "ok, I'll take … then, please"


@dataclass(frozen=True)
class Label:
    """A label in the shapes it is compared in."""

    exact: str
    soft: frozenset[str]
    tight: frozenset[str]
    words: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, option: Option) -> "Label":
        """The shapes of one option's label, with and without its "(Recommended)"."""
        soft = fold(option.label)
        both = frozenset({soft, without_recommendation(soft)})
        told = {words(each) for each in both}
        if option.description:
            copied = words(fold(option.description))
            told |= {each + copied for each in told}
        return cls(
            exact=option.label,
            soft=both,
            tight=frozenset(filter(None, map(tighten, both))),
            words=frozenset(filter(None, told)),
        )

    @property
    def first_words(self) -> frozenset[str]:
        """The words the label may begin with."""
        return frozenset(each[0] for each in self.words)


def labels_of(options: Iterable[Option]) -> tuple[Label, ...]:
    """The labels of `options`, ready for comparing."""
    return tuple(map(Label.of, options))


def find_whole(labels: Sequence[Label], said: str) -> tuple[int, ...]:
    """The options whose whole label `said` is.

    The strictest way of comparing that finds any decides: as typed; but for case, width and space;
    but for a "(Recommended)"; but for marks around it; but for all marks.

    Returns:
        The places in `labels`, ascending; none if no label is meant, several if it is ambiguous.
    """
    if len(said) > LONGEST_LABEL_REPLY:
        return ()
    soft = fold(said)
    tight, spoken = tighten(soft), words(soft)
    # "#2" is not the label "2": it may as well mean the second option.
    is_worded = not all(word.isdigit() for word in spoken)
    ways: tuple[Callable[[Label], bool], ...] = (
        lambda label: said.strip() == label.exact.strip(),
        lambda label: soft == fold(label.exact),
        lambda label: soft in label.soft or without_recommendation(soft) in label.soft,
        lambda label: tight in label.tight,
        lambda label: is_worded and spoken in label.words,
    )
    for way in ways:
        if found := tuple(i for i, label in enumerate(labels) if way(label)):
            return found
    return ()


def find_part(labels: Sequence[Label], said: str) -> tuple[int, ...]:
    """The options whose label `said` is a telling part of: its beginning, or words from within.

    Small talk ("no", "not now") counts only as the beginning of a label, so that it never picks
    an option it happens to occur in.
    """
    if len(said) > LONGEST_FRAGMENT:
        return ()
    soft = fold(said)
    part = tighten(soft)
    part = _YES_NO.get(part, part)
    spoken = words(part)
    if not spoken:
        return ()
    test = _begins if all(word in SMALL_TALK for word in spoken) or len(part) < 2 else _occurs
    return tuple(i for i, label in enumerate(labels) if test(label, part, spoken))


def _begins(label: Label, _part: str, spoken: tuple[str, ...]) -> bool:
    return any(each[: len(spoken)] == spoken for each in label.words)


def _occurs(label: Label, part: str, spoken: tuple[str, ...]) -> bool:
    if _UNSPACED.search(part):
        return any(part in shape for shape in label.tight)
    is_stem = len(part) >= _SHORTEST_STEM and any(s.startswith(part) for s in label.tight)
    return is_stem or any(_has_run(each, spoken) for each in label.words)


def _has_run(label_words: tuple[str, ...], spoken: tuple[str, ...]) -> bool:
    size = len(spoken)
    return any(label_words[i : i + size] == spoken for i in range(len(label_words) - size + 1))


def without_politeness(said: str) -> str:
    """`said`, folded, without "I choose …", "… please" and their like; empty if nothing is left.

    Use it only to try a match: it also drops words that mean something elsewhere.
    """
    if len(said) > _LONGEST_POLITE:
        return ""
    core = fold(said)
    for _ in range(_MOST_COURTESIES):
        begun = _BEFORE.match(core)
        rest = (core[begun.end() :] if begun else core).rstrip(_MARKS_BETWEEN)
        core = _AFTER.sub("", rest).strip(_MARKS_BETWEEN)
    return core
