"""The one way in: what is known already is dropped, the rest is decided, stored and confirmed.

Everything about one event happens in one transaction together with the cursor that confirms it.
What must be done on the platform at once (acknowledging a press, showing that we type) comes back
as values; the caller does it after the commit.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from django.db import IntegrityError, transaction

from delivery import bearings, leases, masking
from delivery.database import DATABASE_AWAY
from delivery.errors import LeaseLost
from delivery.leases import Fence
from gateway import accounts, inbound, routing
from gateway.deeds import AckPress, Deed
from gateway.messages import Batch, ButtonPress, Inbound, clean, ids_of

logger = logging.getLogger(__name__)

HANDFUL = 10  # events to a transaction: fewer commits, and nobody waits long for the writer's lock

Take = Callable[[str, Inbound, datetime], tuple[Deed, ...]]


def receive(account: str, fence: Fence, batch: Batch, *, now: datetime) -> list[Deed]:
    """Take a batch in, a handful of events to a transaction, the cursor with the last of them.

    Args:
        account: The account it came to.
        fence: The right to act for that account.
        batch: What came.
        now: The present.

    Returns:
        What is to be done on the platform at once.

    Raises:
        LeaseLost: Another process owns the account; nothing of the rest was stored.
        DatabaseError: The database is away; the same batch will come again.
    """
    deeds: list[Deed] = []
    for handful in _handfuls(account, batch):
        try:
            deeds += _take_handful(account, fence, handful, now, _take)
        except (LeaseLost, *DATABASE_AWAY):
            raise
        except Exception:  # noqa: BLE001 - which of them it was shows when each is tried by itself
            deeds += _take_handful(account, fence, handful, now, _take_or_keep)
    return deeds


def take(account: str, event: Inbound, *, now: datetime) -> tuple[Deed, ...]:
    """Take one event in, once; an event that cannot be handled is kept and named, and passed by.

    Raises:
        DatabaseError: The database is away.
    """
    if not inbound.fresh(account, [event]):
        return ()
    with transaction.atomic():
        return _take_or_keep(account, event, now)


def _handfuls(account: str, batch: Batch) -> Iterator[tuple[Sequence[Inbound], str | None]]:
    """What is new, in handfuls; the cursor comes with the last of them, which may be empty."""
    fresh = inbound.fresh(account, batch.events)
    for start in range(0, max(len(fresh), 1), HANDFUL):
        end = start + HANDFUL
        yield fresh[start:end], batch.cursor if end >= len(fresh) else None


@transaction.atomic
def _take_handful(
    account: str,
    fence: Fence,
    handful: tuple[Sequence[Inbound], str | None],
    now: datetime,
    take_one: Take,
) -> list[Deed]:
    if not leases.is_current(fence):
        raise LeaseLost
    events, cursor = handful
    deeds = [deed for event in events for deed in take_one(account, event, now)]
    if cursor is not None:
        accounts.confirm(account, cursor, now=now, saw_event=bool(events))
    return deeds


def _take(account: str, event: Inbound, now: datetime) -> tuple[Deed, ...]:
    source = getattr(event, "source", None)
    message = source.message_id if source else ""
    with bearings.about(account=account, message=message), masking.people(*ids_of(event)):
        verdict = routing.decide(event, now)
        inbound.store(account, event, verdict, now=now)
    return verdict.deeds


def _take_or_keep(account: str, event: Inbound, now: datetime) -> tuple[Deed, ...]:
    with masking.people(*ids_of(event)):
        return _taken_or_kept(account, event, now)


def _taken_or_kept(account: str, event: Inbound, now: datetime) -> tuple[Deed, ...]:
    try:
        with transaction.atomic():
            return _take(account, event, now)
    except DATABASE_AWAY:
        raise
    except Exception as error:
        if isinstance(error, IntegrityError) and not inbound.fresh(account, [event]):
            return ()  # the same event came in twice at once
        logger.exception("An event could not be handled", extra={"event": clean(event.event_id)})
        inbound.keep_poison(account, event, error, now=now)
        return (AckPress(event, ""),) if isinstance(event, ButtonPress) else ()
