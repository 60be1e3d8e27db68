"""What staff and upkeep do with what nobody is sending at this moment."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from delivery.conf import delivery_settings
from delivery.errors import NetworkDown
from delivery.forgetting import Rule, forget, register_need
from delivery.ledger import telling
from delivery.ledger.debts import wake
from delivery.ledger.steps import move, settle
from delivery.models import Attempt, Obligation, Part
from delivery.states import OBLIGATIONS, OPEN, WAITING, Event, PartState, State

TOO_OLD = "owed for too long"
MOVED = "its message stayed in the chat's old id"


def withdraw(obligation: Obligation, *, reason: str, now: datetime) -> bool:
    """Give up a debt that is no longer owed and that no process is sending at this moment."""
    rows = Obligation.objects.filter(pk=obligation.pk)
    return bool(settle(rows, Event.WITHDRAW, reason=reason, now=now))


def withdraw_unseen(obligation: Obligation, *, reason: str, now: datetime) -> bool:
    """Give up a debt that certainly nobody has seen; False if somebody may have."""
    seen = [PartState.ATTEMPTING, PartState.LOST, PartState.DELIVERED]
    if Part.objects.filter(obligation=obligation, state__in=seen).exists():
        return False
    return withdraw(obligation, reason=reason, now=now) or obligation.state == State.ABANDONED


def retry(obligation: Obligation, *, now: datetime) -> bool:
    """Owe an abandoned message again, or make a waiting one due at once: staff ask for it."""
    rows = Obligation.objects.filter(pk=obligation.pk)
    with transaction.atomic():
        changed = move(
            rows, Event.RETRY, reason="", settled_at=None, next_attempt_at=now, updated_at=now
        )
        if changed:
            Part.objects.filter(obligation=obligation).update(losses=0)
            wake(obligation.account)
    return bool(changed)


def mark_delivered(obligation: Obligation, *, reason: str, now: datetime) -> bool:
    """Settle a message that staff have seen arrive, though no receipt came for it.

    Its parts keep what is known of them: nobody learnt their message ids.

    Returns:
        Whether it changed; False when it is being sent at this moment or was delivered before.
    """
    rows = Obligation.objects.filter(pk=obligation.pk)
    return bool(settle(rows, Event.CONFIRM, reason=reason, now=now))


def release_account(account: str, *, now: datetime) -> int:
    """Make everything of `account` that waits for a retry due at once: its connection is back."""
    waiting = Obligation.objects.filter(
        account=account,
        state=State.FAILED,
        next_attempt_at__gt=now,
        error_kind=NetworkDown.__name__,
    )
    return waiting.update(next_attempt_at=now)


def expire(*, now: datetime, batch: int = 1000) -> int:
    """Abandon what has been owed for longer than a debt is valid, at most `batch` at a time.

    Of an account that is disabled, too: what it owes waits, and is as old as anything else.
    """
    waiting = Obligation.objects.filter(state__in=OBLIGATIONS.sources(Event.WITHDRAW))
    overdue = waiting.filter(created_at__lt=now - delivery_settings().validity)
    gone = []
    with transaction.atomic():
        for obligation in overdue.order_by("id")[:batch]:
            row = Obligation.objects.filter(pk=obligation.pk)
            if settle(row, Event.WITHDRAW, reason=TOO_OLD, now=now):
                gone.append(obligation)
        telling.tell(gone, now=now)
    return len(gone)


def _settled_long_ago(now: datetime) -> QuerySet[Obligation]:
    return Obligation.objects.filter(settled_at__lt=now - delivery_settings().keep_settled)


SETTLED = Rule(
    what="deliveries",
    model=Obligation,
    past=_settled_long_ago,
    by="settled_at",
    reads=("correlation",),
    along=frozenset({Part, Attempt}),
)
SURPLUS = replace(SETTLED, past=lambda _now: Obligation.objects.filter(settled_at__isnull=False))


def prune(*, now: datetime, batch: int = SETTLED.batch, batches: int = 1) -> int:
    """Delete settled rows that were kept long enough, or are too many; how many went.

    The oldest go first. What is still owed is never deleted, however many rows there are, and
    neither is what somebody needs: the message of an open question, or what is being changed.
    """
    count = forget(replace(SETTLED, batch=batch), now=now, batches=batches)
    surplus = Obligation.objects.filter(settled_at__isnull=False).count()
    surplus -= delivery_settings().most_settled
    if surplus > 0 and count < batch * batches:
        count += forget(replace(SURPLUS, batch=batch), now=now, most=surplus, batches=batches)
    return count


def being_changed(rows: Sequence[Obligation], now: datetime) -> Iterable[int | None]:
    """Those of `rows` whose message an owed one rewrites."""
    del now
    changes = Obligation.objects.filter(edits__in=[row.pk for row in rows], state__in=OPEN)
    return changes.values_list("edits", flat=True)


register_need(Obligation, being_changed)


def rename(old_key: str, new_key: str) -> None:
    """A conversation has another key: what is and was owed in it stays its own."""
    Obligation.objects.filter(conversation_key=old_key).update(conversation_key=new_key)


def move_chat(account: str, old_chat_id: str, new_chat_id: str, *, now: datetime) -> None:
    """What waits to be sent to a chat goes to the chat's new id.

    Changes of its messages are given up: the new chat counts its messages afresh, and the number of
    an old one may be that of another there.
    """
    waiting = Obligation.objects.filter(account=account, chat_id=old_chat_id, state__in=WAITING)
    settle(waiting.exclude(edits=None), Event.WITHDRAW, reason=MOVED, now=now)
    for obligation in waiting.order_by("id"):
        address = replace(obligation.destination, chat_id=new_chat_id)
        Obligation.objects.filter(pk=obligation.pk, state=obligation.state).update(
            address=address.as_dict(), lane=address.lane, chat_id=new_chat_id, updated_at=now
        )
