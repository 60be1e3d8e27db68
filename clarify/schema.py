"""What may be asked: the questions as plain values, and the check of what an agent sends. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import regex

from clarify.errors import InvalidQuestion
from clarify.folding import clean, clean_line, first_graphemes, fold, is_blank
from clarify.guidance import (
    ASK_USER_DESCRIPTION,
    ASK_USER_SCHEMA,
    CLARIFY_DESCRIPTION,
    CLARIFY_SCHEMA,
)
from clarify.vocabulary import is_authored_other

__all__ = [
    "ASK_USER_DESCRIPTION",
    "ASK_USER_SCHEMA",
    "CLARIFY_DESCRIPTION",
    "CLARIFY_SCHEMA",
    "Option",
    "Question",
    "QuestionSet",
    "normalise_ask_user",
    "normalise_clarify",
]

CLARIFY_TIMEOUT_SECONDS = 600
CLARIFY_KEY = "answer"
ASK_USER_TIMEOUT_SECONDS = 900
SHORTEST_TIMEOUT_SECONDS, LONGEST_TIMEOUT_SECONDS = 30, 3600
MOST_QUESTIONS = 3
FEWEST_OPTIONS, MOST_OPTIONS = 2, 4
HEADER_LENGTH = 12  # grapheme clusters
LONGEST_KEY, LONGEST_LABEL, LONGEST_DESCRIPTION, LONGEST_QUESTION = 64, 200, 1000, 4000

_KEY = regex.compile(r"[a-z][a-z0-9_]*")
# Models wrap a choice in an object under any of these; the first that says something is meant.
_LABEL_NAMES = ("label", "title", "text", "name", "value", "description")


@dataclass(frozen=True)
class Option:
    """One answer on offer: `label` is what is chosen, `description` says what it means."""

    label: str
    description: str = ""

    def as_dict(self) -> dict[str, str]:
        """The option as JSON, for a column."""
        return {"label": self.label, "description": self.description}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Option":
        """The option that `as_dict` wrote."""
        return cls(label=fields["label"], description=fields.get("description", ""))


@dataclass(frozen=True)
class Question:
    """One question; a person may always answer it in their own words as well.

    Attributes:
        key: The name of the answer, unique in its set.
        header: A short name to show, at most 12 grapheme clusters; may be empty.
        text: The question itself, Markdown.
        options: The answers on offer, in the order they are numbered; none for an open question.
        multi_select: Several options may be chosen together.
    """

    key: str
    header: str
    text: str
    options: tuple[Option, ...] = ()
    multi_select: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the options, in their order."""
        return tuple(option.label for option in self.options)

    def as_dict(self) -> dict[str, Any]:
        """The question as JSON, for a column."""
        return {
            "key": self.key,
            "header": self.header,
            "text": self.text,
            "options": [option.as_dict() for option in self.options],
            "multi_select": self.multi_select,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Question":
        """The question that `as_dict` wrote."""
        return cls(
            key=fields["key"],
            header=fields["header"],
            text=fields["text"],
            options=tuple(Option.from_dict(option) for option in fields["options"]),
            multi_select=bool(fields["multi_select"]),
        )


@dataclass(frozen=True)
class QuestionSet:
    """What one tool call asks, and for how many seconds it waits."""

    questions: tuple[Question, ...]
    timeout_seconds: int

    def as_dict(self) -> dict[str, Any]:
        """The set as JSON, for a column."""
        return {
            "questions": [question.as_dict() for question in self.questions],
            "timeout_seconds": self.timeout_seconds,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "QuestionSet":
        """The set that `as_dict` wrote."""
        return cls(
            questions=tuple(Question.from_dict(each) for each in fields["questions"]),
            timeout_seconds=int(fields["timeout_seconds"]),
        )


def normalise_clarify(
    question: object, choices: object = None, *, timeout_seconds: int = CLARIFY_TIMEOUT_SECONDS
) -> QuestionSet:
    """The one question of a `clarify` call ([Q7]).

    Choices are unwrapped and stripped; blanks, duplicates and an authored "Other" are dropped, and
    the first four are kept. None left, or none given, makes an open question.

    Raises:
        InvalidQuestion: The question is empty or too long, or a choice is no text at all.
    """
    text = _text(question, "question", LONGEST_QUESTION, clean)
    if choices is not None and not _is_list(choices):
        raise InvalidQuestion("choices", "must be a list of short texts, or be left out")
    options = [
        option
        for index, choice in enumerate(choices if _is_list(choices) else ())
        if (option := _unwrapped(choice, f"choices[{index}]")) is not None
    ]
    kept = tuple(_distinct(o for o in options if not is_authored_other(o.label)))[:MOST_OPTIONS]
    asked = Question(key=CLARIFY_KEY, header="", text=text, options=kept)
    return QuestionSet(questions=(asked,), timeout_seconds=timeout_seconds)


def normalise_ask_user(questions: object, timeout_seconds: object = None) -> QuestionSet:
    """The questions of an `ask_user` call, checked against its contract ([Q10], [Q11]).

    Args:
        questions: What the model sent: a list of 1-3 objects.
        timeout_seconds: Whole seconds; clamped to 30..3600. None means 900.

    Raises:
        InvalidQuestion: A rule is broken; `field` says where and `message` what to change.
    """
    if not _is_list(questions) or not 1 <= len(questions) <= MOST_QUESTIONS:
        raise InvalidQuestion("questions", f"must be a list of 1 to {MOST_QUESTIONS} questions")
    asked = tuple(_question(each, f"questions[{i}]") for i, each in enumerate(questions))
    keys: set[str] = set()
    for index, question in enumerate(asked):
        if question.key in keys:
            raise InvalidQuestion(
                f"questions[{index}].id", f"`{question.key}` is used twice; give each its own id"
            )
        keys.add(question.key)
    return QuestionSet(questions=asked, timeout_seconds=_timeout(timeout_seconds))


def _question(fields: object, path: str) -> Question:
    if not isinstance(fields, Mapping):
        raise InvalidQuestion(path, "must be an object with id, header, question and options")
    key = fields.get("id")
    if not isinstance(key, str) or len(key) > LONGEST_KEY or not _KEY.fullmatch(key):
        raise InvalidQuestion(f"{path}.id", "must be a snake_case name such as `target_env`")
    header = _text(fields.get("header"), f"{path}.header", LONGEST_QUESTION, clean_line)
    multi_select = fields.get("multiSelect", fields.get("multi_select", False))
    if not isinstance(multi_select, bool):
        raise InvalidQuestion(f"{path}.multiSelect", "must be true or false")
    return Question(
        key=key,
        header=first_graphemes(header, HEADER_LENGTH).strip(),
        text=_text(fields.get("question"), f"{path}.question", LONGEST_QUESTION, clean),
        options=_options(fields.get("options"), f"{path}.options"),
        multi_select=multi_select,
    )


def _options(values: object, path: str) -> tuple[Option, ...]:
    if not _is_list(values) or not FEWEST_OPTIONS <= len(values) <= MOST_OPTIONS + 1:
        raise InvalidQuestion(path, f"must be a list of {FEWEST_OPTIONS} to {MOST_OPTIONS} options")
    options = [_option(value, f"{path}[{index}]") for index, value in enumerate(values)]
    authored = [option for option in options if not is_authored_other(option.label)]
    if not FEWEST_OPTIONS <= len(authored) <= MOST_OPTIONS:
        raise InvalidQuestion(
            path,
            f'must hold {FEWEST_OPTIONS} to {MOST_OPTIONS} options besides "Other", '
            "which is always offered and never counts",
        )
    if len(_distinct(authored)) < len(authored):
        raise InvalidQuestion(path, "two options have the same label; make every label different")
    return tuple(authored)


def _option(value: object, path: str) -> Option:
    fields = {"label": value} if isinstance(value, str) else value
    if not isinstance(fields, Mapping):
        raise InvalidQuestion(path, "must be an object with a label")
    label = _text(fields.get("label"), f"{path}.label", LONGEST_LABEL, clean_line)
    description = fields.get("description")
    if description is None or (isinstance(description, str) and is_blank(description)):
        return Option(label=label)
    return Option(label, _text(description, f"{path}.description", LONGEST_DESCRIPTION, clean_line))


def _unwrapped(choice: object, path: str) -> Option | None:
    """The option meant by one choice of a `clarify` call; None for a blank."""
    if isinstance(choice, int | float) and not isinstance(choice, bool):
        choice = str(choice)
    fields = choice if isinstance(choice, Mapping) else {"label": choice}
    said = [name for name in _LABEL_NAMES if _says_something(fields.get(name))]
    if not said:
        if choice is None or isinstance(choice, str | Mapping):
            return None
        raise InvalidQuestion(path, "must be a short text")
    label = _text(fields[said[0]], path, LONGEST_LABEL, clean_line)
    if said[0] == "description" or "description" not in said:
        return Option(label)
    return Option(
        label, _text(fields["description"], f"{path}.description", LONGEST_DESCRIPTION, clean_line)
    )


def _says_something(value: object) -> bool:
    return isinstance(value, str) and not is_blank(value)


def _text(value: object, path: str, longest: int, cleaned: Callable[[str], str]) -> str:
    if not isinstance(value, str) or is_blank(value):
        raise InvalidQuestion(path, "must be a text that is not empty")
    text = cleaned(value).strip()
    if len(text) > longest:
        raise InvalidQuestion(path, f"is longer than {longest} characters; make it shorter")
    return text


def _distinct(options: Iterable[Option]) -> list[Option]:
    """The options in order, without those whose label repeats an earlier one but for its case."""
    first: dict[str, Option] = {}
    for option in options:
        first.setdefault(fold(option.label), option)
    return list(first.values())


def _timeout(value: object) -> int:
    if value is None:
        return ASK_USER_TIMEOUT_SECONDS
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidQuestion("timeoutSeconds", "must be a whole number of seconds")
    return max(SHORTEST_TIMEOUT_SECONDS, min(LONGEST_TIMEOUT_SECONDS, value))


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
