"""What came of a try, written down by the one who sends.

Each verb is guarded by the claim: when another process has taken over, it raises `LeaseLost` and
nothing is written. The rows in memory follow only after the commit: as long as that fails, the
same call must be possible again.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from delivery import hints, statements
from delivery.errors import LeaseLost, OutcomeUnknown, TransportError
from delivery.ledger import telling
from delivery.ledger.claims import Claimed, begin, begun
from delivery.ledger.steps import move, move_parts, settle
from delivery.models import Attempt, Obligation, Outcome, Part
from delivery.ports import Receipt
from delivery.retry import FATE_UNKNOWN
from delivery.states import OBLIGATIONS, PARTS, Event, PartEvent, PartState


def accept(
    work: Claimed,
    part: Part,
    receipt: Receipt,
    *,
    operation: str,
    marked: bool,
    now: datetime,
    goes_on: bool = True,
) -> None:
    """Write down that the platform took `part`; begin the next part, or settle the whole.

    Args:
        work: The claim it belongs to.
        part: The part that was sent.
        receipt: The platform's word.
        operation: `send`, `edit` or `look`.
        marked: It said that it may be a duplicate.
        now: The present.
        goes_on: The next part follows at once. Otherwise nothing is under way until the next
            claim: what waits for a limit is not sent twice because its process died waiting.

    Raises:
        LeaseLost: Another process owns the account by now; it will find out for itself.
    """
    rest = work.after(part)
    with transaction.atomic():
        if rest:
            _hold_or_pause(work, now, goes_on=goes_on)
        elif work.has_left:
            _settle_abandoned(work, now, reason=FATE_UNKNOWN)
            telling.tell([work.obligation], now=now)
        else:
            _settle_delivered(work, now)
        moved = _deliver(part, receipt, now)
        _log(work, part, Outcome.ACCEPTED, operation, now, marked=marked)
        follows = rest[:1] if goes_on else []
        begin(follows)
    _remember(part, moved)
    begun(follows)
    work.parts = rest
    if not rest:
        event = Event.ABANDON if work.has_left else Event.ACCEPT
        work.obligation.state = OBLIGATIONS.target(event)


def leave(
    work: Claimed,
    part: Part,
    error: TransportError,
    *,
    operation: str,
    now: datetime,
    goes_on: bool = True,
) -> None:
    """Write down that the fate of `part` stayed unknown too often, and begin the next part.

    The whole is given up once the others have been sent: those certainly did not arrive.

    Args:
        work: The claim it belongs to.
        part: The part that is not sent again; there are parts after it.
        error: What the transport said.
        operation: `send`.
        now: The present.
        goes_on: The next part follows at once.

    Raises:
        LeaseLost: Another process owns the account by now.
    """
    rest = work.after(part)
    with transaction.atomic():
        _hold_or_pause(work, now, goes_on=goes_on)
        moved = _fail_part(part, lost=True, counts=True)
        _log(work, part, Outcome.UNKNOWN, operation, now, error=error)
        follows = rest[:1] if goes_on else []
        begin(follows)
    _remember(part, moved)
    begun(follows)
    work.parts, work.has_left = rest, True


def postpone(
    work: Claimed,
    part: Part,
    error: TransportError,
    *,
    until: datetime,
    operation: str,
    now: datetime,
    is_harmless: bool = False,
) -> None:
    """Write down that `part` did not get its receipt and when it is due again.

    Args:
        work: The claim it belongs to.
        part: The part that was tried.
        error: What the transport said.
        until: When it is due again.
        operation: `send`, `edit` or `look`.
        now: The present.
        is_harmless: A second copy does no harm, so this is none of the few that may be sent.

    Raises:
        LeaseLost: Another process owns the account by now.
    """
    lost = isinstance(error, OutcomeUnknown) and operation == "send"
    with transaction.atomic():
        moved_on = move(
            _owned(work),
            Event.POSTPONE,
            next_attempt_at=until,
            **_last(error),
            recoveries=F("recoveries") + (1 if lost and not is_harmless else 0),
            updated_at=now,
        )
        if not moved_on:
            raise LeaseLost
        moved = _fail_part(part, lost=lost, counts=lost and not is_harmless)
        outcome = Outcome.UNKNOWN if lost else Outcome.NOT_SENT
        _log(work, part, outcome, operation, now, error=error)
        hints.conversation_changed(work.obligation.conversation_key)
    _remember(part, moved)


def try_again(
    work: Claimed, part: Part, error: TransportError, *, operation: str, now: datetime
) -> None:
    """Write down a refusal and that the same part is tried at once in another shape.

    The caller has already changed the part's body or the obligation's address or anchor.

    Raises:
        LeaseLost: Another process owns the account by now.
    """
    obligation = work.obligation
    with transaction.atomic():
        updated = _owned(work).update(
            reply_to=obligation.reply_to,
            address=obligation.address,
            chat_id=obligation.chat_id,
            **_last(error),
            updated_at=now,
        )
        if not updated:
            raise LeaseLost
        _log(work, part, Outcome.REFUSED, operation, now, error=error)
        Part.objects.filter(pk=part.pk).update(attempts=part.attempts + 1, body=part.body)
    part.attempts += 1


def abandon(
    work: Claimed,
    part: Part,
    error: TransportError,
    *,
    reason: str,
    operation: str,
    now: datetime,
    tells: bool = True,
) -> None:
    """Give the whole obligation up, with the reason.

    Args:
        work: The claim it belongs to.
        part: The part that was tried.
        error: What the transport said.
        reason: For staff.
        operation: `send` or `edit`.
        now: The present.
        tells: The person is to learn of it; not where nothing reaches them.

    Raises:
        LeaseLost: Another process owns the account by now.
    """
    is_unknown = isinstance(error, OutcomeUnknown)
    outcome = Outcome.UNKNOWN if is_unknown else Outcome.REFUSED
    with transaction.atomic():
        _settle_abandoned(work, now, reason=reason, **_last(error))
        moved = _fail_part(part, lost=part.was_lost or is_unknown, counts=is_unknown)
        _log(work, part, outcome, operation, now, error=error)
        if tells:
            telling.tell([work.obligation], now=now)
    _remember(part, moved)
    work.obligation.state, work.obligation.reason = OBLIGATIONS.target(Event.ABANDON), reason


def message_ids(obligation_id: int) -> list[str]:
    """The platform ids of what was delivered of an obligation, in order."""
    parts = Part.objects.filter(obligation=obligation_id).exclude(message_id="")
    return list(parts.order_by("position").values_list("message_id", flat=True))


def _fail_part(part: Part, *, lost: bool, counts: bool) -> dict[str, Any]:
    """Write that a part got no receipt.

    Args:
        part: The part.
        lost: It may have arrived.
        counts: Sending it once more makes one copy of the few that there may be.

    Returns:
        The columns written, for the part in memory.
    """
    event = PartEvent.LOSE if lost else PartEvent.REFUSE
    state = PARTS.advance(PartState(part.state), event)
    changes = {"was_lost": part.was_lost or lost, "losses": part.losses + counts}
    move_parts(Part.objects.filter(pk=part.pk), event, **changes)
    return {"state": state, **changes}


def _remember(part: Part, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(part, name, value)


def _owned(work: Claimed) -> QuerySet[Obligation]:
    return statements.owned(**_claim_of(work))


def _claim_of(work: Claimed) -> dict[str, Any]:
    return {"pk": work.obligation.pk, "owner": work.fence.owner, "epoch": work.fence.epoch}


def _hold_or_pause(work: Claimed, now: datetime, *, goes_on: bool) -> None:
    if goes_on:
        is_held = statements.hold(**_claim_of(work), now=now)
    else:
        is_held = move(_owned(work), Event.PAUSE, updated_at=now)
    if not is_held:
        raise LeaseLost


def _settle_delivered(work: Claimed, now: datetime) -> None:
    if not statements.settle_delivered(**_claim_of(work), now=now):
        raise LeaseLost
    hints.conversation_changed(work.obligation.conversation_key)


def _deliver(part: Part, receipt: Receipt, now: datetime) -> dict[str, Any]:
    state = PARTS.advance(PartState(part.state), PartEvent.ACCEPT)
    statements.deliver_part(pk=part.pk, message_id=receipt.message_id, now=now)
    return {"state": state, "message_id": receipt.message_id, "delivered_at": now}


def _settle_abandoned(work: Claimed, now: datetime, *, reason: str, **changes: str) -> None:
    if not settle(_owned(work), Event.ABANDON, reason=reason, now=now, **changes):
        raise LeaseLost
    hints.conversation_changed(work.obligation.conversation_key)


def _log(
    work: Claimed,
    part: Part,
    outcome: Outcome,
    operation: str,
    now: datetime,
    *,
    error: TransportError | None = None,
    marked: bool = False,
) -> None:
    attempt = Attempt(
        part=part,
        number=part.attempts,
        operation=operation,
        owner=work.fence.owner,
        epoch=work.fence.epoch,
        outcome=outcome,
        marked=marked,
        error_code=(error.code if error else "")[:64],
        detail=_sentence(error) if error else "",
        finished_at=now,
    )
    statements.insert_attempt.one(attempt)


def _last(error: TransportError) -> dict[str, str]:
    """What an obligation keeps of `error`: a sentence for people, a name to decide by."""
    return {"last_error": _sentence(error), "error_kind": type(error).__name__}


def _sentence(error: TransportError) -> str:
    return f"{type(error).__name__}: {error.detail}"[:500]
