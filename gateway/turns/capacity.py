"""Turns that wait because the installation is full: told once, let in as soon as may be ([T1])."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from delivery import frozen
from gateway import queue, speaking, statements, wording
from gateway.busy import Plan
from gateway.commissions import UNATTENDED, is_unattended
from gateway.models import Turn
from gateway.models.turns import ACTIVE_STATES
from gateway.states import TurnState
from gateway.turns import claims, joining, owing

SOON = timedelta(seconds=2)  # whoever gets in by then was hardly kept waiting
AT_ONCE = 200  # people told in one go
FEW = 3  # workers woken by the end of one turn


def due(now: datetime, kind: str = "") -> QuerySet[Turn]:
    """The turns that would run if there were room, the one that waits longest in front.

    Args:
        now: The present.
        kind: The kind of place, of those where nobody sits; empty for all chats.
    """
    active = Turn.objects.filter(conversation=OuterRef("conversation"), state__in=ACTIVE_STATES)
    queued = Turn.objects.filter(state=TurnState.QUEUED).exclude(joining.held_rows(now))
    ready = Turn.objects.filter(state=TurnState.READY)
    apart = Q(conversation__chat_type=kind)
    there = apart if kind else ~Q(conversation__chat_type__in=UNATTENDED)
    return (queued.filter(~Exists(active)) | ready).filter(there).order_by("pk")


def tell_waiting(*, now: datetime, capacity: int) -> int:
    """Tell whoever has waited for a moment what for, each once; how many were told.

    A message that is taken up at once is answered, not told that it waits.
    """
    behind = sorted(_behind(before=now - SOON), key=lambda turn: turn.pk)
    told = sum(_tell(turn, _place_in_line, now) for turn in behind)
    if len(statements.running_turns()) < capacity:
        return told
    waiting = due(now).filter(told_at=None, updated_at__lt=now - SOON)
    full = waiting.select_related("conversation")[:AT_ONCE]
    return told + sum(_tell(turn, lambda _: wording.no_room(capacity), now) for turn in full)


@frozen.rows
def _behind(*, before: datetime) -> QuerySet[Turn]:
    """The turns, queued before then, that wait behind one of their own conversation in progress."""
    active = Turn.objects.filter(conversation=OuterRef("conversation"), state__in=ACTIVE_STATES)
    waiting = Turn.objects.filter(
        Exists(active), state=TurnState.QUEUED.value, told_at=None, woken_at__lt=before
    )
    apart = Q(conversation__chat_type__in=UNATTENDED)
    # By what the index of queued turns is sorted by, so that nothing else is read.
    return waiting.exclude(apart).select_related("conversation").order_by("woken_at")[:AT_ONCE]


def _place_in_line(turn: Turn) -> str:
    before = sum(one.pk < turn.pk for one in joining.open_of(turn.conversation_id))
    return wording.busy(Plan.QUEUE, behind=before)


def _tell(turn: Turn, say: Callable[[Turn], str], now: datetime) -> bool:
    with transaction.atomic():
        untold = Turn.objects.filter(pk=turn.pk, told_at=None)
        if not untold.update(told_at=now):
            return False
        with speaking.to(turn.conversation.language):
            owing.owe_notice(turn, say(turn), "waits", now=now)
    return True


def make_way(ended: Turn, *, now: datetime, capacity: int) -> None:
    """A turn ended or waits: if it was the last room, wake a worker for who waits longest.

    Of work that nobody waits for there may be many more than run at once, all of it due at once:
    there as many are woken as there is room for, a few at a time.
    """
    kind = ended.conversation.chat_type
    if is_unattended(kind):
        room = min(claims.room(kind, capacity), FEW)
        waiting = due(now, kind).values_list("conversation_id", flat=True)
        for conversation_id in waiting[: max(room, 0)]:
            queue.send_run_turns(conversation_id)
        return
    if len(statements.running_turns()) != capacity - 1:
        return
    following = due(now).values_list("conversation_id", flat=True).first()
    if following is not None:
        queue.send_run_turns(following)
