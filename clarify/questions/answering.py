"""Somebody says something to a prompt: words, a press, or all answers at once."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db import transaction

from clarify import buttons, presenting, wording
from clarify.errors import NotYours, UnknownPrompt
from clarify.models import Prompt, Reply
from clarify.questions.closing import resolve
from clarify.questions.looking import Answerer, closed_words, hold, may_answer
from clarify.readings import SetReading
from clarify.sets import read_set
from clarify.states import Event, State
from delivery import hints


class Effect(StrEnum):
    """What an answer did."""

    RESOLVED = "resolved"  # the prompt is closed by it
    KEPT = "kept"  # part of it is answered and kept; the rest is still open
    HINTED = "hinted"  # not taken; the person is told how to answer
    REFUSED = "refused"  # not theirs to answer
    TOO_LATE = "too late"  # closed before
    NOTHING = "nothing"  # no answer at all: not for this prompt


@dataclass(frozen=True)
class Outcome:
    """What became of an answer: the effect, and the words for whoever gave it."""

    effect: Effect
    prompt: Prompt
    say: str = ""


def answer_text(prompt: Prompt, text: str, answerer: Answerer, *, now: datetime) -> Outcome:
    """Read `text` as the answer to `prompt`, in the caller's transaction."""
    hold(prompt.conversation_key)
    prompt = Prompt.objects.select_related("obligation").get(pk=prompt.pk)
    if prompt.state != State.PENDING:
        return Outcome(Effect.TOO_LATE, prompt, closed_words(prompt))
    reading = read_set(prompt.question_set.questions, prompt.given, text)
    if reading.declined:
        return skip(prompt, answerer, now=now, said=text)
    if reading.is_nothing:
        return Outcome(Effect.NOTHING, prompt)
    if reading.answers:
        return _take(prompt, reading, text, answerer, now)
    say = _hints(reading)
    _note(prompt, answerer, text, "hinted", say, now)
    return Outcome(Effect.HINTED, prompt, say)


def _take(
    prompt: Prompt, reading: SetReading, text: str, answerer: Answerer, now: datetime
) -> Outcome:
    prompt.answers = {**prompt.answers, **{key: list(v) for key, v in reading.answers.items()}}
    if reading.still_open:
        Prompt.objects.filter(pk=prompt.pk, state=State.PENDING).update(
            answers=prompt.answers, updated_at=now
        )
        hints.conversation_changed(prompt.conversation_key)
        say = _hints(reading) or presenting.present(prompt.question_set, answered=prompt.given)
        _note(prompt, answerer, text, "kept", say, now)
        return Outcome(Effect.KEPT, prompt, say)
    return _resolve_by(prompt, Event.ANSWER, answerer, text, now)


def _hints(reading: SetReading) -> str:
    return "\n\n".join(wording.say(hint) for hint in reading.hints)


def answer_all(
    prompt: Prompt, answers: dict[str, tuple[str, ...]], answerer: Answerer, *, now: datetime
) -> Outcome:
    """Answer every question of `prompt` at once, from a surface with controls of its own."""
    with transaction.atomic():
        prompt.answers = {
            question.key: [word for word in answers.get(question.key, ()) if word.strip()]
            for question in prompt.question_set.questions
        }
        if any(not values for values in prompt.answers.values()):
            return Outcome(Effect.HINTED, prompt, str(wording.ANSWER_EVERY))
        return _resolve_by(prompt, Event.ANSWER, answerer, "", now)


def skip(prompt: Prompt, answerer: Answerer, *, now: datetime, said: str = "") -> Outcome:
    """Decline `prompt`."""
    return _resolve_by(prompt, Event.SKIP, answerer, said, now)


def press(data: str, *, lane: str, answerer: Answerer, now: datetime) -> tuple[Outcome, bool]:
    """A button was pressed.

    Args:
        data: What the button carried.
        lane: Where it was pressed.
        answerer: Who pressed.
        now: The present.

    Returns:
        What became of it, and whether the person should now type their own answer.

    Raises:
        UnknownPrompt: It is no button of a prompt shown in that lane.
        NotYours: It is not theirs to answer; nothing changed.
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
    if not may_answer(prompt, answerer):
        _note(prompt, answerer, choice, "refused", "not theirs to answer", now)
        raise NotYours
    if prompt.state != State.PENDING:
        return Outcome(Effect.TOO_LATE, prompt, closed_words(prompt)), False
    if choice == buttons.SKIP:
        return skip(prompt, answerer, now=now), False
    if choice == buttons.OTHER:
        return Outcome(Effect.KEPT, prompt, str(wording.TYPE_YOUR_ANSWER)), True
    question = prompt.question_set.questions[0]
    option = buttons.option(question, choice) if prompt.has_buttons else None
    if option is None:
        raise UnknownPrompt
    prompt.answers = {**prompt.answers, question.key: [option.label]}
    return _resolve_by(prompt, Event.ANSWER, answerer, "", now), False


def _resolve_by(
    prompt: Prompt, event: Event, answerer: Answerer, text: str, now: datetime
) -> Outcome:
    if not resolve(prompt, event, now=now, by=answerer):
        prompt.refresh_from_db()
        _note(prompt, answerer, text, "too late", "", now)
        return Outcome(Effect.TOO_LATE, prompt, closed_words(prompt))
    _note(prompt, answerer, text, "resolved", prompt.state, now)
    return Outcome(Effect.RESOLVED, prompt, wording.taken(State(prompt.state), prompt.given))


def _note(
    prompt: Prompt, answerer: Answerer, text: str, outcome: str, detail: str, now: datetime
) -> None:
    Reply.objects.create(
        prompt=prompt,
        by=answerer.id[:255],
        surface=answerer.surface,
        text=text[:4000],
        outcome=outcome,
        detail=detail[:500],
        at=now,
    )
