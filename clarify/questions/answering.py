"""Somebody says something to a prompt: words, a press, or all answers at once."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction

from clarify import buttons, presenting, stepping
from clarify.errors import NotYours, UnknownPrompt
from clarify.models import Prompt
from clarify.questions import ruling, showing
from clarify.questions.closing import resolve
from clarify.questions.looking import Answerer, closed_words, held_row, hold, may_answer
from clarify.questions.outcomes import Outcome, note
from clarify.readings import SetReading
from clarify.schema import Question
from clarify.sets import read_set
from clarify.states import Effect, Event, State
from clarify.stepping import PressEffect, Progress
from delivery import hints, registry


def answer_text(prompt: Prompt, text: str, answerer: Answerer, *, now: datetime) -> Outcome:
    """Read `text` as the answer to `prompt` as it is by now, in the caller's transaction."""
    prompt = held_row(prompt)
    if prompt.state != State.PENDING:
        return Outcome(Effect.TOO_LATE, prompt, closed_words(prompt))
    if prompt.is_approval:
        return ruling.said(prompt, text, answerer, now)
    reading = _read(prompt, text)
    if reading.declined:
        return skip(prompt, answerer, now=now, said=text)
    if reading.is_nothing:
        return Outcome(Effect.NOTHING, prompt)
    if reading.answers:
        return _take(prompt, reading, text, answerer, now)
    say = _hints(prompt, reading)
    note(prompt, answerer, text, Effect.HINTED, say, now)
    return Outcome(Effect.HINTED, prompt, say)


def foresee(prompt: Prompt, text: str) -> SetReading:
    """How `text` would be read as the answer to `prompt` as it stands; nothing is written."""
    return _read(prompt, text)


def _read(prompt: Prompt, text: str) -> SetReading:
    """What `text` answers; with buttons, one question at a time is on the screen."""
    questions = prompt.question_set.questions
    if not prompt.has_buttons:
        return read_set(questions, prompt.given, text)
    so_far = prompt.so_far
    given = so_far.others(questions)
    here = questions[so_far.current(questions)]
    ordered = [here, *(question for question in questions if question is not here)]
    reading = read_set(ordered, given, text, one_at_a_time=True)
    if not _are_options(reading, questions):
        whole = read_set(questions, given, text)  # "1b 2a": they know what comes
        if whole.answers and _are_options(whole, questions):
            return whole
    if here.key not in reading.answers:
        return reading
    words = stepping.with_toggles(here, so_far, reading.answers[here.key])
    return replace(reading, answers={**reading.answers, here.key: words})


def _are_options(reading: SetReading, questions: Sequence[Question]) -> bool:
    """Whether something was answered, and nothing in own words."""
    labels = {question.key: question.labels for question in questions}
    given = reading.answers.items()
    return bool(given) and all(set(values) <= set(labels[key]) for key, values in given)


def _take(
    prompt: Prompt, reading: SetReading, text: str, answerer: Answerer, now: datetime
) -> Outcome:
    _keep(prompt, stepping.answered(prompt.so_far, reading.answers))
    if prompt.so_far.is_complete(prompt.question_set.questions):
        return _resolve_by(prompt, Event.ANSWER, answerer, text, now)
    _store(prompt, now)
    say = _hints(prompt, reading)
    if prompt.has_buttons:
        showing.show_below(prompt, now)
    elif not say:
        say = presenting.present(prompt.question_set, answered=prompt.given, words=prompt.words)
    note(prompt, answerer, text, Effect.KEPT, say, now)
    return Outcome(Effect.KEPT, prompt, say)


def _keep(prompt: Prompt, progress: Progress) -> None:
    prompt.answers = {key: list(values) for key, values in progress.answers.items()}
    prompt.progress = progress.as_dict()


def _store(prompt: Prompt, now: datetime) -> None:
    """Write down how far the person is; the prompt stays open."""
    Prompt.objects.filter(pk=prompt.pk, state=State.PENDING).update(
        answers=prompt.answers, progress=prompt.progress, updated_at=now
    )
    hints.conversation_changed(prompt.conversation_key)


def _hints(prompt: Prompt, reading: SetReading) -> str:
    return "\n\n".join(prompt.words.say(hint) for hint in reading.hints)


def answer_all(
    prompt: Prompt, answers: dict[str, tuple[str, ...]], answerer: Answerer, *, now: datetime
) -> Outcome:
    """Answer every question of `prompt` at once, from a surface with controls of its own."""
    if prompt.is_approval:  # no answers are no approval
        return Outcome(Effect.HINTED, prompt, prompt.words.rule_plainly.format(number=prompt.pk))
    with transaction.atomic():
        prompt.answers = {
            question.key: [word for word in answers.get(question.key, ()) if word.strip()]
            for question in prompt.question_set.questions
        }
        if any(not values for values in prompt.answers.values()):
            return Outcome(Effect.HINTED, prompt, prompt.words.answer_every)
        return _resolve_by(prompt, Event.ANSWER, answerer, "", now)


