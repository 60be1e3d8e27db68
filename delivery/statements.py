"""The statements that every message passes, made once (`frozen`); for `ledger` and `leases`."""

from datetime import datetime
from typing import Any

from django.db.models import (
    Case,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)

from delivery import frozen
from delivery.frozen import Update
from delivery.models import OPEN_STATES, Attempt, DeadDestination, Lease, Obligation, Part
from delivery.states import OBLIGATIONS, PARTS, Event, PartEvent, PartState, State

MOST_HEADS = 100  # of one look

insert_obligation = frozen.Insert(Obligation, unless_there=True)
insert_parts = frozen.Insert(Part)
insert_attempt = frozen.Insert(Attempt)


def held(name: Any, owner: Any, epoch: Any) -> QuerySet[Lease]:
    """The row of a lease, if it is still held so."""
    return Lease.objects.filter(name=name, owner=owner, epoch=epoch)


@frozen.exists
def is_held(*, name: str, owner: str, epoch: int) -> QuerySet[Lease]:
    """Whether a lease is still held so."""
    return held(name, owner, epoch)


@frozen.exists
def is_dead(*, platform: str, account: str, chat_id: str) -> QuerySet[DeadDestination]:
    """Whether a chat is known to be closed to us."""
    return DeadDestination.objects.filter(platform=platform, account=account, chat_id=chat_id)


@frozen.update
def hold_longer(*, name: str, owner: str, epoch: int, until: datetime) -> Update:
    """Move the end of a lease that is still held so."""
    return held(name, owner, epoch), {"expires_at": until}


def earlier() -> QuerySet[Obligation]:
    """What is owed in the same lane and came before the row of the outer query."""
    return Obligation.objects.filter(
        lane=OuterRef("lane"), id__lt=OuterRef("id"), state__in=OPEN_STATES
    )


def rank(late: datetime, very_late: datetime) -> Case:
    """`ageing.rank` of a row, for what was recorded before these instants."""
    return Case(
        When(created_at__lt=very_late, then=Value(0)),
        When(created_at__lt=late, priority__gt=1, then=Value(1)),
        default=F("priority"),
        output_field=IntegerField(),
    )


@frozen.rows
def due_heads(
    *,
    account: str,
    epoch: int,
    now: datetime,
    busy: list[str],
    late: datetime,
    very_late: datetime,
) -> QuerySet[Obligation]:
    """The first of each lane that is due, or that an earlier owner was sending."""
    # What was never tried is due whatever its time says: it was written by another host's clock.
    waiting = Q(state=State.PENDING) | Q(state=State.FAILED, next_attempt_at__lte=now)
    orphaned = Q(state=State.ATTEMPTING, epoch__lt=epoch)
    heads = Obligation.objects.filter(account=account, state__in=OPEN_STATES)
    heads = heads.filter(waiting | orphaned).filter(~Exists(earlier())).exclude(lane__in=busy)
    return heads.order_by(rank(late, very_late), "id")[:MOST_HEADS]


@frozen.update
def take(*, ids: list[int], name: str, owner: str, epoch: int, now: datetime) -> Update:
    """Claim what is still claimable, under a lease that is still held."""
    claimable = Obligation.objects.filter(pk__in=ids, state__in=OBLIGATIONS.sources(Event.CLAIM))
    return claimable.filter(Exists(held(name, owner, epoch))), {
        "state": OBLIGATIONS.target(Event.CLAIM),
        "owner": owner,
        "epoch": epoch,
        "attempts": F("attempts") + 1,
        "updated_at": now,
    }


@frozen.rows
def open_parts(*, ids: list[int]) -> QuerySet[Part]:
    """The parts of some obligations that are not delivered yet, in order."""
    parts = Part.objects.filter(obligation__id__in=ids).exclude(state=PartState.DELIVERED)
    return parts.order_by("obligation_id", "position")


@frozen.update
def begin_parts(*, ids: list[int]) -> Update:
    """Mark parts as being sent."""
    return Part.objects.filter(pk__in=ids, state__in=PARTS.sources(PartEvent.BEGIN)), {
        "state": PARTS.target(PartEvent.BEGIN),
        "attempts": F("attempts") + 1,
    }


def owned(pk: Any, owner: Any, epoch: Any) -> QuerySet[Obligation]:
    """The row of an obligation, if it is still being sent under that claim."""
    return Obligation.objects.filter(pk=pk, state=State.ATTEMPTING, owner=owner, epoch=epoch)


@frozen.update
def hold(*, pk: int, owner: str, epoch: int, now: datetime) -> Update:
    """Say that the work on an obligation goes on."""
    return owned(pk, owner, epoch), {"updated_at": now}


@frozen.update
def settle_delivered(*, pk: int, owner: str, epoch: int, now: datetime) -> Update:
    """Every part has arrived."""
    row = owned(pk, owner, epoch).filter(state__in=OBLIGATIONS.sources(Event.ACCEPT))
    return row, {
        "state": OBLIGATIONS.target(Event.ACCEPT),
        "settled_at": now,
        "updated_at": now,
        "reason": "",
    }


@frozen.update
def deliver_part(*, pk: int, message_id: str, now: datetime) -> Update:
    """The platform took a part."""
    return Part.objects.filter(pk=pk, state__in=PARTS.sources(PartEvent.ACCEPT)), {
        "state": PARTS.target(PartEvent.ACCEPT),
        "message_id": message_id,
        "delivered_at": now,
    }
