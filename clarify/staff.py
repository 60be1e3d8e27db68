"""What staff may do to a question ([Q21]): each verb with its row in the audit log.

Every verb does its work in one transaction and raises `ClarifyError` when it changed nothing, in
words that the person who asked can act on.
"""

from datetime import datetime, timedelta

from django.db import transaction

from clarify import questions
from clarify.errors import NotPending, NotTaken
from clarify.models import Prompt, PromptKind
from clarify.questions import Answerer, Effect
from clarify.states import Event
from delivery import auditing

LONGEST_EXTENSION = timedelta(days=7)


def answer(prompt: Prompt, text: str, *, actor: str, surface: str, now: datetime) -> str:
    """Answer on behalf of the person who was asked.

    Args:
        prompt: The open prompt.
        text: What they would have typed: a number, a label, own words.
        actor: Who answers.
        surface: From where: `admin`, `command line`.
        now: The present.

    Returns:
        What became of it, in words; part of an answer is kept, and the words say what is open.

    Raises:
        NotTaken: The text answers nothing; the message says how to answer.
        NotPending: It is closed already.
    """
    if prompt.kind == PromptKind.APPROVAL:
        message = "An approval is given by an approver in their own name, on nobody's behalf."
        raise NotTaken(message)
    answerer = _staff(actor, surface)
    with transaction.atomic():
        outcome = questions.answer_text(prompt, text, answerer, now=now)
        if outcome.effect is Effect.TOO_LATE:
            raise NotPending(outcome.prompt.state)
        if outcome.effect in {Effect.HINTED, Effect.NOTHING}:
            # Raised inside, so that the reply row goes as well: nobody in the chat said it.
            raise NotTaken(outcome.say or "There is no answer in that.")
        _note("prompt.answered_on_behalf", prompt, actor, now, effect=outcome.effect.value)
    return outcome.say or f"The question is {outcome.prompt.state}."


def cancel(prompt: Prompt, *, actor: str, surface: str, now: datetime) -> None:
    """Withdraw the question; the agent is told and goes on.

    Raises:
        NotPending: It is closed already.
    """
    _close(prompt, Event.CANCEL, "prompt.cancelled", actor, surface, now)


def expire(prompt: Prompt, *, actor: str, surface: str, now: datetime) -> None:
    """Close the question as if its time had run out.

    Raises:
        NotPending: It is closed already.
    """
    _close(prompt, Event.EXPIRE, "prompt.expired", actor, surface, now)


def _close(
    prompt: Prompt, event: Event, action: str, actor: str, surface: str, now: datetime
) -> None:
    with transaction.atomic():
        # Held as an answer holds it; read as it is now, or an answer kept meanwhile would be lost.
        questions.hold(prompt.conversation_key)
        current = Prompt.objects.select_related("obligation").get(pk=prompt.pk)
        reason = f"{event.value} by staff"
        by = _staff(actor, surface)
        if not questions.resolve(current, event, now=now, by=by, reason=reason):
            raise NotPending(current.state)
        _note(action, prompt, actor, now)


def extend(prompt: Prompt, *, by: timedelta, actor: str, now: datetime) -> datetime:
    """Give more time to answer.

    Args:
        prompt: The open prompt.
        by: How much more, at most a week at a time.
        actor: Who decides it.
        now: The present.

    Returns:
        The new deadline.

    Raises:
        NotPending: It is closed already.
        NotTaken: `by` is no sensible length of time.
    """
    if not timedelta(0) < by <= LONGEST_EXTENSION:
        message = "Give between 1 minute and 7 days more."
        raise NotTaken(message)
    with transaction.atomic():
        until = questions.extend(prompt, by=by, now=now)
        _note("prompt.extended", prompt, actor, now, until=until.isoformat(timespec="seconds"))
    return until


def resend(prompt: Prompt, *, actor: str, now: datetime) -> None:
    """Show the question again.

    Raises:
        NotPending: It is closed already.
        CannotShow: Not at this moment; the message says why.
    """
    with transaction.atomic():
        questions.resend(prompt, now=now)
        _note("prompt.resent", prompt, actor, now)


def _staff(actor: str, surface: str) -> Answerer:
    return Answerer(id=actor, name=actor, surface=surface, is_staff=True)


def _note(action: str, prompt: Prompt, actor: str, now: datetime, **detail: str) -> None:
    auditing.note(action, actor=actor, subject=f"prompt:{prompt.pk}", now=now, **detail)
