"""What a case of the corpus is, and how its tables are written.

A reply's expectation is the numbers of the options it chooses, `OWN` for the person's own words
exactly as typed, `DECLINED`, `NOTHING`, or the code of the hint that is due.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clarify.schema import Option, Question

OWN, DECLINED, NOTHING = "own", "declined", "nothing"
Expected = tuple[int, ...] | str
Answers = Mapping[str, tuple[str, ...]]

Table = list[tuple[Question, dict[str, Expected]]]
SetTable = list[tuple[tuple[Question, ...], dict[str, Answers]]]


@dataclass(frozen=True)
class Case:
    """One reply to one question."""

    question: Question
    text: str
    expected: Expected
    lettered: bool = False
    language: str = ""


@dataclass(frozen=True)
class SetCase:
    """One reply to several questions; none answered means that one hint is due."""

    questions: tuple[Question, ...]
    text: str
    answers: Answers
    language: str = ""


def make_question(
    *labels: str,
    multi_select: bool = False,
    text: str = "Which?",
    key: str = "answer",
    header: str = "",
) -> Question:
    """A question with options of these labels."""
    return Question(key, header, text, tuple(map(Option, labels)), multi_select)


def cases_of(language: str, table: Table, *, lettered: bool = False) -> Iterator[Case]:
    """Each line of a table as a case."""
    for question, replies in table:
        for text, expected in replies.items():
            yield Case(question, text, expected, lettered, language)


def sets_of(language: str, table: SetTable) -> Iterator[SetCase]:
    """Each line of a table of replies to several questions as a case."""
    for questions, replies in table:
        for text, answers in replies.items():
            yield SetCase(questions, text, answers, language)
