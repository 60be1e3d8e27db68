"""The life of a turn, as a table. Pure.

A turn that waits for a person holds nothing: `waiting` is a row. `ready` has its answers and waits
for a worker, like `queued`.
"""

from enum import StrEnum

from delivery.tables import Table


class TurnState(StrEnum):
    """Where a turn stands."""

    QUEUED = "queued"  # accepted, not begun
    RUNNING = "running"  # a worker holds its lease
    WAITING = "waiting"  # for a person
    READY = "ready"  # has its answers, to be gone on with
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"
    JOINED = "joined"  # the turn that ran took it in


class FailureKind(StrEnum):
    """Why a turn failed."""

    MODEL_UNREACHABLE = "model_unreachable"  # nobody answered, or the server is in trouble
    MODEL_REFUSED = "model_refused"  # it answered, and will not do this
    RATE_LIMITED = "rate_limited"  # it asks us to wait
    LIMIT = "limit"  # a bound of ours or of the model: time, calls, length
    INTERNAL = "internal"  # ours to mend
    WORKER_DIED = "worker_died"  # more often than it is tried again

    @property
    def is_models(self) -> bool:
        """Whether the model, or what it may use up, is the reason."""
        return self not in {FailureKind.INTERNAL, FailureKind.WORKER_DIED}


class TurnEvent(StrEnum):
    """What happens to a turn."""

    CLAIM = "claim"
    ASK = "ask"
    ANSWER = "answer"
    FINISH = "finish"
    FAIL = "fail"
    STOP = "stop"
    JOIN = "join"  # the turn that runs takes it in
    RECLAIM = "reclaim"  # its worker is gone
    GIVE_BACK = "give_back"  # its worker lays it down, alive


TURNS: Table[TurnState, TurnEvent] = Table(
    thing="a turn",
    steps={
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
        (TurnState.QUEUED, TurnEvent.JOIN): TurnState.JOINED,
    },
)

ACTIVE = frozenset({TurnState.RUNNING, TurnState.WAITING, TurnState.READY})
OPEN = ACTIVE | {TurnState.QUEUED}
