"""The life of an owed message and of each of its parts, as tables. Pure.

An obligation is owed until it is delivered or abandoned. A part is one platform message of it.
`LOST` is the honest state: it was sent and no answer came, so it may have arrived.
"""

from enum import StrEnum

from delivery.tables import Table


class State(StrEnum):
    """Where an obligation stands."""

    PENDING = "pending"  # recorded, and nothing of it is under way
    ATTEMPTING = "attempting"  # a process is sending it, or died doing so
    FAILED = "failed"  # a try did not end well; another is due at next_attempt_at
    DELIVERED = "delivered"  # every part has the platform's message id
    ABANDONED = "abandoned"  # given up, with a reason staff can read


class Event(StrEnum):
    """What happens to an obligation."""

    CLAIM = "claim"  # a process takes it; one under way only from an owner with a lower epoch
    ACCEPT = "accept"  # the platform took its last part
    POSTPONE = "postpone"  # no receipt came; it is tried again later
    PAUSE = "pause"  # a part arrived, and the next one must wait for the platform's limits
    ABANDON = "abandon"  # a try ended for good, or its fate stayed unknown too often
    WITHDRAW = "withdraw"  # it is owed no more, or for too long, and nobody is sending it
    RETRY = "retry"  # staff asked for another round, or for one at once
    CONFIRM = "confirm"  # staff saw it arrive


OBLIGATIONS: Table[State, Event] = Table(
    thing="an obligation",
    steps={
        (State.PENDING, Event.CLAIM): State.ATTEMPTING,
        (State.FAILED, Event.CLAIM): State.ATTEMPTING,
        (State.ATTEMPTING, Event.CLAIM): State.ATTEMPTING,
        (State.ATTEMPTING, Event.ACCEPT): State.DELIVERED,
        (State.ATTEMPTING, Event.POSTPONE): State.FAILED,
        (State.ATTEMPTING, Event.PAUSE): State.PENDING,
        (State.ATTEMPTING, Event.ABANDON): State.ABANDONED,
        (State.PENDING, Event.WITHDRAW): State.ABANDONED,
        (State.FAILED, Event.WITHDRAW): State.ABANDONED,
        (State.FAILED, Event.RETRY): State.FAILED,
        (State.ABANDONED, Event.RETRY): State.FAILED,
        (State.PENDING, Event.CONFIRM): State.DELIVERED,
        (State.FAILED, Event.CONFIRM): State.DELIVERED,
        (State.ABANDONED, Event.CONFIRM): State.DELIVERED,
    },
)


class PartState(StrEnum):
    """Where one platform message stands."""

    PENDING = "pending"
    ATTEMPTING = "attempting"
    LOST = "lost"  # sent, no answer: it may have arrived
    FAILED = "failed"  # certainly not accepted; may be tried again
    DELIVERED = "delivered"


class PartEvent(StrEnum):
    """What happens to one platform message."""

    BEGIN = "begin"  # it is about to be sent
    ACCEPT = "accept"  # the platform took it and named it
    LOSE = "lose"  # no answer came
    REFUSE = "refuse"  # certainly not taken


PARTS: Table[PartState, PartEvent] = Table(
    thing="a part",
    steps={
        (PartState.PENDING, PartEvent.BEGIN): PartState.ATTEMPTING,
        (PartState.FAILED, PartEvent.BEGIN): PartState.ATTEMPTING,
        (PartState.LOST, PartEvent.BEGIN): PartState.ATTEMPTING,
        (PartState.ATTEMPTING, PartEvent.ACCEPT): PartState.DELIVERED,
        (PartState.ATTEMPTING, PartEvent.LOSE): PartState.LOST,
        (PartState.ATTEMPTING, PartEvent.REFUSE): PartState.FAILED,
    },
)

# Of a part: it may have reached the platform.
MAYBE_SEEN = frozenset({PartState.ATTEMPTING, PartState.LOST, PartState.DELIVERED})
WAITING = frozenset({State.PENDING, State.FAILED})  # owed, and nobody is sending it
OPEN = WAITING | {State.ATTEMPTING}