def skip(prompt: Prompt, answerer: Answerer, *, now: datetime, said: str = "") -> Outcome:
    """Decline `prompt`."""
    return _resolve_by(prompt, Event.SKIP, answerer, said, now)


def press(
    data: str,
    *,
    lane: str,
    answerer: Answerer,
    now: datetime,
    chosen: Sequence[str] | None = None,
) -> Outcome:
    """A button was pressed.

    Args:
        data: What the button carried.
        lane: Where it was pressed.
        answerer: Who pressed.
        now: The present.
        chosen: What the boxes carry that are ticked on its message; None where it has none.

    Returns:
        What became of it.

    Raises:
        UnknownPrompt: It is no button of a prompt shown in that lane.
        NotYours: It is not theirs to answer; nothing changed.
        NotAllowed: They may deny the operation, and not approve it; nothing changed.
    """
    found = buttons.from_button(data)
    if found is None:
        raise UnknownPrompt
    token, choice = found
    pressed = Prompt.objects.filter(token=token, lane=lane)
    conversation_key = pressed.values_list("conversation_key", flat=True).first()
    if conversation_key is None:
        raise UnknownPrompt
    hold(conversation_key)
    prompt = pressed.select_related("obligation").get()
    if prompt.is_approval:
        return ruling.pressed(prompt, choice, answerer, now)
    if not may_answer(prompt, answerer):
        note(prompt, answerer, choice, Effect.REFUSED, "not theirs to answer", now)
        raise NotYours
    if prompt.state != State.PENDING:
        return Outcome(Effect.TOO_LATE, prompt, closed_words(prompt))
    return _pressed(prompt, choice, answerer, now, chosen)


def _pressed(
    prompt: Prompt,
    choice: str,
    answerer: Answerer,
    now: datetime,
    chosen: Sequence[str] | None,
) -> Outcome:
    pressed = stepping.decoded(choice) if prompt.has_buttons else None
    if pressed is None:
        raise UnknownPrompt
    questions = prompt.question_set.questions
    change = stepping.press(questions, _with_boxes(prompt, pressed, chosen), pressed)
    match change.effect:
        case PressEffect.UNKNOWN:
            raise UnknownPrompt
        case PressEffect.DECLINED:
            return skip(prompt, answerer, now=now)
        case PressEffect.COMPLETE:
            _keep(prompt, change.progress)
            return _resolve_by(prompt, Event.ANSWER, answerer, "", now)
        case PressEffect.EMPTY:
            return Outcome(Effect.HINTED, prompt, prompt.words.choose_first)
        case PressEffect.STALE:
            showing.refresh(prompt, now)
            return Outcome(Effect.HINTED, prompt, prompt.words.not_shown_now)
    _keep(prompt, change.progress)
    _store(prompt, now)
    if change.effect is PressEffect.TYPE:
        return _let_type(prompt, now)
    showing.refresh(prompt, now)
    return Outcome(Effect.KEPT, prompt)


def _with_boxes(prompt: Prompt, pressed: stepping.Press, chosen: Sequence[str] | None) -> Progress:
    """How far the person is, with the boxes that are ticked; those of another prompt do not count.

    Boxes tell how the question on the screen looks, so a button of an earlier one brings none.
    """
    questions, so_far = prompt.question_set.questions, prompt.so_far
    if chosen is None or pressed.question != so_far.current(questions):
        return so_far
    read = [buttons.from_button(data) for data in chosen]
    found = [stepping.decoded(one[1]) for one in read if one and one[0] == prompt.token]
    return stepping.ticked(questions, so_far, [one for one in found if one is not None])


def _let_type(prompt: Prompt, now: datetime) -> Outcome:
    """Ask for own words: in a form where there are forms, else by a message."""
    say = prompt.words.type_your_answer
    if registry.outlet(prompt.destination.platform).supports_forms:
        here = prompt.so_far.current(prompt.question_set.questions)
        return Outcome(Effect.KEPT, prompt, say, asks=prompt.question_set.questions[here].text)
    showing.invite(prompt, now)
    return Outcome(Effect.KEPT, prompt, say)


def _resolve_by(
    prompt: Prompt, event: Event, answerer: Answerer, text: str, now: datetime
) -> Outcome:
    with transaction.atomic():
        if not resolve(prompt, event, now=now, by=answerer):
            prompt.refresh_from_db()
            note(prompt, answerer, text, Effect.TOO_LATE, "", now)
            return Outcome(Effect.TOO_LATE, prompt, closed_words(prompt))
        note(prompt, answerer, text, Effect.RESOLVED, prompt.state, now)
    say = prompt.words.taken(State(prompt.state), prompt.given)
    return Outcome(Effect.RESOLVED, prompt, say)
