"""The life of a turn, as a table. Pure.

A turn that waits for a person holds nothing: `waiting` is a row. `ready` has its answers and waits
for a worker, like `queued`.
"""

from enum import StrEnum

from gateway.errors import IllegalTransition


class TurnState(StrEnum):
    """Where a turn stands."""

    QUEUED = "queued"  # accepted, not begun
    RUNNING = "running"  # a worker holds its lease
    WAITING = "waiting"  # for a person
    READY = "ready"  # has its answers, to be gone on with
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"


class TurnEvent(StrEnum):
    """What happens to a turn."""

    CLAIM = "claim"
    ASK = "ask"
    ANSWER = "answer"
    FINISH = "finish"
    FAIL = "fail"
    STOP = "stop"
    RECLAIM = "reclaim"  # its worker is gone
    GIVE_BACK = "give_back"  # its worker lays it down, alive


TRANSITIONS: dict[tuple[TurnState, TurnEvent], TurnState] = {
    (TurnState.QUEUED, TurnEvent.CLAIM): TurnState.RUNNING,
    (TurnState.READY, TurnEvent.CLAIM): TurnState.RUNNING,
    (TurnState.RUNNING, TurnEvent.ASK): TurnState.WAITING,
    (TurnState.WAITING, TurnEvent.ANSWER): TurnState.READY,
    (TurnState.RUNNING, TurnEvent.FINISH): TurnState.FINISHED,
    (TurnState.RUNNING, TurnEvent.FAIL): TurnState.FAILED,
    (TurnState.RUNNING, TurnEvent.RECLAIM): TurnState.READY,
    (TurnState.RUNNING, TurnEvent.GIVE_BACK): TurnState.READY,
    (TurnState.QUEUED, TurnEvent.STOP): TurnState.STOPPED,
    (TurnState.RUNNING, TurnEvent.STOP): TurnState.STOPPED,
    (TurnState.WAITING, TurnEvent.STOP): TurnState.STOPPED,
    (TurnState.READY, TurnEvent.STOP): TurnState.STOPPED,
    (TurnState.READY, TurnEvent.FAIL): TurnState.FAILED,
}

ACTIVE = frozenset({TurnState.RUNNING, TurnState.WAITING, TurnState.READY})
OPEN = ACTIVE | {TurnState.QUEUED}


def advance(state: TurnState, event: TurnEvent) -> TurnState:
    """The state after `event`.

    Raises:
        IllegalTransition: The table has no such step.
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        message = f"a turn that is {state} cannot {event}"
        raise IllegalTransition(message) from None


def sources(event: TurnEvent) -> list[TurnState]:
    """The states from which `event` is legal: the guard of a conditional update."""
    return [before for (before, happening) in TRANSITIONS if happening is event]
