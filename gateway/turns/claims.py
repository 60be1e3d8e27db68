"""Who holds a turn: one process, by its name and the turn's epoch, for as long as a lease."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from gateway import commissions, statements
from gateway.conf import gateway_settings
from gateway.errors import TurnLost
from gateway.models import Turn
from gateway.states import TurnEvent, TurnState

LEASE = timedelta(seconds=20)


def of(turn: Turn) -> dict[str, Any]:
    """The claim under which the caller runs `turn`."""
    return {"pk": turn.pk, "owner": turn.owner, "epoch": turn.epoch}


def held(turn: Turn, event: TurnEvent) -> QuerySet[Turn]:
    """The row of `turn`, if it is still run under the caller's claim and `event` may happen."""
    return statements.held_turn(**of(turn), event=event)


def in_hand() -> QuerySet[Turn]:
    """All turns that some worker says it runs."""
    return Turn.objects.filter(state=TurnState.RUNNING)


def room(chat_type: str, capacity: int) -> int:
    """How many more turns may run now in places of that kind, in the whole installation ([T11]).

    Args:
        chat_type: The kind of place: work that nobody waits for has bounds of its own.
        capacity: The most turns of all other places.
    """
    if commissions.is_unattended(chat_type):
        running = statements.running_apart(kind=chat_type)
        return gateway_settings().unattended.most_of(chat_type) - len(running)
    return capacity - len(statements.running_turns())


def hold(
    turn: Turn,
    *,
    now: datetime,
    spoken: str | None = None,
    usage: dict[str, Any] | None = None,
) -> None:
    """Say that the work on a turn goes on.

    Args:
        turn: The turn.
        now: The present.
        spoken: What the agent has said so far; None leaves what is stored.
        usage: What it has cost so far; stored with `spoken` only.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    until = now + LEASE
    if spoken is None:
        is_held = statements.hold_turn(**of(turn), until=until, now=now)
    else:
        is_held = statements.hold_speaking_turn(
            **of(turn), spoken=spoken, usage=usage or turn.usage, until=until, now=now
        )
    if not is_held:
        raise TurnLost
