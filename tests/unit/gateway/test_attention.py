"""When people see that somebody is at work on an answer to them."""

from datetime import timedelta

import pytest

from gateway.attention import PROMPTLY, is_told_of, is_typed_for
from gateway.states import ACTIVE, OPEN, TurnState

pytestmark = pytest.mark.proves("D12")
NONE_ACTIVE = None


@pytest.mark.parametrize(
    ("turn", "active", "shown"),
    [
        (TurnState.QUEUED, NONE_ACTIVE, True),
        (TurnState.QUEUED, TurnState.RUNNING, True),
        (TurnState.QUEUED, TurnState.READY, True),
        (TurnState.QUEUED, TurnState.WAITING, False),
        (TurnState.RUNNING, TurnState.RUNNING, True),
        (TurnState.READY, TurnState.READY, True),
        (TurnState.WAITING, TurnState.WAITING, False),
    ],
)
def test_it_is_typed_while_somebody_is_at_work_and_not_while_a_person_is_waited_for(
    turn, active, shown
) -> None:
    assert is_typed_for(turn, active) is shown


@pytest.mark.parametrize("turn", sorted(set(TurnState) - OPEN))
@pytest.mark.parametrize("active", [NONE_ACTIVE, *sorted(ACTIVE)])
def test_nothing_is_typed_for_what_is_over(turn, active) -> None:
    assert not is_typed_for(turn, active)


def test_a_turn_that_waited_is_told_of_when_it_is_taken_up() -> None:
    assert is_told_of(TurnState.QUEUED, PROMPTLY * 2)
    assert is_told_of(TurnState.READY, timedelta(0))


def test_a_turn_that_is_taken_up_at_once_is_not_told_of() -> None:
    assert not is_told_of(TurnState.QUEUED, timedelta(milliseconds=40))
