"""A queued turn that waits for the rest of what was said: its files, and its further pieces."""

from datetime import datetime

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Concat

from gateway import queue
from gateway.models import Turn
from gateway.states import TurnState


def extend(
    turn: Turn,
    words: str,
    *,
    now: datetime,
    joint: str = "\n",
    held_until: datetime | None = None,
    gathers_until: datetime | None = None,
) -> bool:
    """More was said that belongs to a turn in the queue.

    Args:
        turn: The turn.
        words: What is added to its prompt.
        now: The present.
        joint: What stands between.
        held_until: How long it waits for files that came along, at most; None for none.
        gathers_until: How long it waits for more words; None lets it begin.

    Returns:
        Whether it had not begun.
    """
    queued = Turn.objects.filter(pk=turn.pk, state=TurnState.QUEUED)
    said = Concat("prompt", Value(f"{joint}{words}"))
    changed = queued.update(
        prompt=said,
        held_until=held_until or F("held_until"),
        gathers_until=gathers_until,
        woken_at=now,
        updated_at=now,
    )
    if changed and held_until is None:
        queue.wake_turns(turn.conversation_id, after=_wait(gathers_until, now))
    return bool(changed)


def _wait(until: datetime | None, now: datetime) -> float:
    return max(0.0, (until - now).total_seconds()) if until else 0.0


def let_begin(turn_id: int, *, now: datetime) -> None:
    """All files that a turn waited for are there, or will not come."""
    held = Turn.objects.filter(pk=turn_id, state=TurnState.QUEUED, held_until__gt=now)
    with transaction.atomic():
        if held.update(held_until=now, woken_at=now, updated_at=now):
            queue.wake_turns(Turn.objects.get(pk=turn_id).conversation_id)
