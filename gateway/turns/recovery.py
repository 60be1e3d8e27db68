"""Turns in somebody's hands and out of them: renewed, laid down, taken back, found again."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, Subquery

from gateway import attention, queue, sessions, speaking, wording
from gateway.commissions import UNATTENDED
from gateway.messages import ChatType
from gateway.models import Turn
from gateway.models.turns import ACTIVE_STATES
from gateway.states import TURNS, FailureKind, TurnEvent, TurnState
from gateway.turns import claims, joining, life, owing

MOST_DEATHS = 2
OVERLOOKED = timedelta(seconds=3)


def renew(owner: str, held: set[int], *, now: datetime) -> set[int]:
    """Hold on to the turns that `owner` really has in hand.

    Args:
        owner: The identity of the calling process.
        held: The ids of the turns it runs at this moment.
        now: The present.

    Returns:
        Those of `held` that are still its own and were not stopped.
    """
    mine = claims.in_hand().filter(pk__in=held, owner=owner)
    mine.update(lease_expires_at=now + claims.LEASE)
    return set(mine.values_list("pk", flat=True))


def at_work(held: Collection[int]) -> set[int]:
    """Those of `held` to which somebody is making an answer now ([D12])."""
    active = Turn.objects.filter(conversation=OuterRef("conversation"), state__in=ACTIVE_STATES)
    rows = Turn.objects.filter(pk__in=held).values_list(
        "pk", "state", Subquery(active.values("state")[:1])
    )
    return {
        pk
        for pk, state, other in rows
        if attention.is_typed_for(TurnState(state), TurnState(other) if other else None)
    }


def running(*, limit: int = 1000) -> list[Turn]:
    """The turns that some worker says it runs, the one whose lease ends first in front."""
    turns = claims.in_hand().select_related("conversation")
    return list(turns.order_by("lease_expires_at")[:limit])


def give_back(turn: Turn, *, now: datetime) -> bool:
    """Lay a running turn down unharmed, for any worker to go on with; nobody died."""
    with transaction.atomic():
        changed = claims.held(turn, TurnEvent.GIVE_BACK).update(
            state=TURNS.target(TurnEvent.GIVE_BACK), owner="", woken_at=now, updated_at=now
        )
        if changed:
            queue.wake_turns(turn.conversation_id)
    return bool(changed)


def reclaim(turn: Turn, *, now: datetime) -> bool:
    """Take back a turn whose worker is gone, so that another goes on with it ([T3]).

    A turn that has killed its worker too often is ended with a notice instead.
    """
    with transaction.atomic():
        changed = claims.held(turn, TurnEvent.RECLAIM).update(
            state=TURNS.target(TurnEvent.RECLAIM),
            owner="",
            deaths=F("deaths") + 1,
            woken_at=now,
            updated_at=now,
        )
        if not changed:
            return False
        deaths = turn.deaths + 1
        if deaths < MOST_DEATHS:
            with speaking.to(turn.conversation.language):
                owing.owe_notice(turn, str(wording.GOES_ON), f"resumed:{deaths}", now=now)
            queue.wake_turns(turn.conversation_id)
        else:
            detail = f"its worker died {deaths} times"
            with speaking.to(turn.conversation.language):
                life.fail(turn, FailureKind.WORKER_DIED, str(wording.TOO_OFTEN), detail, now=now)
            sessions.suspend(turn.session, by=f"turn:{turn.pk}", now=now)
    return True


def wake_overlooked(*, now: datetime, capacity: int) -> int:
    """Wake workers for turns that are due and that nobody seems to be coming for."""
    return sum(_wake(kind, capacity, now) for kind in (None, *sorted(UNATTENDED)))


def _wake(kind: ChatType | None, capacity: int, now: datetime) -> int:
    """The same for places of one kind of work that nobody waits for; None for all chats."""
    room = claims.room(kind or "", capacity)
    if room <= 0:
        return 0
    apart = [kind] if kind else UNATTENDED
    of_kind = Q(conversation__chat_type__in=apart)
    active = Turn.objects.filter(conversation=OuterRef("conversation"), state__in=ACTIVE_STATES)
    due = Turn.objects.filter(state=TurnState.QUEUED, woken_at__lt=now - OVERLOOKED).filter(
        ~joining.held_rows(now), ~Exists(active)
    )
    ready = Turn.objects.filter(state=TurnState.READY, woken_at__lt=now - OVERLOOKED)
    of_kind = of_kind if kind else ~of_kind
    both = (rows.filter(of_kind).order_by("woken_at")[:room] for rows in (ready, due))
    found = [turn for rows in both for turn in rows][:room]
    for conversation_id in {turn.conversation_id for turn in found}:
        queue.send_run_turns(conversation_id)
    Turn.objects.filter(pk__in=[turn.pk for turn in found]).update(woken_at=now)
    return len(found)
