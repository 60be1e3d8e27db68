"""Asking, answering and closing: the only writer of the clarify tables.

Every function works inside the caller's transaction or opens its own, takes the present as `now`,
and resolves a prompt by one conditional update, so that of any number of simultaneous answers
exactly one wins ([Q1]).
"""

import logging
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet

from clarify import choices, ports, presenting, wording
from clarify.errors import CannotShow, NotPending, NotYours, UnknownPrompt
from clarify.models import Prompt, PromptKind, Reply
from clarify.readings import SetReading
from clarify.schema import Question, QuestionSet
from clarify.sets import read_set
from clarify.states import PROMPTS, Event, State
from delivery import frozen, hints, ledger, registry
from delivery.addresses import Address
from delivery.content import Button, Controls
from delivery.ledger import Debt
from delivery.models import Kind, Obligation
from delivery.states import PartState
from delivery.states import State as DeliveryState

logger = logging.getLogger(__name__)

OTHER = "o"
SKIP = "s"
DATA_PREFIX = "q"
CLOSED_LATELY = timedelta(minutes=10)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is to be asked, of whom and where.

    Attributes:
        kind: Which of the three faces.
        correlation: Opaque: the turn that waits.
        call_id: The tool call that asks; the same call asked again is the same prompt.
        conversation_key: Whose conversation.
        address: Where it is shown.
        reply_to: The message it answers; empty for none.
        asker_id: The platform id of the person who is asked.
        asker_name: Their name, for staff.
        questions: What is asked, already validated.
        anyone_may_answer: Any permitted member may answer, not only the person asked.
    """

    kind: PromptKind
    correlation: str
    call_id: str
    conversation_key: str
    address: Address
    asker_id: str
    questions: QuestionSet
    asker_name: str = ""
    reply_to: str = ""
    anyone_may_answer: bool = False


@dataclass(frozen=True, kw_only=True)
class Answerer:
    """Who answers, and from where.

    Attributes:
        id: The platform's id of the person.
        name: What to call them.
        surface: The platform they answer on.
        is_staff: Logged-in staff may answer anything ([Q15]).
    """

    id: str
    name: str
    surface: str
    is_staff: bool = False


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


def ask(request: Ask, *, now: datetime) -> Prompt:
    """Put a prompt to a person, in the caller's transaction.

    It is shown at once unless an earlier prompt of the conversation is still open; then it is shown
    when that one is resolved ([Q23]).
    """
    prompt, is_new = Prompt.objects.get_or_create(
        correlation=request.correlation,
        call_id=request.call_id,
        defaults={
            "kind": request.kind,
            "conversation_key": request.conversation_key,
            "token": secrets.token_urlsafe(12),
            "lane": request.address.lane,
            "address": request.address.as_dict(),
            "reply_to": request.reply_to,
            "asker_id": request.asker_id,
            "asker_name": request.asker_name,
            "anyone_may_answer": request.anyone_may_answer,
            "questions": request.questions.as_dict(),
            "expires_at": now + timedelta(seconds=request.questions.timeout_seconds),
            "created_at": now,
            "updated_at": now,
        },
    )
    if is_new and not _open(request.conversation_key).exclude(pk=prompt.pk).exists():
        _show(prompt, now)
    return prompt


def _open(conversation_key: str) -> QuerySet[Prompt]:
    return Prompt.objects.filter(conversation_key=conversation_key, state=State.PENDING)


def _show(prompt: Prompt, now: datetime, *, again: str = "") -> None:
    question_set = prompt.question_set
    outlet = registry.outlet(prompt.destination.platform)
    controls = Controls()
    if outlet.supports_buttons and len(question_set.questions) == 1:
        controls = _buttons(prompt, question_set.questions[0])
    prompt.has_buttons = bool(controls.rows)
    prompt.obligation = ledger.record(
        Debt(
            conversation_key=prompt.conversation_key,
            trigger=f"prompt:{prompt.pk}{again}",
            address=prompt.destination,
            kind=Kind.APPROVAL if prompt.kind == PromptKind.APPROVAL else Kind.PROMPT,
            content=presenting.present(
                question_set, buttons=prompt.has_buttons, answered=prompt.given
            ),
            reply_to=prompt.reply_to,
            controls=controls,
            correlation=prompt.correlation,
        ),
        now=now,
    )
    prompt.save(update_fields=["has_buttons", "obligation"])


def _buttons(prompt: Prompt, question: Question) -> Controls:
    if question.multi_select or not question.options:
        return Controls()
    rows: list[tuple[Button, ...]] = [
        (Button(label=caption, data=button_data(prompt.token, str(index))),)
        for index, caption in enumerate(presenting.captions(question))
    ]
    rows.append(
        (
            Button(label=wording.OTHER, data=button_data(prompt.token, OTHER)),
            Button(label=wording.SKIP, data=button_data(prompt.token, SKIP)),
        )
    )
    return Controls(rows=tuple(rows))


def button_data(token: str, choice: str) -> str:
    """What a button carries: whose it is and which choice; at most 24 ASCII bytes, no words."""
    return f"{DATA_PREFIX}:{token}:{choice}"


def from_button(data: str) -> tuple[str, str] | None:
    """The token and choice that `button_data` wrote; None if it is no such text."""
    words = data.split(":")
    if len(words) != 3 or words[0] != DATA_PREFIX:
        return None
    return words[1], words[2]


def is_armed(prompt: Prompt) -> bool:
    """Whether its message may have been seen, so that a text can be meant as its answer ([Q22])."""
    obligation = prompt.obligation
    if obligation is None:
        return False
    if registry.outlet(prompt.destination.platform).shows_at_once:
        return True
    if obligation.state == DeliveryState.DELIVERED:
        return True
    seen = [PartState.ATTEMPTING, PartState.LOST, PartState.DELIVERED]
    return obligation.parts.filter(state__in=seen).exists()


def pending_for(conversation_key: str) -> list[Prompt]:
    """The open prompts of a conversation that may have been seen, oldest first."""
    prompts = _open(conversation_key).select_related("obligation").order_by("id")
    return [prompt for prompt in prompts if is_armed(prompt)]


def open_to(
    conversation_key: str, answerer: Answerer, *, lane: str, quoted_message_id: str = ""
) -> list[Prompt]:
    """The prompts that a person's words may be meant for, in the order they are to be tried.

    It is the one rule for typed answers and for `/skip`: what is shown where the words were said
    and is theirs to answer, oldest first; never an approval ([Q24]). Words that quote the message
    of a prompt are for that one alone, and for none if it is closed ([Q23]).

    Args:
        conversation_key: Whose conversation.
        answerer: Who speaks.
        lane: Where they speak.
        quoted_message_id: The platform's id of the message they reply to; empty for none.
    """
    prompts = pending_for(conversation_key)
    if quoted_message_id and prompts:
        meant = quoted(conversation_key, quoted_message_id)
        if meant is not None:
            prompts = [prompt for prompt in prompts if prompt.pk == meant.pk]
    return [
        prompt
        for prompt in prompts
        if may_answer(prompt, answerer)
        and prompt.lane == lane
        and prompt.kind != PromptKind.APPROVAL
    ]


def nothing_lately(conversation_key: str, *, now: datetime) -> bool:
    """Whether no prompt of the conversation is open or was closed minutes ago.

    One cheap look that spares most messages the two dear ones.
    """
    return not _any_since(key=conversation_key, since=now - CLOSED_LATELY)


@frozen.exists
def _any_since(*, key: str, since: datetime) -> QuerySet[Prompt]:
    lately = Q(state=State.PENDING) | Q(resolved_at__gte=since)
    return Prompt.objects.filter(lately, conversation_key=key)


def quoted(conversation_key: str, message_id: str) -> Prompt | None:
    """The prompt, open or closed, that the platform message `message_id` shows."""
    shown = Prompt.objects.filter(
        conversation_key=conversation_key, obligation__parts__message_id=message_id
    )
    return shown.order_by("-id").first()


def rename(old_key: str, new_key: str, chat_id: str, *, now: datetime) -> None:
    """A conversation has another key and its chat another id: its questions move along."""
    for prompt in _open(old_key).order_by("id"):
        address = replace(prompt.destination, chat_id=chat_id)
        Prompt.objects.filter(pk=prompt.pk).update(
            address=address.as_dict(), lane=address.lane, updated_at=now
        )
    Prompt.objects.filter(conversation_key=old_key).update(conversation_key=new_key)


def closed_lately(conversation_key: str, *, now: datetime) -> Prompt | None:
    """The prompt of a conversation that was resolved last, if that was minutes ago ([Q20])."""
    closed = Prompt.objects.filter(
        conversation_key=conversation_key, resolved_at__gte=now - CLOSED_LATELY
    )
    return closed.order_by("-resolved_at").first()


def looks_like_answer(prompt: Prompt, text: str) -> bool:
    """Whether `text` is a bare number or label of `prompt`, and nothing else would make sense."""
    return any(choices.looks_like_answer(q, text) for q in prompt.question_set.questions)


def may_answer(prompt: Prompt, answerer: Answerer) -> bool:
    """Whether it is theirs to answer ([Q15])."""
    return answerer.is_staff or prompt.anyone_may_answer or answerer.id == prompt.asker_id


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
    found = from_button(data)
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
    if choice == SKIP:
        return skip(prompt, answerer, now=now), False
    if choice == OTHER:
        return Outcome(Effect.KEPT, prompt, str(wording.TYPE_YOUR_ANSWER)), True
    question = prompt.question_set.questions[0]
    if choice not in _choices_of(prompt):
        raise UnknownPrompt
    prompt.answers = {**prompt.answers, question.key: [question.options[int(choice)].label]}
    return _resolve_by(prompt, Event.ANSWER, answerer, "", now), False


def _choices_of(prompt: Prompt) -> list[str]:
    """What its numbered buttons carry; nothing where it was shown without buttons."""
    options = prompt.question_set.questions[0].options if prompt.has_buttons else ()
    return [str(index) for index in range(len(options))]


def hold(conversation_key: str) -> None:
    """Let nobody else close a prompt of the conversation until the transaction ends.

    All of them, oldest first: whoever closes one shows the next and may let the turn go on, and two
    who each held one and wanted the other's would wait for each other for ever.
    """
    rows = _open(conversation_key).select_for_update().order_by("id")
    list(rows.values_list("pk", flat=True))


def _resolve_by(
    prompt: Prompt, event: Event, answerer: Answerer, text: str, now: datetime
) -> Outcome:
    if not resolve(prompt, event, now=now, by=answerer):
        prompt.refresh_from_db()
        _note(prompt, answerer, text, "too late", "", now)
        return Outcome(Effect.TOO_LATE, prompt, closed_words(prompt))
    _note(prompt, answerer, text, "resolved", prompt.state, now)
    return Outcome(Effect.RESOLVED, prompt, wording.taken(State(prompt.state), prompt.given))


def resolve(
    prompt: Prompt, event: Event, *, now: datetime, by: Answerer | None = None, reason: str = ""
) -> bool:
    """Close `prompt` by `event`, once; `by` is who does it, None for nobody.

    What was answered is taken from `prompt.answers`. Whoever waits is told inside the transaction,
    every surface that shows it is updated, and the next prompt of the conversation is shown.

    Returns:
        Whether this call closed it; False when it was closed before.
    """
    state = PROMPTS.target(event)
    closer = {
        "resolved_by": (by.name or by.id)[:255] if by else "",
        "resolved_on": by.surface[:32] if by else "",
        "resolved_by_staff": by is not None and by.is_staff and by.id != prompt.asker_id,
    }
    # What was kept of a set stays as it is stored when anything but an answer closes it.
    answers = {"answers": prompt.answers} if event is Event.ANSWER else {}
    with transaction.atomic():
        hold(prompt.conversation_key)
        won = Prompt.objects.filter(pk=prompt.pk, state__in=PROMPTS.sources(event)).update(
            state=state,
            **answers,
            **closer,
            reason=reason[:200],
            resolved_at=now,
            updated_at=now,
        )
        if not won:
            return False
        prompt.state, prompt.reason, prompt.resolved_at = state, reason, now
        for name, value in closer.items():
            setattr(prompt, name, value)
        _retire(prompt, now)
        hints.conversation_changed(prompt.conversation_key)
        ports.tell(prompt, now)
        _show_next(prompt.conversation_key, now)
    return True


def _retire(prompt: Prompt, now: datetime) -> None:
    """Close the prompt on the surface that shows it ([Q5])."""
    obligation = prompt.obligation
    if obligation is None or ledger.withdraw_unseen(
        obligation, reason="resolved before it was shown", now=now
    ):
        return
    if not registry.outlet(prompt.destination.platform).supports_editing:
        return
    ledger.record(
        Debt(
            conversation_key=prompt.conversation_key,
            trigger=f"prompt:{prompt.pk}",
            address=prompt.destination,
            kind=Kind.RETIRE,
            content=summary(prompt),
            controls=Controls(clear=True),
            correlation=prompt.correlation,
            edits=obligation,
        ),
        now=now,
    )


def _show_next(conversation_key: str, now: datetime) -> None:
    waiting = list(_open(conversation_key).order_by("id")[:2])
    if waiting and waiting[0].obligation_id is None:
        _show(waiting[0], now)


def summary(prompt: Prompt) -> str:
    """The resolved prompt in a few words: the question beside its answer, or what became of it."""
    return presenting.summary(
        prompt.question_set, prompt.given, State(prompt.state), by=prompt.closed_by
    )


def closed_words(prompt: Prompt) -> str:
    """What became of a prompt that is closed, for somebody who comes late."""
    on = "" if prompt.resolved_by_staff else prompt.resolved_on
    return wording.closed(State(prompt.state), prompt.given, by=prompt.closed_by, on=on)


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


def cancel_for(correlation: str, *, reason: str, now: datetime, by: Answerer | None = None) -> int:
    """Cancel every open prompt of a turn; how many there were."""
    prompts = Prompt.objects.filter(correlation=correlation, state=State.PENDING)
    cancelled = 0
    for prompt in prompts.select_related("obligation").order_by("-id"):
        cancelled += resolve(prompt, Event.CANCEL, now=now, by=by, reason=reason)
    return cancelled


def extend(prompt: Prompt, *, by: timedelta, now: datetime) -> datetime:
    """Give more time to answer: `by` from its deadline, or from now if that has passed.

    Returns:
        The new deadline.

    Raises:
        NotPending: It is closed already.
    """
    with transaction.atomic():
        locked = _locked(prompt)
        until = max(locked.expires_at, now) + by
        Prompt.objects.filter(pk=prompt.pk).update(expires_at=until, updated_at=now)
    prompt.expires_at = until
    return until


def resend(prompt: Prompt, *, now: datetime) -> None:
    """Show an open prompt again; an earlier message of it points to the new one.

    A message of it that is still owed is made due at once instead, so that nobody gets two.

    Raises:
        NotPending: It is closed already.
        CannotShow: It waits behind another prompt, or is being sent at this moment.
    """
    with transaction.atomic():
        locked = _locked(prompt)
        shown = locked.obligation
        if shown is None:
            message = (
                "An earlier question of this conversation is still open; this one is shown as soon"
                " as that is closed."
            )
            raise CannotShow(message)
        if shown.state == DeliveryState.FAILED and ledger.retry(shown, now=now):
            return
        if shown.state in {DeliveryState.PENDING, DeliveryState.ATTEMPTING, DeliveryState.FAILED}:
            message = "Its message is about to be sent anyway; look again in a minute."
            raise CannotShow(message)
        if shown.state == DeliveryState.DELIVERED:
            _point_to_newer(locked, shown, now)
        _show(locked, now, again=f":again:{shown.pk}")
        Prompt.objects.filter(pk=prompt.pk).update(updated_at=now)


def _point_to_newer(prompt: Prompt, shown: Obligation, now: datetime) -> None:
    if not registry.outlet(prompt.destination.platform).supports_editing:
        return
    ledger.record(
        Debt(
            conversation_key=prompt.conversation_key,
            trigger=f"prompt:{prompt.pk}:again:{shown.pk}",
            address=prompt.destination,
            kind=Kind.RETIRE,
            content=str(wording.ASKED_AGAIN),
            controls=Controls(clear=True),
            correlation=prompt.correlation,
            edits=shown,
        ),
        now=now,
    )


def _locked(prompt: Prompt) -> Prompt:
    """The row as it is now, held until the transaction ends, and still open."""
    hold(prompt.conversation_key)
    locked = Prompt.objects.select_related("obligation").filter(pk=prompt.pk).first()
    if locked is None:
        raise UnknownPrompt
    if locked.state != State.PENDING:
        raise NotPending(locked.state)
    return locked


def expire_overdue(*, now: datetime, limit: int = 200) -> int:
    """Close the prompts whose deadline has passed; how many."""
    overdue = Prompt.objects.filter(state=State.PENDING, expires_at__lte=now)
    due = list(overdue.select_related("obligation").order_by("expires_at")[:limit])
    return _close_each(due, Event.EXPIRE, reason="expired", now=now)


def close_undeliverable(*, now: datetime, limit: int = 200) -> int:
    """Close the prompts whose message certainly reached nobody ([Q22]); how many."""
    unseen = Prompt.objects.filter(
        state=State.PENDING, obligation__state=DeliveryState.ABANDONED
    ).exclude(obligation__parts__state__in=[PartState.LOST, PartState.DELIVERED])
    prompts = list(unseen.select_related("obligation").order_by("id")[:limit])
    return _close_each(prompts, Event.FAIL_DELIVERY, reason="delivery_failed", now=now)


def _close_each(prompts: list[Prompt], event: Event, *, reason: str, now: datetime) -> int:
    """Close what can be closed: a prompt that cannot must not keep the others open for ever."""
    closed = 0
    for prompt in prompts:
        try:
            closed += resolve(prompt, event, now=now, reason=reason)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("A prompt could not be closed", extra={"prompt": prompt.pk})
    return closed
