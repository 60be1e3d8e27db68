"""The life of a prompt, and what its tool call returns at the end of it."""

from itertools import product

import pytest

from clarify.errors import ClarifyError, IllegalTransition
from clarify.states import CLOSED, OPEN, TRANSITIONS, Event, State, advance


def test_only_a_pending_prompt_is_open() -> None:
    assert {State.PENDING} == OPEN
    assert set(State) == OPEN | CLOSED
    assert not OPEN & CLOSED


@pytest.mark.parametrize(
    ("event", "state"),
    [
        (Event.ANSWER, State.ANSWERED),
        (Event.SKIP, State.SKIPPED),
        (Event.EXPIRE, State.EXPIRED),
        (Event.CANCEL, State.CANCELLED),
        (Event.FAIL_DELIVERY, State.UNDELIVERABLE),
    ],
)
def test_each_event_closes_a_pending_prompt_in_its_own_way(event: Event, state: State) -> None:
    assert state is advance(State.PENDING, event)


@pytest.mark.parametrize(("state", "event"), list(product(sorted(CLOSED), Event)))
def test_a_closed_prompt_never_changes_again(state: State, event: Event) -> None:
    with pytest.raises(IllegalTransition):
        advance(state, event)


def test_every_event_has_a_step_and_every_closed_state_is_reached() -> None:
    assert set(Event) == {event for _, event in TRANSITIONS}
    assert set(TRANSITIONS.values()) == CLOSED


def test_an_illegal_step_is_one_of_our_errors() -> None:
    assert issubclass(IllegalTransition, ClarifyError)
