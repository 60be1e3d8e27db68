"""Ownership by lease: one process acts for a name at a time, with a number that fences the rest."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from delivery import statements
from delivery.models import Lease


@dataclass(frozen=True)
class Fence:
    """The proof of one acquisition: who, of what, and the number that came with it."""

    name: str
    owner: str
    epoch: int


def acquire(
    name: str, owner: str, *, now: datetime, ttl: timedelta, is_dead: Callable[[str], bool]
) -> Fence | None:
    """Take the lease `name` if it is free.

    It is free when it has run out, was released, or its owner is certainly dead. Taking it again
    while owning it gives a new number.

    Args:
        name: What is to be owned.
        owner: The identity of the calling process.
        now: The present, aware.
        ttl: For how long, unless renewed.
        is_dead: Tells of an owner that it certainly runs no more.

    Returns:
        The fence, or None if a living owner holds it.
    """
    with transaction.atomic():
        lease, _ = Lease.objects.get_or_create(name=name, defaults={"expires_at": now})
        free = Q(expires_at__lte=now) | Q(owner="") | Q(owner=owner)
        if lease.owner and is_dead(lease.owner):
            free |= Q(owner=lease.owner, epoch=lease.epoch)
        taken = Lease.objects.filter(free, pk=lease.pk, epoch=lease.epoch).update(
            owner=owner, epoch=F("epoch") + 1, expires_at=now + ttl
        )
    return Fence(name, owner, lease.epoch + 1) if taken else None


def renew(fence: Fence, *, now: datetime, ttl: timedelta) -> bool:
    """Hold on for another `ttl`; False when somebody else has taken over."""
    return bool(statements.hold_longer(**vars(fence), until=now + ttl))


def release(fence: Fence, *, now: datetime) -> None:
    """Give it up, so that the next owner need not wait."""
    statements.held(**vars(fence)).update(owner="", expires_at=now)


def is_current(fence: Fence) -> bool:
    """Whether `fence` is still the newest word on its name, even if it ran out."""
    return statements.is_held(**vars(fence))
