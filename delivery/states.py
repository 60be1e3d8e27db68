"""The life of an owed message and of each of its parts, as tables. Pure.

An obligation is owed until it is delivered or abandoned. A part is one platform message of it.
`LOST` is the honest state: it was sent and no answer came, so it may have arrived.
"""

from enum import StrEnum

from delivery.errors import IllegalTransition


class State(StrEnum):
    """Where an obligation stands."""

    PENDING = "pending"  # recorded, never tried
    ATTEMPTING = "attempting"  # a process is sending it, or died doing so
    FAILED = "failed"  # a try did not end well; another is due at next_attempt_at
    DELIVERED = "delivered"  # every part has the platform's message id
    ABANDONED = "abandoned"  # given up, with a reason staff can read


class Event(StrEnum):
    """What happens to an obligation."""

    CLAIM = "claim"
    ACCEPT = "accept"
    POSTPONE = "postpone"
    ABANDON = "abandon"
    REVIVE = "revive"  # staff asked for another round


TRANSITIONS: dict[tuple[State, Event], State] = {
    (State.PENDING, Event.CLAIM): State.ATTEMPTING,
    (State.FAILED, Event.CLAIM): State.ATTEMPTING,
    (
        State.ATTEMPTING,
        Event.CLAIM,
    ): State.ATTEMPTING,  # only a newer owner may: its epoch is higher
    (State.ATTEMPTING, Event.ACCEPT): State.DELIVERED,
    (State.ATTEMPTING, Event.POSTPONE): State.FAILED,
    (State.PENDING, Event.ABANDON): State.ABANDONED,
    (State.FAILED, Event.ABANDON): State.ABANDONED,
    (State.ATTEMPTING, Event.ABANDON): State.ABANDONED,
    (State.ABANDONED, Event.REVIVE): State.FAILED,
    (State.FAILED, Event.ACCEPT): State.DELIVERED,  # staff saw it arrive
    (State.PENDING, Event.ACCEPT): State.DELIVERED,
    (State.ABANDONED, Event.ACCEPT): State.DELIVERED,
}


class PartState(StrEnum):
    """Where one platform message stands."""

    PENDING = "pending"
    ATTEMPTING = "attempting"
    LOST = "lost"  # sent, no answer: it may have arrived
    FAILED = "failed"  # certainly not accepted; may be tried again
    DELIVERED = "delivered"


class PartEvent(StrEnum):
    """What happens to one platform message."""

    BEGIN = "begin"
    ACCEPT = "accept"
    LOSE = "lose"
    REFUSE = "refuse"


PART_TRANSITIONS: dict[tuple[PartState, PartEvent], PartState] = {
    (PartState.PENDING, PartEvent.BEGIN): PartState.ATTEMPTING,
    (PartState.FAILED, PartEvent.BEGIN): PartState.ATTEMPTING,
    (PartState.LOST, PartEvent.BEGIN): PartState.ATTEMPTING,
    (PartState.ATTEMPTING, PartEvent.ACCEPT): PartState.DELIVERED,
    (PartState.ATTEMPTING, PartEvent.LOSE): PartState.LOST,
    (PartState.ATTEMPTING, PartEvent.REFUSE): PartState.FAILED,
}

OPEN = frozenset({State.PENDING, State.ATTEMPTING, State.FAILED})
SETTLED = frozenset(State) - OPEN


def advance(state: State, event: Event) -> State:
    """The state after `event`.

    Raises:
        IllegalTransition: The table has no such step.
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        message = f"an obligation that is {state} cannot {event}"
        raise IllegalTransition(message) from None


def advance_part(state: PartState, event: PartEvent) -> PartState:
    """The part's state after `event`.

    Raises:
        IllegalTransition: The table has no such step.
    """
    try:
        return PART_TRANSITIONS[state, event]
    except KeyError:
        message = f"a part that is {state} cannot {event}"
        raise IllegalTransition(message) from None


def sources(event: Event) -> list[State]:
    """The states from which `event` is legal: the guard of a conditional update."""
    return [before for (before, happening) in TRANSITIONS if happening is event]
