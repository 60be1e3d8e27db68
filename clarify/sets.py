"""Reading one reply to several questions ([Q13]). Pure and total, as `clarify.choices` is.

How a reply says which question it answers, the first that applies decides:

* By key: "1b 2a,c 3: our own cluster", "Q1: 1", "city: Oslo", "2: 1" (which answers the second
  only). A key is a question's number, id, header or full text. A time ("1:30pm"), a decimal and a
  span ("2-3 people") are no keys.
* Line by line: as many lines as there are open questions, or fewer if every one is an option.
* By content: one line without a key is the first open question's if it is one of its options,
  or the only question's that has such a label. Own words could answer any of them, so they are
  taken only where one question is open, or where the questions are shown one at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import regex

from clarify.folding import clean, fold, is_blank, tighten
from clarify.keys import Segment, keyed_segments
from clarify.numerals import read_letter, read_numeral
from clarify.readings import (
    Chosen,
    Declined,
    Doubt,
    Hint,
    Nothing,
    Own,
    Reading,
    SetReading,
    Unclear,
)
from clarify.schema import Question
from clarify.single import is_label, read_one

_BULLET = regex.compile(r"^\s*[-*•]\s+")
_EMPTY_KEY = regex.compile(r"\s*\d{1,2}\s*[.):：]\s*")
_SPACES = regex.compile(r"[\s,，、،;；]+")
LONGEST_SET_REPLY = 20_000  # characters; a longer reply is not searched for keys


@dataclass
class _Tally:
    """What has been read so far."""

    questions: Sequence[Question]
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    doubts: dict[str, Hint] = field(default_factory=dict)
    declined: bool = False

    def take(self, question: Question, reading: Reading) -> None:
        """Note what one question was answered."""
        if isinstance(reading, Chosen | Own):
            self.answers[question.key] = reading.values
        elif isinstance(reading, Declined):
            self.answers[question.key] = ()
        elif isinstance(reading, Unclear):
            self.doubts[question.key] = reading.hint

    def result(self, already: Mapping[str, tuple[str, ...]]) -> SetReading:
        """The reading of the whole reply."""
        keys = [question.key for question in self.questions]
        answers = {} if self.declined else self.answers
        return SetReading(
            answers={key: answers[key] for key in keys if key in answers},
            declined=self.declined,
            unclear=tuple(
                Doubt(key, self.doubts[key])
                for key in keys
                if key in self.doubts and key not in answers
            ),
            still_open=tuple(key for key in keys if key not in already and key not in answers),
        )


def read_set(
    questions: Sequence[Question],
    already: Mapping[str, tuple[str, ...]],
    text: str,
    *,
    one_at_a_time: bool = False,
    lettered: bool | None = None,
) -> SetReading:
    """What `text` answers to a set of questions of which some may be answered already.

    Args:
        questions: All questions of the set, in the order they are numbered.
        already: The answers stored so far, by key. A reply that names such a question by its key
            changes its answer; no other reply does.
        text: The reply as it came in; anything at all.
        one_at_a_time: Only the first open question is on the screen; the reply is about it.
        lettered: The options were shown as a, b, c. None means as `presenting.present` does it:
            lettered where several questions are shown at once.
    """
    said = clean(text).strip()
    tally = _Tally(questions)
    still_open = [question for question in questions if question.key not in already]
    letters = (len(questions) > 1 and not one_at_a_time) if lettered is None else lettered
    if is_blank(said):
        return replace(tally.result(already), is_nothing=True)
    if not still_open:
        return tally.result(already)
    if one_at_a_time or len(still_open) == 1:
        segments = [] if one_at_a_time else _segments(questions, said)
        _read_current(tally, still_open[0], said, segments, letters)
    elif _is_refusal(still_open, said):
        tally.declined = True
    else:
        _read_all(tally, still_open, said, letters)
    return tally.result(already)


def _segments(questions: Sequence[Question], said: str) -> list[Segment]:
    if len(said) > LONGEST_SET_REPLY:
        return []
    segments = keyed_segments(questions, said)
    # "2は嫌です" is no answer to the second question; "2は本番" is.
    topics = (segment for segment in segments if segment.is_topic)
    return segments if all(isinstance(_reading(s, True), Chosen) for s in topics) else []


def _is_refusal(still_open: Sequence[Question], said: str) -> bool:
    """The whole set is declined; an option of that name goes first."""
    if any(is_label(question, said) for question in still_open):
        return False
    return isinstance(read_one(Question(key="", header="", text=""), said), Declined) or all(
        isinstance(read_one(question, said), Declined) for question in still_open
    )


def _read_current(
    tally: _Tally, current: Question, said: str, segments: list[Segment], letters: bool
) -> None:
    """Read a reply to the one question that is open or on the screen."""
    reading = read_one(current, said, lettered=letters)
    if _is_keyed(segments, current, letters):  # "3: a" is no choice of two
        _read_segments(tally, segments, letters)
        return
    if isinstance(reading, Own):
        segments = segments or [s for s in keyed_segments([current], said) if s.is_named]
        if segments and _are_meant(segments, current, letters):
            _read_segments(tally, segments, letters)
            return
    if isinstance(reading, Declined):
        tally.declined = True
    tally.take(current, reading)


def _is_keyed(segments: list[Segment], current: Question, letters: bool) -> bool:
    """Whether the reply names the question that is open, and only options by their keys."""
    return any(segment.question == current for segment in segments) and all(
        isinstance(_reading(segment, letters), Chosen) for segment in segments
    )


def _are_meant(segments: list[Segment], current: Question, letters: bool) -> bool:
    """Whether these are answers rather than a numbered list among own words.

    They are if one of them is for the question that is open, or all are options of the others.
    """
    return any(segment.question == current for segment in segments) or all(
        isinstance(_reading(segment, letters), Chosen) for segment in segments
    )


def _read_all(tally: _Tally, still_open: list[Question], said: str, letters: bool) -> None:
    """Read a reply to several questions that are on the screen together."""
    named = [question for question in still_open if is_label(question, said)]
    if named:
        tally.take(named[0], read_one(named[0], said, lettered=letters))
        return
    lines = [_BULLET.sub("", line) for line in said.split("\n") if not is_blank(line)]
    segments = _segments(tally.questions, said)
    if _read_mixed_lines(tally, still_open, lines, letters):
        return
    if segments and not _is_ambiguous(tally.questions, segments, still_open):
        _read_segments(tally, segments, letters)
    elif segments:
        _ask_which(tally, still_open)
    elif not _read_lines(tally, still_open, lines, letters):
        _read_unkeyed(tally, still_open, said, letters)


def _is_ambiguous(
    questions: Sequence[Question], segments: list[Segment], still_open: list[Question]
) -> bool:
    """One line such as "2. Staging" where "Staging" is an option of another question."""
    if len(segments) != 1 or segments[0].is_named:
        return False
    target, value = segments[0].question, segments[0].value
    if is_label(target, value) or len(questions) < 2:
        return False
    return any(is_label(q, value) for q in still_open if q.key != target.key)


def _read_segments(tally: _Tally, segments: list[Segment], letters: bool) -> None:
    for segment in segments:
        tally.take(segment.question, _reading(segment, letters))


def _reading(segment: Segment, letters: bool) -> Reading:
    return read_one(segment.question, segment.value, lettered=letters or segment.is_lettered)


def _read_lines(tally: _Tally, still_open: list[Question], lines: list[str], letters: bool) -> bool:
    """Whether the lines answer the open questions in their order; takes them if so."""
    if len(lines) == 1:
        lines = _bare_places(still_open, lines[0])
    if not 2 <= len(lines) <= len(still_open):
        return False
    readings = [
        read_one(question, line, lettered=letters)
        for question, line in zip(still_open, lines, strict=False)
    ]
    if len(lines) < len(still_open) and not all(isinstance(r, Chosen) for r in readings):
        return False
    for question, reading in zip(still_open, readings, strict=False):
        tally.take(question, reading)
    return True


def _read_mixed_lines(
    tally: _Tally, still_open: list[Question], lines: list[str], letters: bool
) -> bool:
    """Whether there is a line for each open question, some with a key and some without.

    Those without a key answer the questions that no key names, in their order.
    """
    if not 2 <= len(lines) == len(still_open):
        return False
    keyed = [_segments(tally.questions, line) for line in lines]
    segments = [found[0] for found in keyed if len(found) == 1]
    unkeyed = [line for line, found in zip(lines, keyed, strict=True) if not found]
    named = {segment.question.key for segment in segments}
    left = [question for question in still_open if question.key not in named]
    if any(_EMPTY_KEY.fullmatch(line) for line in unkeyed):
        return False
    if not segments or not unkeyed or len(left) != len(unkeyed):
        return False
    _read_segments(tally, segments, letters)
    for question, line in zip(left, unkeyed, strict=True):
        tally.take(question, read_one(question, line, lettered=letters))
    return True


def _bare_places(still_open: list[Question], line: str) -> list[str]:
    """The numbers or letters of "1 2" or "b, a", one for each open single choice; else none."""
    if any(question.multi_select or not question.options for question in still_open):
        return []
    places = [place for place in _SPACES.split(line, len(still_open) + 1) if place]
    if len(places) != len(still_open):
        return []
    return places if all(_is_place(place) for place in places) else []


def _is_place(text: str) -> bool:
    is_letter = len(tighten(fold(text))) == 1 and read_letter(text) is not None
    return is_letter or read_numeral(text) is not None


def _read_unkeyed(tally: _Tally, still_open: list[Question], said: str, letters: bool) -> None:
    """Read a reply that names no question: it is taken only if it can mean just one."""
    first = read_one(still_open[0], said, lettered=letters)
    if isinstance(first, Chosen) and not first.others:
        tally.take(still_open[0], first)
        return
    fitting = [
        (question, reading)
        for question in still_open[1:]
        if isinstance(reading := read_one(question, said, lettered=letters), Chosen)
        and reading.labels
        and not reading.others
        and not _is_place(said)
    ]
    if isinstance(first, Unclear):
        tally.take(still_open[0], first)
    elif len(fitting) == 1:
        tally.take(*fitting[0])
    elif not isinstance(first, Nothing):
        _ask_which(tally, still_open)


def _ask_which(tally: _Tally, still_open: list[Question]) -> None:
    """One hint for the whole reply, which was not taken."""
    names = [_name(tally.questions, question) for question in still_open]
    numbers = [tally.questions.index(question) + 1 for question in still_open]
    example = " ".join(f"{number}: …" for number in numbers)
    if all(not question.options for question in still_open):
        hint = Hint("missing", {"questions": tuple(names[1:]), "example": example})
        tally.doubts[still_open[1].key] = hint
        return
    tally.doubts[still_open[0].key] = Hint(
        "which_question", {"questions": tuple(names), "example": example}
    )


def _name(questions: Sequence[Question], question: Question) -> str:
    number = questions.index(question) + 1
    return f"{number}. {question.header or question.key}"
