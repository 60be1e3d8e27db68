"""What the model gets back."""

import pytest

from clarify.results import duration, tool_result
from clarify.schema import QuestionSet, normalise_clarify
from clarify.states import State
from tests.unit.clarify.corpus import CHECKS, make_question

ENDINGS = [
    (State.SKIPPED, "skipped"),
    (State.EXPIRED, "expired"),
    (State.CANCELLED, "cancelled"),
    (State.UNDELIVERABLE, "delivery_failed"),
]
BOTH = QuestionSet((make_question("dev", "prod", key="env"), CHECKS), 900)


@pytest.mark.proves("Q7")
def test_an_answered_clarify_gives_the_question_and_the_words() -> None:
    asked = normalise_clarify("Which?", ["a", "b"])
    expected = {"question": "Which?", "choices_offered": ["a", "b"], "user_response": "b"}

    assert expected == tool_result("clarify", asked, {"answer": ("b",)}, State.ANSWERED)


def test_an_open_clarify_offered_no_choices() -> None:
    result = tool_result("clarify", normalise_clarify("Who?"), {"answer": ("me",)}, State.ANSWERED)

    assert result["choices_offered"] is None


@pytest.mark.proves("Q7")
def test_an_expired_clarify_says_how_long_it_waited() -> None:
    result = tool_result("clarify", normalise_clarify("Which?", ["a"]), {}, State.EXPIRED)

    assert result["user_response"] == "[user did not respond within 10m]"


@pytest.mark.parametrize(("state", "reason"), ENDINGS)
def test_no_ending_of_a_clarify_looks_like_an_answer_or_like_another(
    state: State, reason: str
) -> None:
    asked = normalise_clarify("Which?", ["a"])
    responses = [tool_result("clarify", asked, {}, each)["user_response"] for each, _ in ENDINGS]

    assert all(response.startswith("[") for response in responses)
    assert len(ENDINGS) == len(set(responses))


@pytest.mark.proves("Q10")
def test_an_answered_ask_user_gives_an_array_for_every_question() -> None:
    answers = {"answer": (), "env": ("prod",)}
    expected = {"status": "answered", "answers": {"answers": {"env": ["prod"], "answer": []}}}

    assert expected == tool_result("ask_user", BOTH, answers, State.ANSWERED)


@pytest.mark.proves("Q10")
@pytest.mark.parametrize(("state", "reason"), ENDINGS)
def test_an_unanswered_ask_user_says_why(state: State, reason: str) -> None:
    assert {"status": "no_answer", "reason": reason} == tool_result("ask_user", BOTH, {}, state)


def test_partial_answers_are_passed_on() -> None:
    result = tool_result("ask_user", BOTH, {"env": ("dev",)}, State.EXPIRED)

    assert result["status"] == "no_answer"
    assert result["answers"] == {"answers": {"env": ["dev"]}}


def test_a_superseded_prompt_says_so() -> None:
    result = tool_result("ask_user", BOTH, {}, State.CANCELLED, reason="superseded")

    assert result["reason"] == "superseded"


def test_a_note_for_staff_does_not_reach_the_model() -> None:
    result = tool_result("ask_user", BOTH, {}, State.CANCELLED, reason="/stop by Ann")

    assert result["reason"] == "cancelled"


@pytest.mark.parametrize(
    ("seconds", "words"), [(600, "10m"), (90, "1m30s"), (3600, "1h"), (30, "30s"), (0, "0s")]
)
def test_a_duration_is_said_in_its_largest_units(seconds: int, words: str) -> None:
    assert words == duration(seconds)
