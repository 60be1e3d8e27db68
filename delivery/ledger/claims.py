"""Claiming: what this process may send now, and what earlier owners left under way."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, F

from delivery import ageing, hints, statements
from delivery.conf import delivery_settings
from delivery.errors import LeaseLost
from delivery.leases import Fence
from delivery.ledger import telling
from delivery.ledger.steps import move_parts, settle
from delivery.models import Attempt, Obligation, Outcome, Part
from delivery.retry import FATE_UNKNOWN
from delivery.states import OBLIGATIONS, PARTS, Event, PartEvent, PartState, State


@dataclass
class Claimed:
    """An obligation that this process may now send, and the parts still to be sent.

    Attributes:
        obligation: What is owed.
        parts: Those of its parts that are still to be sent.
        fence: The right under which it was claimed.
        obligation_parts: How many parts there are in all, delivered ones included.
        has_left: A part is not sent again, for its fate stayed unknown too often.
    """

    obligation: Obligation
    parts: list[Part]
    fence: Fence
    obligation_parts: int = 1
    has_left: bool = False

    def after(self, part: Part) -> list[Part]:
        """What is still to be sent after `part`."""
        return [other for other in self.parts if other.position > part.position]


Admit = Callable[[list[Obligation]], list[Obligation]]


def claim_due(
    fence: Fence,
    account: str,
    *,
    now: datetime,
    busy: Iterable[str] = (),
    limit: int = 100,
    admit: Admit = list,
) -> list[Claimed]:
    """Take what is due: at most one message of each lane, the oldest.

    A message that an earlier owner was sending is taken too: the part under way is then `lost`.
    The first part of each is marked as being attempted before this returns.

    Args:
        fence: The caller's right to the account.
        account: Whose messages.
        now: The present.
        busy: Lanes that the caller is already serving, or that must wait.
        limit: The most to take.
        admit: Which of those that are due the platform's limits let go now; kept in its order.

    Raises:
        LeaseLost: Another process owns the account.
    """
    heads = statements.due_heads(
        account=account,
        epoch=fence.epoch,
        now=now,
        busy=list(busy),
        late=now - ageing.LATE,
        very_late=now - ageing.VERY_LATE,
    )
    heads = admit(heads[:limit])
    if not heads:
        return []
    with transaction.atomic():
        ids = [head.pk for head in heads]
        if statements.take(ids=ids, **vars(fence), now=now) != len(ids):
            heads = _really_taken(heads, fence)
            ids = [head.pk for head in heads]
        parts = _open_parts(ids)
        heads = _take_over(heads, parts, now)
        totals = _totals(heads)
        claimed = [_claimed(head, parts.get(head.pk, []), totals, fence) for head in heads]
        first = [work.parts[0] for work in claimed if work.parts]
        begin(first)
    begun(first)
    for head in heads:
        head.state, head.attempts = OBLIGATIONS.target(Event.CLAIM), head.attempts + 1
        head.owner, head.epoch = fence.owner, fence.epoch
    return claimed


def _claimed(head: Obligation, parts: list[Part], totals: dict[int, int], fence: Fence) -> Claimed:
    """The claim of an obligation, given its parts that are not delivered."""
    to_send = _to_send(parts)
    total = totals.get(head.pk, len(parts))
    return Claimed(head, to_send, fence, total, has_left=len(to_send) < len(parts))


def _totals(heads: list[Obligation]) -> dict[int, int]:
    """How many parts each of those has that were tried before; all parts of the others are open."""
    tried = [head.pk for head in heads if head.attempts]
    if not tried:
        return {}
    counted = Part.objects.filter(obligation__in=tried).values_list("obligation")
    return dict(counted.annotate(count=Count("pk")).order_by())


def _to_send(parts: list[Part]) -> list[Part]:
    """Those whose fate did not stay unknown too often."""
    most = delivery_settings().max_recoveries
    return [part for part in parts if part.losses <= most]


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

    A message of which nothing is left but parts whose sending ended with its process too often is
    given up ([D6]): it would be sent again and again, and may be what kills the process.
    """
    orphans = [head for head in heads if head.state == State.ATTEMPTING]
    if not orphans:
        return heads
    _mark_lost([part for head in orphans for part in parts.get(head.pk, [])], heads, now)
    hopeless = {head.pk: head for head in orphans if not _to_send(parts.get(head.pk, []))}
    settle(
        Obligation.objects.filter(pk__in=list(hopeless)),
        Event.ABANDON,
        reason=FATE_UNKNOWN,
        now=now,
    )
    telling.tell(hopeless.values(), now=now)
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
    move_parts(rows, PartEvent.LOSE, was_lost=True, losses=F("losses") + 1)
    for part in under_way:
        part.state, part.was_lost = PARTS.target(PartEvent.LOSE), True
        part.losses += 1
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


def begin(parts: list[Part]) -> None:
    """Write that `parts` are about to be sent; after the commit, `begun` says so in memory.

    Raises:
        IllegalTransition: One of them is under way or has arrived.
    """
    for part in parts:
        PARTS.advance(PartState(part.state), PartEvent.BEGIN)
    if parts:
        # Of a commit that came through though its answer did not, nothing is left to be changed.
        statements.begin_parts(ids=[part.pk for part in parts])


def begun(parts: list[Part]) -> None:
    """Let the rows in memory follow what `begin` wrote."""
    for part in parts:
        part.state, part.attempts = PARTS.target(PartEvent.BEGIN), part.attempts + 1
