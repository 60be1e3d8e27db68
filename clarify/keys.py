"""Finding the keys in a reply to several questions: "2: …", "1b", "Q1: …", "city: …". Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from clarify.folding import fold
from clarify.schema import Question

_NUMBER_WORD = (
    r"(?:questions?|question\s*no\.?|q|frage|zu|nr\.?|no\.?|#|问题|問題|第|سوال|سؤال|پرسش|"
    r"질문|質問|問)"
)
_BLANK = r"[^\S\n]"  # white space within the line
# After the number: a mark; or the letters of the options themselves ("1b", "2a,c").
_MARK = (
    rf"{_BLANK}{{0,3}}[:：=](?!\d\d(?!\d))"  # not the minutes of "1:30"
    rf"|{_BLANK}{{0,3}}[.．)）\]、](?!\d)"  # not the decimals of "1.5"
    rf"|{_BLANK}{{0,3}}[-–—]{_BLANK}"
)
# "1は本番", "1번은 운영": the question is the topic of a sentence, and may as well be an option.
_TOPIC = rf"(?:(?:은|는){_BLANK}|は)(?=\S)"
_LETTERS = r"[a-hA-Hａ-ｈＡ-Ｈ]"
_COMPACT = (
    rf"(?P<letters>(?:{_LETTERS}{{1,4}}|\s{_LETTERS})(?:\s?[,，、/&+]\s?{_LETTERS}(?!\w))*)"
    r"(?=$|[\s;；,，.)])"
)
_NUMERIC = regex.compile(
    rf"[(（\[]?(?:{_NUMBER_WORD}{_BLANK}{{0,3}})?(?P<digit>\d{{1,2}}|[一二三])"
    rf"(?:{_BLANK}?(?:题|題|번|番|问|問))?(?:{_MARK}|(?P<topic>{_TOPIC})|{_COMPACT})",
    regex.IGNORECASE,
)
_NAME_MARK = (
    rf"(?:{_BLANK}{{0,3}}[:：=]|{_BLANK}{{1,3}}[-–—]{_BLANK}|(?<=[?？؟])\s|(?P<topic>{_TOPIC}))"
)
_LONGEST_NAME = 200  # characters; nobody types a longer question again
_HAN = {"一": 1, "二": 2, "三": 3}
_EACH_LETTER = regex.compile(_LETTERS)
_GAP = regex.compile(r"[\s;；,，、،.]")
_TRAILING = " \t\n;；,，、،"


@dataclass(frozen=True)
class Segment:
    """A part of a reply and the question its key names.

    Attributes:
        value: The words of the reply after the key.
        is_named: The key was the question's id, header or text rather than its number.
        is_lettered: The value was glued to the number as letters ("1b").
        is_topic: The key was the topic of a sentence, which counts only if an option follows.
    """

    question: Question
    value: str
    is_named: bool = False
    is_lettered: bool = False
    is_topic: bool = False


@dataclass(frozen=True)
class _Key:
    begin: int
    end: int
    index: int
    is_named: bool = False
    letters: str = ""
    is_topic: bool = False


def keyed_segments(questions: Sequence[Question], said: str) -> list[Segment]:
    """The keyed parts of `said` in the order they stand; none unless it begins with a key.

    A later part for the same question wins. Lines without a key belong to the part above them.
    """
    keys = _keys(questions, said)
    if not keys:
        return []
    segments: dict[int, Segment] = {}
    ends = [key.begin for key in keys[1:]] + [len(said)]
    for key, end in zip(keys, ends, strict=True):
        value = _value(key, said[key.end : end], is_last=key is keys[-1])
        if value is None:
            return []
        if value:
            segments[key.index] = Segment(
                questions[key.index], value, key.is_named, bool(key.letters), key.is_topic
            )
    return list(segments.values())


def _value(key: _Key, rest: str, *, is_last: bool) -> str | None:
    """What the key is given; None if letters glued to a number go on as a sentence."""
    if key.letters:
        return (
            None if rest.strip(f"{_TRAILING}.!。") else ", ".join(_EACH_LETTER.findall(key.letters))
        )
    value = rest.strip()
    head, line_end, last_line = value.rpartition("\n")
    if line_end and last_line.strip() in {"-", "*", "•"}:
        value = head.strip()  # a list mark that belongs to the next line's key
    return value if is_last else value.strip(_TRAILING)


def _keys(questions: Sequence[Question], said: str) -> list[_Key]:
    """All keys in order: any at a line's start; within a line only where they go upwards."""
    names = _names(questions)
    keys: list[_Key] = []
    for begin, at_line_start in _starts(said):
        if keys and begin < keys[-1].end:
            continue
        key = _numeric_key(len(questions), said, begin) or _named_key(names, said, begin)
        if key is None:
            if not keys:
                return []  # it does not begin with a key, so none of it is keyed
            continue
        is_next = bool(keys) and key.index > keys[-1].index and _is_trusted(key, keys[-1])
        if at_line_start or is_next:
            keys.append(key)
    return keys


def _is_trusted(key: _Key, before: _Key) -> bool:
    """Within a line a key must be of the kind of the one before it."""
    return key.is_named == before.is_named


def _starts(said: str) -> list[tuple[int, bool]]:
    """The places where a word begins, and whether only list marks stand before it in its line."""
    starts: list[tuple[int, bool]] = []
    fresh = True
    for place, character in enumerate(said):
        if character == "\n":
            fresh = True
        elif character in "-*•" and fresh:
            continue
        elif not _GAP.match(character) and (place == 0 or _GAP.match(said[place - 1])):
            starts.append((place, fresh))
            fresh = False
        elif not _GAP.match(character):
            fresh = False
    return starts


def _numeric_key(count: int, said: str, begin: int) -> _Key | None:
    match = _NUMERIC.match(said, begin)
    if match is None:
        return None
    number = _HAN.get(match["digit"]) or int(match["digit"])
    if not 1 <= number <= count:
        return None
    return _Key(
        begin,
        match.end(),
        number - 1,
        letters=match["letters"] or "",
        is_topic=match["topic"] is not None,
    )


def _names(questions: Sequence[Question]) -> "list[tuple[int, regex.Pattern[str]]]":
    """For each question how its id, header and text look as a key; a shared name is no key."""
    owners: dict[str, set[int]] = {}
    for index, question in enumerate(questions):
        for name in {question.key, question.header, question.text.rstrip("?？؟: ")}:
            if fold(name) and len(name) <= _LONGEST_NAME:
                owners.setdefault(fold(name), set()).add(index)
    unique = {name: next(iter(found)) for name, found in owners.items() if len(found) == 1}
    ordered = sorted(unique, key=len, reverse=True)
    return [(unique[name], _name_pattern(name)) for name in ordered]


def _name_pattern(name: str) -> "regex.Pattern[str]":
    spelt = r"[\s_-]+".join(map(regex.escape, regex.split(r"[\s_-]+", name)))
    return regex.compile(rf"[*_`\"']*{spelt}[*_`\"'?？؟]*{_NAME_MARK}", regex.IGNORECASE)


def _named_key(names: "list[tuple[int, regex.Pattern[str]]]", said: str, begin: int) -> _Key | None:
    for index, pattern in names:
        match = pattern.match(said, begin)
        if match is not None:
            return _Key(
                begin, match.end(), index, is_named=True, is_topic=match["topic"] is not None
            )
    return None
