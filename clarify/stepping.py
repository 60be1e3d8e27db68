"""Questions on one message with buttons, one question at a time. Pure.

What has been chosen so far is a `Progress`; a press makes another of it, and `present` and
`controls` say how it looks. A single question is a set with one step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from clarify import presenting
from clarify.buttons import button_data
from clarify.schema import Question, QuestionSet
from clarify.wording import ENGLISH, Words
from delivery.content import Button, ButtonStyle, Controls

Answers = Mapping[str, tuple[str, ...]]


class Move(StrEnum):
    """What a button does; the value is what it carries."""

    PICK = "p"  # an option: the answer, or one more toggle that is on or off
    SUBMIT = "k"  # these toggles are the answer
    BACK = "b"  # to the question before
    OTHER = "o"  # own words will be typed
    SKIP = "s"  # the whole set is declined


@dataclass(frozen=True)
class Press:
    """A button that was pressed: what it does, on which question, and which option.

    `question` and `option` count from 0 in the stored order.
    """

    move: Move
    question: int = 0
    option: int = 0

    def encoded(self) -> str:
        """The press as a button carries it: at most 5 ASCII characters, no word of an answer."""
        return f"{self.move.value}{self.question}.{self.option}"


def decoded(choice: str) -> Press | None:
    """The press that `Press.encoded` wrote; None if it is no such text."""
    place = choice[1:].split(".")
    if choice[:1] not in set(Move) or len(place) != 2:
        return None
    if not all(len(digits) == 1 and digits in "0123456789" for digits in place):
        return None
    return Press(Move(choice[0]), int(place[0]), int(place[1]))


@dataclass(frozen=True)
class Progress:
    """How far a person has come.

    Attributes:
        answers: The questions that are answered, by key.
        step: The key of the question on the screen; empty for the first that has no answer.
        picked: The toggles that are on, by key, as places of options; not yet submitted.
        is_typing: "Other…" was pressed last: the words that come now join the toggles.
    """

    answers: Answers = field(default_factory=dict)
    step: str = ""
    picked: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    is_typing: bool = False

    def as_dict(self) -> dict[str, Any]:
        """All but the answers as JSON, for a column."""
        return {
            "step": self.step,
            "picked": {key: list(places) for key, places in self.picked.items()},
            "is_typing": self.is_typing,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any], answers: Answers) -> "Progress":
        """The progress that `as_dict` wrote, beside the answers; an empty dict is the start."""
        picked = {key: tuple(places) for key, places in fields.get("picked", {}).items()}
        step, is_typing = str(fields.get("step", "")), bool(fields.get("is_typing"))
        return cls(answers, step, picked, is_typing)

    def current(self, questions: Sequence[Question]) -> int:
        """The place of the question on the screen; the last one when all have answers."""
        for place, question in enumerate(questions):
            if question.key == self.step:
                return place
        for place, question in enumerate(questions):
            if question.key not in self.answers:
                return place
        return len(questions) - 1

    def is_complete(self, questions: Sequence[Question]) -> bool:
        """Whether nothing is left to answer."""
        return all(question.key in self.answers for question in questions)

    def others(self, questions: Sequence[Question]) -> Answers:
        """The answers but for that of the question on the screen, which is open (again)."""
        here = questions[self.current(questions)].key
        return {key: values for key, values in self.answers.items() if key != here}


class PressEffect(StrEnum):
    """What a press did."""

    MOVED = "moved"  # the view has changed
    COMPLETE = "complete"  # every question has its answer
    DECLINED = "declined"  # the whole set is declined
    TYPE = "type"  # now the person types
    EMPTY = "empty"  # nothing is chosen yet
    STALE = "stale"  # the button belongs to another question than the one on the screen
    UNKNOWN = "unknown"  # there is no such button


@dataclass(frozen=True)
class Change:
    """What a press did, and how far the person is now."""

    effect: PressEffect
    progress: Progress


def ticked(questions: Sequence[Question], progress: Progress, chosen: Sequence[Press]) -> Progress:
    """`progress` with those boxes on that are ticked on the screen, and no others of its question.

    Args:
        questions: What is asked.
        progress: How far the person was.
        chosen: What the boxes that are on would do as buttons.
    """
    here = progress.current(questions)
    question = questions[here]
    if not question.multi_select:
        return progress
    places = {
        one.option
        for one in chosen
        if one.move is Move.PICK and one.question == here and one.option < len(question.options)
    }
    return replace(progress, picked={**progress.picked, question.key: tuple(sorted(places))})


def press(questions: Sequence[Question], progress: Progress, pressed: Press) -> Change:
    """What becomes of `progress` when a button is pressed; never raises."""
    if pressed.move is Move.SKIP:
        return Change(PressEffect.DECLINED, progress)
    here = progress.current(questions)
    if pressed.question == here:
        return _pressed(questions, progress, pressed, here)
    is_known = pressed.question < len(questions)
    return Change(PressEffect.STALE if is_known else PressEffect.UNKNOWN, progress)


def _pressed(
    questions: Sequence[Question], progress: Progress, pressed: Press, here: int
) -> Change:
    question = questions[here]
    match pressed.move:
        case Move.OTHER:
            return Change(PressEffect.TYPE, replace(progress, step=question.key, is_typing=True))
        case Move.BACK:
            return _back(questions, progress, here)
        case Move.SUBMIT if question.multi_select:
            return _submit(questions, progress, question)
        case Move.PICK if pressed.option < len(question.options):
            if question.multi_select:
                return Change(PressEffect.MOVED, _toggled(progress, question, pressed.option))
            return _answered(questions, progress, question, (pressed.option,))
    return Change(PressEffect.UNKNOWN, progress)


def _back(questions: Sequence[Question], progress: Progress, here: int) -> Change:
    if here == 0:
        return Change(PressEffect.UNKNOWN, progress)
    before = replace(progress, step=questions[here - 1].key, is_typing=False)
    return Change(PressEffect.MOVED, before)


def _submit(questions: Sequence[Question], progress: Progress, question: Question) -> Change:
    chosen = picked_of(progress, question)
    if not chosen:
        return Change(PressEffect.EMPTY, progress)
    return _answered(questions, progress, question, chosen)


def _toggled(progress: Progress, question: Question, option: int) -> Progress:
    on = set(picked_of(progress, question)) ^ {option}
    picked = {**progress.picked, question.key: tuple(sorted(on))}
    return replace(progress, step=question.key, picked=picked, is_typing=False)


def _answered(
    questions: Sequence[Question], progress: Progress, question: Question, places: tuple[int, ...]
) -> Change:
    after = answered(progress, {question.key: tuple(question.options[p].label for p in places)})
    is_complete = after.is_complete(questions)
    return Change(PressEffect.COMPLETE if is_complete else PressEffect.MOVED, after)


def answered(progress: Progress, answers: Answers) -> Progress:
    """The progress after questions were answered, by button or by words."""
    picked = {key: on for key, on in progress.picked.items() if key not in answers}
    return Progress({**progress.answers, **answers}, "", picked)


def with_toggles(question: Question, progress: Progress, words: tuple[str, ...]) -> tuple[str, ...]:
    """The answer that own words give: after "Other…" they join the toggles that are on."""
    if not (question.multi_select and progress.is_typing):
        return words
    on = [question.options[place].label for place in picked_of(progress, question)]
    return (*on, *(word for word in words if word not in on))


def picked_of(progress: Progress, question: Question) -> tuple[int, ...]:
    """The toggles of a question that are on: what was answered before, until one is touched."""
    if question.key in progress.picked:
        return tuple(p for p in progress.picked[question.key] if p < len(question.options))
    given = progress.answers.get(question.key, ())
    return tuple(place for place, label in enumerate(question.labels) if label in given)


def present(question_set: QuestionSet, progress: Progress, words: Words = ENGLISH) -> str:
    """The canonical Markdown of the question on the screen, above it what is answered already."""
    questions = question_set.questions
    here = progress.current(questions)
    done = presenting.answered_lines(question_set, progress.others(questions), words)
    shown = presenting.present_one(
        question_set, questions[here].key, buttons=bool(questions[here].options), words=words
    )
    return "\n\n".join(filter(None, [done, shown]))


def controls(
    question_set: QuestionSet, progress: Progress, token: str, words: Words = ENGLISH
) -> Controls:
    """The buttons under the question on the screen.

    Args:
        question_set: What is asked.
        progress: How far the person is.
        token: What the buttons carry to name the prompt.
        words: Those of the language it is asked in.
    """
    questions = question_set.questions
    here = progress.current(questions)
    question = questions[here]
    if len(questions) == 1 and not question.options:
        return Controls(force_reply=True, placeholder=words.your_answer)
    rows = [(button,) for button in _options(question, progress, token, here)]
    leading = _leading(question, progress, token, here, words)
    last = (
        Button(label=words.other, data=button_data(token, Press(Move.OTHER, here).encoded())),
        Button(label=words.skip, data=button_data(token, Press(Move.SKIP, here).encoded())),
    )
    return Controls(rows=(*rows, *([leading] if leading else []), last))


def _options(question: Question, progress: Progress, token: str, here: int) -> list[Button]:
    picked = picked_of(progress, question)
    marked = picked if question.multi_select or question.key in progress.answers else None
    captions = presenting.captions(question, selected=marked, many=question.multi_select)
    return [
        Button(
            label=caption,
            data=button_data(token, Press(Move.PICK, here, place).encoded()),
            ticked=place in picked if question.multi_select else None,
        )
        for place, caption in enumerate(captions)
    ]


def _leading(
    question: Question, progress: Progress, token: str, here: int, words: Words
) -> tuple[Button, ...]:
    buttons = []
    if here > 0:
        data = button_data(token, Press(Move.BACK, here).encoded())
        buttons.append(Button(label=words.back, data=data))
    if question.multi_select:
        count = len(picked_of(progress, question))
        label = words.submit_count.format(count=count) if count else words.submit
        data = button_data(token, Press(Move.SUBMIT, here).encoded())
        buttons.append(Button(label=label, data=data, style=ButtonStyle.PRIMARY))
    return tuple(buttons)
