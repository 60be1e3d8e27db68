"""The ledger: what is owed, written down before anything is sent. Only writer of its tables.

Every function takes the present as `now` and does its work in one transaction. A function that
settles something is guarded by the fence of the account's lease: when another process has taken
over, it raises `LeaseLost` and nothing is written.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import override as language

from delivery import hints, registry, statements, wording
from delivery.addresses import Address
from delivery.conf import delivery_settings
from delivery.content import Controls, Rendered
from delivery.destinations import bury, is_dead, revive  # noqa: F401 - until intake calls them there
from delivery.errors import LeaseLost, LedgerUnavailable, OutcomeUnknown, TransportError
from delivery.leases import Fence
from delivery.models import (
    Attempt,
    Kind,
    Obligation,
    Outcome,
    Part,
)
from delivery.ports import Certainty, Outlet, Receipt
from delivery.retry import FATE_UNKNOWN
from delivery.states import OBLIGATIONS, PARTS, WAITING, Event, PartEvent, PartState, State

CLOSED = "the chat is closed to us: blocked, left or deleted"
PRIORITIES = {
    Kind.PROMPT: 0,
    Kind.APPROVAL: 0,
    Kind.CONTROL: 0,
    Kind.NOTICE: 2,
    Kind.ERROR: 2,
    Kind.RETIRE: 2,
}


@dataclass(frozen=True, kw_only=True)
class Debt:
    """A message about to be owed.

    Attributes:
        conversation_key: The conversation it belongs to; empty for none.
        trigger: What it answers: the id of a message, turn or prompt. Together with the key, the
            kind and the content it makes the delivery id, so that the same debt is recorded once.
        address: Where it goes.
        kind: What sort of message it is.
        content: Canonical Markdown.
        reply_to: The platform id of the message it answers; empty for none.
        controls: Native buttons.
        preview_key: The live message it replaces; empty for none.
        correlation: Opaque id of the turn or prompt, for whoever reads the row.
        edits: The obligation whose message it rewrites.
        parts: The content as `rendered` gives it, where it was rendered before the transaction;
            None to have it rendered inside, which is right for what is known to be short.
    """

    conversation_key: str
    trigger: str
    address: Address
    kind: Kind
    content: str
    reply_to: str = ""
    controls: Controls = field(default_factory=Controls)
    preview_key: str = ""
    correlation: str = ""
    edits: Obligation | None = None
    parts: tuple[Rendered, ...] | None = None

    @property
    def delivery_id(self) -> str:
        """The same for the same debt ([D2])."""
        facts = (
            self.conversation_key,
            self.trigger,
            self.content,
            self.kind.value,
            self.address.lane,
        )
        return hashlib.sha256("\x1f".join(facts).encode("utf-8", "replace")).hexdigest()


def _move(rows: QuerySet[Obligation], event: Event, **changes: Any) -> int:
    """Let `event` happen to those of `rows` that the table allows it for; how many they were."""
    allowed = rows.filter(state__in=OBLIGATIONS.sources(event))
    return allowed.update(state=OBLIGATIONS.target(event), **changes)


def _settle(
    rows: QuerySet[Obligation], event: Event, *, reason: str, now: datetime, **changes: Any
) -> int:
    """As `_move`, for an event after which nothing is owed any more."""
    return _move(rows, event, reason=reason[:200], settled_at=now, updated_at=now, **changes)


def _move_parts(rows: QuerySet[Part], event: PartEvent, **changes: Any) -> int:
    """Let `event` happen to those of `rows` that the table allows it for; how many they were."""
    allowed = rows.filter(state__in=PARTS.sources(event))
    return allowed.update(state=PARTS.target(event), **changes)


def record(debt: Debt, *, now: datetime) -> Obligation:
    """Write `debt` down, with its parts, in the caller's transaction.

    Returns:
        The obligation; the one that is already there if the same debt was recorded before.

    Raises:
        LedgerUnavailable: There is no transaction to be part of.
    """
    if not transaction.get_connection().in_atomic_block:
        message = "a debt is recorded in the transaction that makes it"
        raise LedgerUnavailable(message)
    obligation = Obligation(
        delivery_id=debt.delivery_id,
        conversation_key=debt.conversation_key,
        correlation=debt.correlation,
        platform=debt.address.platform,
        account=debt.address.account,
        chat_id=debt.address.chat_id,
        lane=debt.address.lane,
        address=debt.address.as_dict(),
        reply_to=debt.reply_to,
        kind=debt.kind,
        priority=PRIORITIES.get(debt.kind, 1),
        content=debt.content,
        content_hash=hashlib.sha256(debt.content.encode("utf-8", "replace")).hexdigest(),
        controls=debt.controls.as_dict(),
        preview_key=debt.preview_key,
        edits=debt.edits,
        next_attempt_at=now,
        created_at=now,
        updated_at=now,
    )
    if not statements.insert_obligation.one(obligation):
        return Obligation.objects.get(delivery_id=debt.delivery_id)
    _render_parts(obligation, debt)
    if is_dead(debt.address):
        withdraw(obligation, reason=CLOSED, now=now)
        obligation.state = OBLIGATIONS.target(Event.WITHDRAW)
    else:
        wake(debt.address.account)
    hints.conversation_changed(debt.conversation_key)
    return obligation


def rendered(platform: str, content: str) -> tuple[Rendered, ...]:
    """The parts of `content` on a platform, with room for a mark.

    A very long text takes seconds; done beforehand, that holds up no other writer.
    """
    outlet = registry.outlet(platform)
    return tuple(outlet.dialect.render(content, reserve=_marker_room(outlet)))


def _render_parts(obligation: Obligation, debt: Debt) -> None:
    parts = debt.parts or rendered(debt.address.platform, debt.content)
    statements.insert_parts.many(
        Part(
            obligation=obligation,
            position=position,
            body=part.as_dict(),
            idempotency_key=f"{debt.delivery_id[:24]}-{position}",
        )
        for position, part in enumerate(parts)
    )


def _marker_room(outlet: Outlet) -> int:
    markers = [wording.FROM_THREAD]
    if outlet.certainty is not Certainty.IDEMPOTENT:
        markers.append(wording.RECOVERED)
    with language("en"):
        longest = max(outlet.dialect.measure(str(marker)) for marker in markers)
    return len(markers) * (longest + 2)


def wake(account: str) -> None:
    """Tell the owner of `account`, once the transaction is committed, that something is owed."""
    transaction.on_commit(lambda: hints.publish(hints.outbox_group(account), "outbox.wake"))


@dataclass
class Claimed:
    """An obligation that this process may now send, and the parts still to be sent."""

    obligation: Obligation
    parts: list[Part]
    fence: Fence
    obligation_parts: int = 1  # how many parts there are in all, delivered ones included


def claim_due(
    fence: Fence, account: str, *, now: datetime, busy: Iterable[str] = (), limit: int = 100
) -> list[Claimed]:
    """Take what is due: at most one message of each lane, the oldest.

    A message that an earlier owner was sending is taken too: the part under way is then `lost`.
    The first part of each is marked as being attempted before this returns.

    Args:
        fence: The caller's right to the account.
        account: Whose messages.
        now: The present.
        busy: Lanes that the caller is already serving.
        limit: The most to take.

    Raises:
        LeaseLost: Another process owns the account.
    """
    heads = statements.due_heads(account=account, epoch=fence.epoch, now=now, busy=list(busy))
    heads = heads[:limit]
    if not heads:
        return []
    with transaction.atomic():
        ids = [head.pk for head in heads]
        if statements.take(ids=ids, **vars(fence), now=now) != len(ids):
            heads = _really_taken(heads, fence)
            ids = [head.pk for head in heads]
        parts = _open_parts(ids)
        heads = _take_over(heads, parts, now)
        first = [parts[head.pk][0] for head in heads if head.pk in parts]
        _begin(first)
    _begun(first)
    claimed = []
    for head in heads:
        head.state, head.attempts = OBLIGATIONS.target(Event.CLAIM), head.attempts + 1
        head.owner, head.epoch = fence.owner, fence.epoch
        remaining = parts.get(head.pk, [])
        total = remaining[-1].position + 1 if remaining else 0
        claimed.append(Claimed(head, remaining, fence, total))
    return claimed


def _really_taken(heads: list[Obligation], fence: Fence) -> list[Obligation]:
    """Those of `heads` that nobody withdrew before they were taken."""
    if not statements.is_held(**vars(fence)):
        raise LeaseLost
    taken = Obligation.objects.filter(
        pk__in=[head.pk for head in heads],
        state=OBLIGATIONS.target(Event.CLAIM),
        owner=fence.owner,
        epoch=fence.epoch,
    )
    mine = set(taken.values_list("pk", flat=True))
    return [head for head in heads if head.pk in mine]


def _open_parts(ids: list[int]) -> dict[int, list[Part]]:
    parts: dict[int, list[Part]] = {}
    for part in statements.open_parts(ids=ids) if ids else []:
        parts.setdefault(part.obligation_id, []).append(part)
    return parts


def _take_over(
    heads: list[Obligation], parts: dict[int, list[Part]], now: datetime
) -> list[Obligation]:
    """Settle what earlier owners were sending; those of `heads` that are still to be sent.

    A message whose sending ended with its process too often is given up ([D6]): it would be sent
    again and again, and may be what kills the process.
    """
    orphans = [head for head in heads if head.state == State.ATTEMPTING]
    if not orphans:
        return heads
    _mark_lost([part for head in orphans for part in parts.get(head.pk, [])], heads, now)
    most = delivery_settings().max_recoveries
    hopeless = {head.pk: head for head in orphans if head.recoveries >= most}
    _settle(
        Obligation.objects.filter(pk__in=list(hopeless)),
        Event.ABANDON,
        reason=FATE_UNKNOWN,
        now=now,
    )
    borne = [head for head in orphans if head.pk not in hopeless]
    Obligation.objects.filter(pk__in=[head.pk for head in borne]).update(
        recoveries=F("recoveries") + 1
    )
    for head in borne:
        head.recoveries += 1
    for head in hopeless.values():
        hints.conversation_changed(head.conversation_key)
    return [head for head in heads if head.pk not in hopeless]


def _mark_lost(parts: list[Part], heads: list[Obligation], now: datetime) -> None:
    former = {head.pk: head for head in heads}
    under_way = [part for part in parts if part.state == PartState.ATTEMPTING]
    rows = Part.objects.filter(pk__in=[part.pk for part in under_way])
    _move_parts(rows, PartEvent.LOSE, was_lost=True)
    for part in under_way:
        part.state, part.was_lost = PARTS.target(PartEvent.LOSE), True
        head = former[part.obligation_id]
        Attempt.objects.create(
            part=part,
            number=part.attempts,
            owner=head.owner,
            epoch=head.epoch,
            outcome=Outcome.UNKNOWN,
            detail="the process that was sending it ended before it could tell",
            finished_at=now,
        )


def _begin(parts: list[Part]) -> None:
    for part in parts:
        PARTS.advance(PartState(part.state), PartEvent.BEGIN)  # the table allows it
    if parts:
        statements.begin_parts(ids=[part.pk for part in parts])


def _begun(parts: list[Part]) -> None:
    for part in parts:
        part.state, part.attempts = PARTS.target(PartEvent.BEGIN), part.attempts + 1


def accept(
    work: Claimed, part: Part, receipt: Receipt, *, operation: str, marked: bool, now: datetime
) -> None:
    """Write down that the platform took `part`; begin the next part, or settle the whole.

    Raises:
        LeaseLost: Another process owns the account by now; it will find out for itself.
    """
    rest = [other for other in work.parts if other.position > part.position]
    with transaction.atomic():
        if rest:
            _hold(work, now)
        else:
            _settle_delivered(work, now)
        moved = _deliver(part, receipt, now)
        _log(work, part, Outcome.ACCEPTED, operation, now, marked=marked)
        _begin(rest[:1])
    _remember(part, moved)
    _begun(rest[:1])
    work.parts = rest
    if not rest:
        work.obligation.state = OBLIGATIONS.target(Event.ACCEPT)


def postpone(
    work: Claimed,
    part: Part,
    error: TransportError,
    *,
    lost: bool,
    until: datetime,
    operation: str,
    now: datetime,
) -> None:
    """Write down that `part` did not get its receipt and when it is due again.

    Args:
        work: The claim it belongs to.
        part: The part that was tried.
        error: What the transport said.
        lost: It may have arrived.
        until: When it is due again.
        operation: `send` or `edit`.
        now: The present.

    Raises:
        LeaseLost: Another process owns the account by now.
    """
    with transaction.atomic():
        moved_on = _move(
            _owned(work),
            Event.POSTPONE,
            next_attempt_at=until,
            last_error=_sentence(error),
            recoveries=F("recoveries") + (1 if lost else 0),
            updated_at=now,
        )
        if not moved_on:
            raise LeaseLost
        moved = _fail_part(part, lost=lost)
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
            last_error=_sentence(error),
            updated_at=now,
        )
        if not updated:
            raise LeaseLost
        _log(work, part, Outcome.REFUSED, operation, now, error=error)
        Part.objects.filter(pk=part.pk).update(attempts=part.attempts + 1, body=part.body)
    part.attempts += 1


def abandon(
    work: Claimed, part: Part, error: TransportError, *, reason: str, operation: str, now: datetime
) -> None:
    """Give the whole obligation up, with the reason.

    Raises:
        LeaseLost: Another process owns the account by now.
    """
    is_unknown = isinstance(error, OutcomeUnknown)
    outcome = Outcome.UNKNOWN if is_unknown else Outcome.REFUSED
    with transaction.atomic():
        _settle_abandoned(work, now, reason=reason, error=_sentence(error))
        moved = _fail_part(part, lost=part.was_lost or is_unknown)
        _log(work, part, outcome, operation, now, error=error)
    _remember(part, moved)
    work.obligation.state, work.obligation.reason = OBLIGATIONS.target(Event.ABANDON), reason


def _fail_part(part: Part, *, lost: bool) -> dict[str, Any]:
    """Write that a part got no receipt.

    Returns:
        The columns written. The part in memory takes them over only after the commit: as long as
        that fails, the same call must be possible again.
    """
    event = PartEvent.LOSE if lost else PartEvent.REFUSE
    state = PARTS.advance(PartState(part.state), event)
    was_lost = part.was_lost or lost
    _move_parts(Part.objects.filter(pk=part.pk), event, was_lost=was_lost)
    return {"state": state, "was_lost": was_lost}


def _remember(part: Part, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(part, name, value)


def _owned(work: Claimed) -> QuerySet[Obligation]:
    return statements.owned(**_claim_of(work))


def _claim_of(work: Claimed) -> dict[str, Any]:
    return {"pk": work.obligation.pk, "owner": work.fence.owner, "epoch": work.fence.epoch}


def _hold(work: Claimed, now: datetime) -> None:
    if not statements.hold(**_claim_of(work), now=now):
        raise LeaseLost


def _settle_delivered(work: Claimed, now: datetime) -> None:
    if not statements.settle_delivered(**_claim_of(work), now=now):
        raise LeaseLost
    hints.conversation_changed(work.obligation.conversation_key)


def _deliver(part: Part, receipt: Receipt, now: datetime) -> dict[str, Any]:
    state = PARTS.advance(PartState(part.state), PartEvent.ACCEPT)
    statements.deliver_part(pk=part.pk, message_id=receipt.message_id, now=now)
    return {"state": state, "message_id": receipt.message_id, "delivered_at": now}


def _settle_abandoned(work: Claimed, now: datetime, *, reason: str, error: str) -> None:
    owned = _owned(work)
    if not _settle(owned, Event.ABANDON, reason=reason, now=now, last_error=error):
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


def _sentence(error: TransportError) -> str:
    return f"{type(error).__name__}: {error.detail}"[:500]


def message_ids(obligation_id: int) -> list[str]:
    """The platform ids of what was delivered of an obligation, in order."""
    parts = Part.objects.filter(obligation=obligation_id).exclude(message_id="")
    return list(parts.order_by("position").values_list("message_id", flat=True))


def withdraw(obligation: Obligation, *, reason: str, now: datetime) -> bool:
    """Give up a debt that is no longer owed and that no process is sending at this moment."""
    rows = Obligation.objects.filter(pk=obligation.pk)
    return bool(_settle(rows, Event.WITHDRAW, reason=reason, now=now))


def withdraw_unseen(obligation: Obligation, *, reason: str, now: datetime) -> bool:
    """Give up a debt that certainly nobody has seen; False if somebody may have."""
    seen = [PartState.ATTEMPTING, PartState.LOST, PartState.DELIVERED]
    if Part.objects.filter(obligation=obligation, state__in=seen).exists():
        return False
    return withdraw(obligation, reason=reason, now=now) or obligation.state == State.ABANDONED


def retry(obligation: Obligation, *, now: datetime) -> bool:
    """Owe an abandoned message again, or make a waiting one due at once: staff ask for it."""
    rows = Obligation.objects.filter(pk=obligation.pk)
    changed = _move(
        rows, Event.RETRY, reason="", settled_at=None, next_attempt_at=now, updated_at=now
    )
    if changed:
        wake(obligation.account)
    return bool(changed)


def mark_delivered(obligation: Obligation, *, reason: str, now: datetime) -> bool:
    """Settle a message that staff have seen arrive, though no receipt came for it.

    Its parts keep what is known of them: nobody learnt their message ids.

    Returns:
        Whether it changed; False when it is being sent at this moment or was delivered before.
    """
    rows = Obligation.objects.filter(pk=obligation.pk)
    return bool(_settle(rows, Event.CONFIRM, reason=reason, now=now))


def release_account(account: str, *, now: datetime) -> int:
    """Make everything of `account` that waits for a retry due at once: its connection is back."""
    waiting = Obligation.objects.filter(
        account=account,
        state=State.FAILED,
        next_attempt_at__gt=now,
        last_error__startswith="NetworkDown",
    )
    return waiting.update(next_attempt_at=now)


def expire(*, now: datetime) -> int:
    """Abandon what has been owed for longer than a debt is valid."""
    overdue = Obligation.objects.filter(created_at__lt=now - delivery_settings().validity)
    return _settle(overdue, Event.WITHDRAW, reason="owed for too long", now=now)


def prune(*, now: datetime, batch: int = 1000) -> int:
    """Delete settled rows that were kept long enough, at most `batch` at a time."""
    old = Obligation.objects.filter(settled_at__lt=now - delivery_settings().keep_settled)
    ids = list(old.order_by("settled_at").values_list("pk", flat=True)[:batch])
    Obligation.objects.filter(pk__in=ids).delete()
    return len(ids)


def rename(old_key: str, new_key: str) -> None:
    """A conversation has another key: what is and was owed in it stays its own."""
    Obligation.objects.filter(conversation_key=old_key).update(conversation_key=new_key)


def move_chat(account: str, old_chat_id: str, new_chat_id: str, *, now: datetime) -> None:
    """What waits to be sent to a chat goes to the chat's new id."""
    waiting = Obligation.objects.filter(account=account, chat_id=old_chat_id, state__in=WAITING)
    for obligation in waiting.order_by("id"):
        address = replace(obligation.destination, chat_id=new_chat_id)
        Obligation.objects.filter(pk=obligation.pk, state=obligation.state).update(
            address=address.as_dict(), lane=address.lane, chat_id=new_chat_id, updated_at=now
        )
