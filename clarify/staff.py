"""What staff may do to a question ([Q21]): each verb with its row in the audit log.

Every verb does its work in one transaction and raises `ClarifyError` when it changed nothing, in
words that the person who asked can act on.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction

from clarify import permits, questions
from clarify.approvals import Ruling
from clarify.errors import NotPending, NotTaken
from clarify.models import Permit, Prompt
from clarify.questions import Answerer, Effect
from clarify.risks import FULL_AUTHORITY
from clarify.states import Event
from clarify.wording import ENGLISH
from delivery import auditing

LONGEST_EXTENSION = timedelta(days=7)
MAY_RULE = "clarify.approve_operation"
"""The permission to approve for others, and to approve or deny anything in the admin."""

ON_NOBODYS_BEHALF = (
    "An approval is given or refused by an approver in their own name, on nobody's behalf."
)
NO_APPROVAL = "This is a question, not an operation to approve: answer it."
NO_ANSWER = "There is no answer in that."


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
    if prompt.is_approval:
        raise NotTaken(ON_NOBODYS_BEHALF)
    answerer = _staff(actor, surface)
    with transaction.atomic():
        outcome = questions.answer_text(prompt, text, answerer, now=now)
        if outcome.effect is Effect.TOO_LATE:
            raise NotPending(outcome.prompt.state)
        if outcome.effect in {Effect.HINTED, Effect.NOTHING}:
            # Raised inside, so that the reply row goes as well: nobody in the chat said it.
            raise NotTaken(outcome.say or NO_ANSWER)
        _note("prompt.answered_on_behalf", prompt, actor, now, effect=outcome.effect.value)
    return outcome.say or f"The question is {outcome.prompt.state}."


def foresee(prompt: Prompt, text: str) -> list[str]:
    """How an answer on behalf of the person who was asked would be read; nothing is written.

    Returns:
        A line for each question: what it would be answered with, or that it stays open.

    Raises:
        NotTaken: The text answers nothing; the message says how to answer.
        NotPending: It is closed already.
    """
    if prompt.is_approval:
        raise NotTaken(ON_NOBODYS_BEHALF)
    if not prompt.is_open:
        raise NotPending(prompt.state)
    reading = questions.foresee(prompt, text)
    if reading.declined:
        return ["It declines the question: the agent is told that it was skipped."]
    hints = [ENGLISH.say(hint) for hint in reading.hints]
    if not reading.answers:
        raise NotTaken("\n\n".join(hints) or NO_ANSWER)
    given = prompt.given | dict(reading.answers)
    read = [_as_read(q.text, q.labels, given.get(q.key)) for q in prompt.question_set.questions]
    return read + hints


def _as_read(question: str, labels: Collection[str], given: Collection[str] | None) -> str:
    if given is None:
        return f"{question} It stays open."
    words = [word if word in labels else f"“{word}” (in own words)" for word in given]
    return f"{question} {', '.join(words) or 'None of them.'}"


def rule(
    prompt: Prompt, *, approved: bool, reason: str = "", actor: str, surface: str, now: datetime
) -> str:
    """Approve an operation once, or deny it, in one's own name ([Q19b]).

    Args:
        prompt: The open approval.
        approved: Whether the operation may run.
        reason: Why not, for the agent; empty for none.
        actor: Who decides it. That they may (`MAY_RULE`) was seen to before.
        surface: From where: `admin`, `command line`.
        now: The present.

    Returns:
        What became of it, in words.

    Raises:
        NotTaken: It is no approval, or is decided already and stays so.
    """
    if not prompt.is_approval:
        raise NotTaken(NO_APPROVAL)
    answerer = replace(_staff(actor, surface), authority=FULL_AUTHORITY)
    ruling = Ruling(approved=approved, reason="" if approved else reason.strip())
    outcome = questions.rule(prompt, ruling, answerer, now=now)
    if outcome.effect is Effect.TOO_LATE:
        raise NotTaken(outcome.say)
    return f"{outcome.say}."


def revoke(permit: Permit, *, actor: str, now: datetime) -> None:
    """End a lasting approval: the next such operation is asked for again.

    Raises:
        NotTaken: It has ended already.
    """
    with transaction.atomic():
        if not permits.revoke(permit, by=actor, now=now):
            message = "It has ended already."
            raise NotTaken(message)
        auditing.note(
            "approval.revoked",
            actor=actor,
            subject=f"permit:{permit.pk}",
            now=now,
            tool=permit.tool,
            given_by=permit.given_by,
        )


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
