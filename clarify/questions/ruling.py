"""Somebody rules on an operation: approves it or denies it ([Q19], [Q19b])."""

from datetime import datetime

from django.db import transaction

from clarify import approvals, consent, permits
from clarify.approvals import Ruling
from clarify.consent import Verdict
from clarify.errors import NotAllowed, NotYours, UnknownPrompt
from clarify.models import Prompt
from clarify.questions.closing import resolve
from clarify.questions.looking import Answerer, closed_words, held_row, may_allow, may_answer
from clarify.questions.outcomes import Outcome, note
from clarify.states import Effect, Event, State
from delivery import auditing


def rule(prompt: Prompt, ruling: Ruling, answerer: Answerer, *, now: datetime) -> Outcome:
    """Approve or deny the operation of `prompt`, once.

    Returns:
        What became of it; too late if it was closed before, and then nothing runs.

    Raises:
        NotYours: They have nothing to say about it.
        NotAllowed: They may deny it, and not approve it.
        UnknownPrompt: An approval of that reach was never on offer.
    """
    with transaction.atomic():
        prompt = held_row(prompt)
        try:
            return _ruled(prompt, ruling, answerer, "", now)
        except (NotYours, NotAllowed) as error:
            refusal = error  # raised below: what is written down about it stays
    raise refusal


def _ruled(prompt: Prompt, ruling: Ruling, answerer: Answerer, said: str, now: datetime) -> Outcome:
    """As `rule`, for a row that is held already."""
    if not may_answer(prompt, answerer):
        _note_refusal(prompt, ruling, answerer, said, "not theirs to decide", now)
        raise NotYours
    if prompt.state == State.PENDING and prompt.expires_at <= now:  # nobody has swept it yet
        resolve(prompt, Event.EXPIRE, now=now, reason="expired")
    if prompt.state != State.PENDING:
        note(prompt, answerer, said, Effect.TOO_LATE, "", now)
        return Outcome(Effect.TOO_LATE, prompt, closed_words(prompt))
    operation = prompt.what
    if ruling.reach not in operation.reaches:
        raise UnknownPrompt
    if ruling.approved and not may_allow(prompt, answerer):
        _note_refusal(prompt, ruling, answerer, said, "may not approve this", now)
        words = prompt.words
        raise NotAllowed(words.not_allowed.format(level=words.levels[operation.level]))
    prompt.answers = ruling.as_answers()
    if not resolve(prompt, Event.ANSWER, now=now, by=answerer):  # pragma: no cover - it is held
        return Outcome(Effect.TOO_LATE, prompt, closed_words(prompt))
    permits.give(prompt, ruling, by=answerer.name or answerer.id, now=now)
    decision = "approved" if ruling.approved else "denied"
    note(prompt, answerer, said, Effect.RESOLVED, decision, now)
    _audit(f"approval.{decision}", prompt, ruling, answerer, now)
    say = approvals.ending(prompt.answers, State.ANSWERED, words=prompt.words)
    return Outcome(Effect.RESOLVED, prompt, say)


def _note_refusal(
    prompt: Prompt, ruling: Ruling, answerer: Answerer, said: str, why: str, now: datetime
) -> None:
    note(prompt, answerer, said, Effect.REFUSED, why, now)
    wanted = "approve" if ruling.approved else "deny"
    _audit("approval.refused", prompt, ruling, answerer, now, wanted=wanted, why=why)


def _audit(
    action: str, prompt: Prompt, ruling: Ruling, answerer: Answerer, now: datetime, **more: str
) -> None:
    operation = prompt.what
    auditing.note(
        action,
        actor=f"{answerer.surface}:{answerer.id}",
        subject=f"prompt:{prompt.pk}",
        now=now,
        tool=operation.tool,
        level=operation.level.value,
        reach=ruling.reach.value,
        digest=operation.digest,
        **more,
    )


def pressed(prompt: Prompt, choice: str, answerer: Answerer, now: datetime) -> Outcome:
    """A button of an approval was pressed; the row is held.

    Raises:
        As `rule`.
    """
    ruling = approvals.ruling_of(choice, prompt.what)
    if ruling is None:
        raise UnknownPrompt
    return _ruled(prompt, ruling, answerer, "", now)


def said(prompt: Prompt, text: str, answerer: Answerer, now: datetime) -> Outcome:
    """Words that quote the message of an approval ([Q24]); the row is held.

    Raises:
        As `rule`.
    """
    read = consent.read_consent(text)
    if read.verdict is Verdict.UNCLEAR:
        say = prompt.words.rule_plainly.format(number=prompt.pk)
        note(prompt, answerer, text, Effect.HINTED, say, now)
        return Outcome(Effect.HINTED, prompt, say)
    ruling = Ruling(approved=read.verdict is Verdict.APPROVE, reason=read.reason)
    return _ruled(prompt, ruling, answerer, text, now)
