"""Finding the option whose label a person typed, exactly or in part. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import regex

from clarify.folding import fold, tighten, without_recommendation, words
from clarify.schema import Option
from clarify.vocabulary import (
    ARTICLES,
    CARDINAL_WORDS,
    KIND_SIGNS,
    ONLY_AFTER,
    ONLY_BEFORE,
    POLITE_AFTER,
    POLITE_BEFORE,
    SMALL_TALK,
)

# A label holds at most 200 characters; what is much longer is a sentence of the person's own.
LONGEST_LABEL_REPLY = 1300  # a label and its description, copied
LONGEST_FRAGMENT = 200
_LONGEST_POLITE = 320
_SHORTEST_STEM = 3  # letters of a word that stand for the whole: "pro" for "Production"
_YES_NO = {"y": "yes", "n": "no"}

_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]")
_ATTACHES = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
_BEFORE = r"(?:[\s,:、，،]+|(?<=[\p{Han}\p{Hiragana}])|(?<=\p{Hangul})(?=\d))"
_AFTER = rf"(?:(?<=[\s,.!、，،]|{_ATTACHES}|\d)|(?<=\S)(?={_ATTACHES}))"
_POLITE_BEFORE = regex.compile(rf"(?:{POLITE_BEFORE}){_BEFORE}")
_POLITE_AFTER = regex.compile(rf"{_AFTER}(?:{POLITE_AFTER})$")
_ONLY_BEFORE = regex.compile(rf"(?:{ONLY_BEFORE}){_BEFORE}")
_ONLY_AFTER = regex.compile(rf"{_AFTER}(?:{ONLY_AFTER})$")
_POLITE = regex.compile(rf"(?:(?:{POLITE_BEFORE}|{POLITE_AFTER})[\s,.!]*){{1,3}}")
_ARTICLE = regex.compile(rf"(?:{ARTICLES})\s+(?P<rest>\S.*?)(?:\s+(?:one|option|variante))?")
_MARKS_BETWEEN = f" ,.!。，、،{KIND_SIGNS}"
_MOST_COURTESIES = 3  # "ok, I'll take … then, please"


@dataclass(frozen=True)
class Label:
    """A label in the shapes it is compared in."""

    exact: str
    soft: frozenset[str]
    tight: frozenset[str]
    words: frozenset[tuple[str, ...]]
    unspaced: frozenset[str]

    @classmethod
    def of(cls, option: Option) -> "Label":
        """The shapes of one option's label, with and without its "(Recommended)"."""
        soft = fold(option.label)
        both = frozenset({soft, without_recommendation(soft)})
        told = {words(each) for each in both}
        if option.description:
            copied = words(fold(option.description))
            told |= {each + copied for each in told}
        tight = frozenset(filter(None, map(tighten, both)))
        return cls(
            exact=option.label,
            soft=both,
            tight=tight,
            words=frozenset(filter(None, told)),
            unspaced=frozenset(each.replace(" ", "") for each in tight),
        )

    @property
    def first_words(self) -> frozenset[str]:
        """The words the label may begin with."""
        return frozenset(each[0] for each in self.words)

    def has_word(self, word: str) -> bool:
        """Whether the label holds the folded `word`."""
        return any(word in each for each in self.words)


def labels_of(options: Iterable[Option]) -> tuple[Label, ...]:
    """The labels of `options`, ready for comparing."""
    return tuple(map(Label.of, options))


def find_whole(labels: Sequence[Label], said: str) -> tuple[int, ...]:
    """The options whose whole label `said` is.

    The strictest way of comparing that finds any decides: as typed; but for case, width and space;
    but for a "(Recommended)"; but for marks around it; for all marks; for space between words.

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
        # Whether words are kept apart is a habit: 단위테스트, آزمون ها, "part time".
        lambda label: is_worded and tight.replace(" ", "") in label.unspaced,
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


def cores(said: str) -> tuple[str, ...]:
    """What may be left of `said`, folded, without "I choose …", "… please" and their like.

    A courtesy less each time; none if there is none, and never an empty text. Use them only to
    try a match: a word that is polite here means something elsewhere.
    """
    if len(said) > _LONGEST_POLITE:
        return ()
    found = dict.fromkeys([fold(said)])
    newest = [*found]
    for _ in range(_MOST_COURTESIES):
        # "yes please" may be a yes and a courtesy, or two courtesies.
        shorter = [cut(core) for core in newest for cut in (_bare, _without_after, _without_before)]
        newest = [core for core in dict.fromkeys(shorter) if core and core not in found]
        found |= dict.fromkeys(newest)
    return tuple(found)[1:]


def without_article(core: str) -> str:
    """The "staging" of "the staging" and "the staging one"; `core` if it has no article."""
    match = _ARTICLE.fullmatch(core)
    return match["rest"] if match else core


def is_politeness(text: str) -> bool:
    """Whether `text` is a courtesy and nothing else."""
    return len(text) <= _LONGEST_POLITE and bool(_POLITE.fullmatch(_bare(fold(text))))


def _bare(core: str) -> str:
    return core.strip(_MARKS_BETWEEN)


def _without_before(core: str) -> str:
    begun = _POLITE_BEFORE.match(core)
    if begun:
        return core[begun.end() :]
    only = _ONLY_BEFORE.match(core)
    return _of_many(core, core[only.end() :]) if only else core


def _without_after(core: str) -> str:
    rest = _POLITE_AFTER.sub("", core)
    return _bare(rest) if rest != core else _of_many(core, _ONLY_AFTER.sub("", core))


def _of_many(core: str, rest: str) -> str:
    """`rest`, unless it is a number word: "only two" says how many, and not which."""
    return core if _bare(rest) in CARDINAL_WORDS else _bare(rest)
