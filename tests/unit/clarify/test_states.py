"""The life of a prompt, and what its tool call returns at the end of it."""

from itertools import product

import pytest

from clarify.states import PROMPTS, Event, State
from delivery.errors import IllegalTransition

CLOSED = frozenset(State) - {State.PENDING}


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
    assert state is PROMPTS.advance(State.PENDING, event)


@pytest.mark.proves("Q1")
@pytest.mark.parametrize(("state", "event"), list(product(sorted(CLOSED), Event)))
def test_a_closed_prompt_never_changes_again(state: State, event: Event) -> None:
    with pytest.raises(IllegalTransition):
        PROMPTS.advance(state, event)


def test_every_event_has_a_step_and_every_closed_state_is_reached() -> None:
    assert set(Event) == {event for _, event in PROMPTS.steps}
    assert set(PROMPTS.steps.values()) == CLOSED


@pytest.mark.parametrize("event", Event)
def test_what_closes_a_prompt_closes_an_open_one_and_leads_to_one_state(event: Event) -> None:
    assert PROMPTS.sources(event) == [State.PENDING]
    assert PROMPTS.target(event) in CLOSED
