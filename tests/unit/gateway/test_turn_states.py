"""The table of turns says something about every pair."""

from itertools import product

import pytest

from delivery.errors import IllegalTransition
from gateway.states import ACTIVE, OPEN, TURNS, TurnEvent, TurnState

CLOSED = set(TurnState) - OPEN


@pytest.mark.parametrize(("state", "event"), list(product(TurnState, TurnEvent)))
def test_every_pair_is_in_the_table_or_illegal(state: TurnState, event: TurnEvent) -> None:
    if (state, event) in TURNS.steps:
        assert TURNS.advance(state, event) is TURNS.steps[state, event]
    else:
        with pytest.raises(IllegalTransition, match=f"{state} cannot {event}"):
            TURNS.advance(state, event)


@pytest.mark.parametrize(("state", "event"), list(product(sorted(CLOSED), TurnEvent)))
def test_a_turn_that_has_ended_never_goes_on(state: TurnState, event: TurnEvent) -> None:
    with pytest.raises(IllegalTransition):
        TURNS.advance(state, event)


def test_whatever_is_open_can_be_stopped() -> None:
    assert set(TURNS.sources(TurnEvent.STOP)) == OPEN


def test_only_a_queued_or_ready_turn_is_claimed() -> None:
    assert set(TURNS.sources(TurnEvent.CLAIM)) == {TurnState.QUEUED, TurnState.READY}


def test_a_turn_that_was_begun_and_not_ended_is_active() -> None:
    assert {TurnState.QUEUED} == OPEN - ACTIVE


def test_every_event_happens_somewhere_and_every_state_is_reached() -> None:
    assert {event for _, event in TURNS.steps} == set(TurnEvent)
    assert set(TURNS.steps.values()) == set(TurnState) - {TurnState.QUEUED}


@pytest.mark.parametrize("event", TurnEvent)
def test_every_event_leads_to_one_state(event: TurnEvent) -> None:
    assert TURNS.target(event) in set(TurnState)
