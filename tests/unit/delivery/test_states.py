"""The tables of obligations and parts say something about every pair."""

from itertools import product

import pytest

from delivery.errors import DeliveryError, IllegalTransition
from delivery.states import (
    OPEN,
    PART_TRANSITIONS,
    SETTLED,
    TRANSITIONS,
    Event,
    PartEvent,
    PartState,
    State,
    advance,
    advance_part,
    sources,
)

PAIRS = list(product(State, Event))
PART_PAIRS = list(product(PartState, PartEvent))


@pytest.mark.parametrize(("state", "event"), PAIRS)
def test_every_pair_is_in_the_table_or_illegal(state: State, event: Event) -> None:
    if (state, event) in TRANSITIONS:
        assert advance(state, event) is TRANSITIONS[state, event]
    else:
        with pytest.raises(IllegalTransition, match=f"{state} cannot {event}"):
            advance(state, event)


@pytest.mark.parametrize(("state", "event"), PART_PAIRS)
def test_every_pair_of_a_part_is_in_the_table_or_illegal(state, event) -> None:
    if (state, event) in PART_TRANSITIONS:
        assert advance_part(state, event) is PART_TRANSITIONS[state, event]
    else:
        with pytest.raises(IllegalTransition, match=f"{state} cannot {event}"):
            advance_part(state, event)


@pytest.mark.parametrize("event", Event)
def test_what_is_delivered_stays_delivered(event: Event) -> None:
    with pytest.raises(IllegalTransition):
        advance(State.DELIVERED, event)


@pytest.mark.parametrize("event", PartEvent)
def test_a_delivered_part_is_never_touched_again(event: PartEvent) -> None:
    with pytest.raises(IllegalTransition):
        advance_part(PartState.DELIVERED, event)


def test_what_was_given_up_is_never_claimed_again_by_itself() -> None:
    by_staff = {Event.REVIVE, Event.ACCEPT}
    assert {event for state, event in TRANSITIONS if state is State.ABANDONED} == by_staff


def test_every_state_is_either_open_or_settled() -> None:
    assert set(State) == OPEN | SETTLED
    assert not OPEN & SETTLED
    assert {State.DELIVERED, State.ABANDONED} == SETTLED


def test_every_open_state_can_still_end_either_way() -> None:
    for state in OPEN:
        assert (state, Event.ACCEPT) in TRANSITIONS
        assert (state, Event.ABANDON) in TRANSITIONS


def test_every_event_happens_somewhere_and_every_state_is_reached() -> None:
    assert {event for _, event in TRANSITIONS} == set(Event)
    assert set(TRANSITIONS.values()) == set(State) - {State.PENDING}
    assert {event for _, event in PART_TRANSITIONS} == set(PartEvent)
    assert set(PART_TRANSITIONS.values()) == set(PartState) - {PartState.PENDING}


@pytest.mark.parametrize("event", Event)
def test_the_sources_of_an_event_are_the_states_it_applies_to(event: Event) -> None:
    assert set(sources(event)) == {state for state in State if (state, event) in TRANSITIONS}


def test_an_illegal_step_is_one_of_our_errors() -> None:
    assert issubclass(IllegalTransition, DeliveryError)
