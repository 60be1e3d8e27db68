"""The tables of obligations and parts say something about every pair."""

from itertools import product

import pytest

from delivery.errors import DeliveryError, IllegalTransition
from delivery.states import (
    OBLIGATIONS,
    OPEN,
    PARTS,
    WAITING,
    Event,
    PartEvent,
    PartState,
    State,
)

PAIRS = list(product(State, Event))
SETTLED = frozenset({State.DELIVERED, State.ABANDONED})
PART_PAIRS = list(product(PartState, PartEvent))


@pytest.mark.parametrize(("state", "event"), PAIRS)
def test_every_pair_is_in_the_table_or_illegal(state: State, event: Event) -> None:
    if (state, event) in OBLIGATIONS.steps:
        assert OBLIGATIONS.advance(state, event) is OBLIGATIONS.steps[state, event]
    else:
        with pytest.raises(IllegalTransition, match=f"an obligation that is {state} cannot"):
            OBLIGATIONS.advance(state, event)


@pytest.mark.parametrize(("state", "event"), PART_PAIRS)
def test_every_pair_of_a_part_is_in_the_table_or_illegal(state, event) -> None:
    if (state, event) in PARTS.steps:
        assert PARTS.advance(state, event) is PARTS.steps[state, event]
    else:
        with pytest.raises(IllegalTransition, match=f"a part that is {state} cannot {event}"):
            PARTS.advance(state, event)


@pytest.mark.proves("D1")
@pytest.mark.parametrize("event", Event)
def test_what_is_delivered_stays_delivered(event: Event) -> None:
    assert State.DELIVERED not in OBLIGATIONS.sources(event)


@pytest.mark.parametrize("event", PartEvent)
def test_a_delivered_part_is_never_touched_again(event: PartEvent) -> None:
    assert PartState.DELIVERED not in PARTS.sources(event)


def test_what_was_given_up_is_never_claimed_again_by_itself() -> None:
    by_staff = {Event.RETRY, Event.CONFIRM}
    assert {event for state, event in OBLIGATIONS.steps if state is State.ABANDONED} == by_staff


@pytest.mark.parametrize("event", [Event.WITHDRAW, Event.RETRY, Event.CONFIRM])
def test_nobody_but_its_sender_moves_what_is_being_sent(event: Event) -> None:
    assert State.ATTEMPTING not in OBLIGATIONS.sources(event)


@pytest.mark.parametrize("event", [Event.ACCEPT, Event.POSTPONE, Event.ABANDON])
def test_its_sender_moves_only_what_is_being_sent(event: Event) -> None:
    assert OBLIGATIONS.sources(event) == [State.ATTEMPTING]


def test_every_state_is_either_open_or_settled() -> None:
    assert set(State) == OPEN | SETTLED
    assert not OPEN & SETTLED
    assert {State.ATTEMPTING} == OPEN - WAITING


def test_every_open_state_can_still_end_either_way() -> None:
    for state in OPEN:
        ends = {after for (before, _), after in OBLIGATIONS.steps.items() if before is state}
        assert ends >= SETTLED


def test_every_event_happens_somewhere_and_every_state_is_reached() -> None:
    assert {event for _, event in OBLIGATIONS.steps} == set(Event)
    assert set(OBLIGATIONS.steps.values()) == set(State)
    assert {event for _, event in PARTS.steps} == set(PartEvent)
    assert set(PARTS.steps.values()) == set(PartState) - {PartState.PENDING}


def test_every_event_leads_to_one_state() -> None:
    assert {OBLIGATIONS.target(event) for event in Event} == set(State)
    assert {PARTS.target(event) for event in PartEvent} < set(PartState)


def test_an_illegal_step_is_one_of_our_errors() -> None:
    assert issubclass(IllegalTransition, DeliveryError)
