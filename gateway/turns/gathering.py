"""A queued turn that waits for the rest of what was said: its files, the pieces of its album."""

from datetime import datetime

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Concat

from gateway import queue
from gateway.models import Turn
from gateway.states import TurnState


def extend(turn: Turn, words: str, *, until: datetime, now: datetime) -> bool:
    """More was said that belongs to a turn in the queue.

    Args:
        turn: The turn.
        words: What is added to its prompt, on a line of its own.
        until: How long it waits for what came along, at most.
        now: The present.

    Returns:
        Whether it had not begun.
    """
    queued = Turn.objects.filter(pk=turn.pk, state=TurnState.QUEUED)
    said = Concat("prompt", Value(f"\n{words}"))
    return bool(queued.update(prompt=said, held_until=until, updated_at=now))


def let_begin(turn_id: int, *, now: datetime) -> None:
    """All that a turn waited for is there, or will not come."""
    held = Turn.objects.filter(pk=turn_id, state=TurnState.QUEUED, held_until__gt=now)
    with transaction.atomic():
        if held.update(held_until=now, woken_at=now, updated_at=now):
            queue.wake_turns(Turn.objects.get(pk=turn_id).conversation_id)
