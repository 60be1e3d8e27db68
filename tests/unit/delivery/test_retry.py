"""What is decided after a try that did not end in a receipt."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.errors import (
    AnchorGone,
    AuthenticationRefused,
    DestinationGone,
    DestinationMoved,
    FormattingRefused,
    MessageGone,
    NetworkDown,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ThreadGone,
    TooOld,
    TransportError,
    Unsupported,
)
from delivery.retry import FIRST_WAIT, LONGEST_WAIT, MOST_EDITS, Decision, Step, back_off, decide

FALLBACKS = [
    (FormattingRefused(), Step.PLAIN),
    (AnchorGone(), Step.NO_ANCHOR),
    (ThreadGone(), Step.PARENT),
    (DestinationMoved(new_chat_id="-100"), Step.MOVED),
    (MessageGone(), Step.FRESH),
]
EVERY_ERROR = [
    *[error for error, _ in FALLBACKS],
    *[RateLimited(retry_after=3), AuthenticationRefused(), NetworkDown(), NotSent()],
    *[OutcomeUnknown(), DestinationGone(), TooOld(), Unsupported(), Refused(), TransportError()],
]


def decision_on(error: TransportError, **changes) -> Decision:
    facts = {
        "attempt": 1,
        "recoveries_left": 3,
        "tried": frozenset(),
        "chance": 0.0,
        "is_edit": False,
    }
    return decide(error, **(facts | changes))


@given(attempt=st.integers(1, 10**6), chance=st.floats(0, 1, exclude_max=True))
def test_the_wait_never_leaves_its_bounds(attempt: int, chance: float) -> None:
    wait = back_off(attempt, chance).total_seconds()
    assert FIRST_WAIT / 2 <= wait <= LONGEST_WAIT


def test_the_wait_doubles_until_it_is_long_enough() -> None:
    waits = [back_off(attempt, 0.0).total_seconds() for attempt in range(1, 8)]
    assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 7.5, 7.5]


def test_many_who_wait_do_not_all_return_at_once() -> None:
    assert back_off(3, 0.0) < back_off(3, 0.5) < back_off(3, 0.99)


def test_a_rate_limit_is_waited_for_as_long_as_the_platform_asks() -> None:
    decision = decision_on(RateLimited(retry_after=7))
    assert decision == Decision(Step.LATER, timedelta(seconds=7))


@pytest.mark.parametrize("retry_after", [0, -3, 3600])
def test_a_rate_limit_never_gives_a_message_up(retry_after: float) -> None:
    decision = decision_on(RateLimited(retry_after=retry_after), attempt=10_000, recoveries_left=0)
    assert decision.step is Step.LATER
    assert decision.delay >= timedelta(0)


def test_a_refused_credential_stops_the_account_and_loses_nothing() -> None:
    decision = decision_on(AuthenticationRefused(), attempt=1000)
    assert decision.step is Step.LATER
    assert decision.stops_account


@pytest.mark.proves("D11")
@pytest.mark.parametrize("error", [NetworkDown(), NotSent()])
def test_what_certainly_did_not_arrive_is_tried_again_for_ever(error: TransportError) -> None:
    assert decision_on(error, attempt=10_000, recoveries_left=0).step is Step.LATER


def test_what_may_have_arrived_is_sent_again_by_the_rules_for_it() -> None:
    assert decision_on(OutcomeUnknown(), recoveries_left=1).step is Step.MARKED


def test_the_few_copies_that_may_be_sent_outlast_a_dozen_seconds() -> None:
    waits = [decision_on(OutcomeUnknown(), recoveries_left=left).delay for left in (3, 2, 1)]
    assert waits == sorted(waits)
    assert sum(waits, timedelta()) > timedelta(seconds=12)
    assert max(waits) < timedelta(seconds=LONGEST_WAIT)


@pytest.mark.proves("D5")
def test_what_does_no_harm_twice_is_sent_again_for_as_long_as_it_takes() -> None:
    decision = decision_on(OutcomeUnknown(), recoveries_left=-9, attempt=10_000, is_harmless=True)
    assert decision.step is Step.MARKED


def test_what_may_have_arrived_is_not_sent_again_without_end() -> None:
    decision = decision_on(OutcomeUnknown(), recoveries_left=0)
    assert decision.step is Step.LEAVE
    assert decision.reason == "its fate stayed unknown too often"


@pytest.mark.parametrize(("error", "step"), FALLBACKS)
def test_a_refusal_that_another_shape_mends_is_tried_so_at_once(error, step) -> None:
    assert decision_on(error) == Decision(step)


@pytest.mark.parametrize(("error", "step"), FALLBACKS)
def test_no_fallback_is_taken_twice(error, step) -> None:
    assert decision_on(error, tried=frozenset({step})).step is Step.ABANDON


@pytest.mark.parametrize("error", [OutcomeUnknown("timeout"), NetworkDown("bad request")])
def test_no_format_is_dropped_for_a_timeout(error: TransportError) -> None:
    assert decision_on(error).step not in {Step.PLAIN, Step.NO_ANCHOR, Step.PARENT}


def test_a_closed_chat_ends_the_message_and_marks_the_chat() -> None:
    decision = decision_on(DestinationGone("the person blocked the bot"))
    assert decision.step is Step.ABANDON
    assert decision.kills_destination
    assert decision.reason == "the person blocked the bot"


@pytest.mark.parametrize("error", [Refused(), TooOld(), Unsupported()])
def test_a_refused_new_message_is_given_up_with_a_reason(error: TransportError) -> None:
    decision = decision_on(error)
    assert decision.step is Step.ABANDON
    assert decision.reason
    assert not decision.kills_destination


@pytest.mark.parametrize("error", [Refused(), TooOld(), Unsupported(), MessageGone()])
def test_a_refused_edit_becomes_a_new_message(error: TransportError) -> None:
    assert decision_on(error, is_edit=True).step is Step.FRESH


@pytest.mark.parametrize("error", [Refused(), TooOld(), Unsupported(), MessageGone()])
def test_an_edit_that_may_not_become_a_new_message_is_given_up(error: TransportError) -> None:
    assert decision_on(error, is_edit=True, tried=frozenset({Step.FRESH})).step is Step.ABANDON


def test_an_edit_in_a_closed_chat_is_given_up() -> None:
    assert decision_on(DestinationGone(), is_edit=True).step is Step.ABANDON


def test_an_edit_whose_formatting_is_refused_is_still_an_edit() -> None:
    assert decision_on(FormattingRefused(), is_edit=True).step is Step.PLAIN


def test_an_edit_that_may_have_worked_is_tried_again() -> None:
    decision = decision_on(
        OutcomeUnknown(), recoveries_left=0, attempt=MOST_EDITS - 1, is_edit=True
    )
    assert decision.step is Step.MARKED


def test_an_edit_whose_fate_stays_unknown_becomes_a_new_message() -> None:
    decision = decision_on(OutcomeUnknown(), attempt=MOST_EDITS, is_edit=True)
    assert decision.step is Step.FRESH


def test_a_closing_edit_whose_fate_stays_unknown_is_not_worth_a_message() -> None:
    tried = frozenset({Step.FRESH})
    decision = decision_on(OutcomeUnknown(), attempt=99, is_edit=True, tried=tried)
    assert decision.step is Step.MARKED


@given(
    error=st.sampled_from(EVERY_ERROR),
    tried=st.frozensets(st.sampled_from(Step)),
    attempt=st.integers(1, 10**9),
    recoveries_left=st.integers(-3, 10**9),
    chance=st.floats(0, 1, exclude_max=True),
    is_edit=st.booleans(),
    is_harmless=st.booleans(),
)
def test_every_error_has_its_answer(error, tried, **facts) -> None:
    decision = decision_on(error, tried=tried, **facts)
    assert decision.step not in tried - {Step.LATER, Step.MARKED, Step.ABANDON}
    assert bool(decision.reason) == (decision.step is Step.ABANDON)
