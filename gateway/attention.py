"""When people see that an answer to them is being made ([D12]). Pure.

A notice says that somebody is at work. Nobody is while the agent waits for a person, and what that
person says meanwhile waits with it: for half an hour, if need be, in which nothing is typed.
"""

from datetime import timedelta

from gateway.states import TurnState

PROMPTLY = timedelta(seconds=2)  # longer than it takes a worker to begin a turn that nothing delays


def is_typed_for(turn: TurnState, active: TurnState | None) -> bool:
    """Whether somebody is at work on the answer to a turn, or on what comes before it.

    Args:
        turn: The state of the turn.
        active: That of the turn which its conversation is in the middle of, maybe the same one;
            None if it is in the middle of none.
    """
    if turn is TurnState.QUEUED:
        return active is not TurnState.WAITING
    return turn in {TurnState.READY, TurnState.RUNNING}


def is_told_of(turn: TurnState, waited: timedelta) -> bool:
    """Whether a worker that takes up a turn says so, for the notice to begin (again).

    Args:
        turn: The state that it was in.
        waited: How long ago its message came.
    """
    return turn is not TurnState.QUEUED or waited > PROMPTLY
