"""Queued turns that the running one takes in: what was said to steer it ([T2]).

A message that steers is a queued turn like any other, with a mark. It joins the running turn in
the transaction that stores what the model was given and answered; until then it is in the queue,
and if the running turn ends without another model call, it is simply next. So it is never lost and
never done twice, whoever dies when.
"""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Q

from gateway import statements
from gateway.models import Turn
from gateway.states import TURNS, TurnEvent, TurnState


def joinable(turn: Turn, *, now: datetime) -> list[Turn]:
    """The turns that may join a running one at its next model call, in order."""
    rows = statements.joinable_turns(conversation=turn.conversation_id)
    return [one for one in rows if not is_held(one, now)]


def is_held(turn: Turn, now: datetime) -> bool:
    """Whether files of its message, or more pieces of it, are on their way."""
    return any(until is not None and until > now for until in (turn.held_until, turn.gathers_until))


def held_rows(now: datetime) -> Q:
    """The same as a condition on rows."""
    return Q(held_until__isnull=False, held_until__gt=now) | Q(
        gathers_until__isnull=False, gathers_until__gt=now
    )


def join(turn: Turn, ids: Collection[int], *, now: datetime) -> None:
    """Let the turns `ids` have joined `turn`, in the transaction that stores their words in it."""
    if not ids:
        return
    joining = Turn.objects.filter(
        pk__in=ids,
        conversation_id=turn.conversation_id,
        state__in=TURNS.sources(TurnEvent.JOIN),
        may_join=True,
    )
    joining.update(state=TURNS.target(TurnEvent.JOIN), joined=turn, finished_at=now, updated_at=now)


def open_of(conversation_id: int) -> list[Turn]:
    """The open turns of a conversation, the active one in front, then the queue in order."""
    rows = statements.open_turns(conversation=conversation_id)
    return sorted(rows, key=lambda turn: (turn.state == TurnState.QUEUED, turn.pk))
