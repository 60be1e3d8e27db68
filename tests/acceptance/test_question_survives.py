"""A question outlives every process: after a power cut it is answered, and the same run goes on."""

import pytest

from tests.acceptance.books import Books
from tests.acceptance.people import Person

pytestmark = pytest.mark.acceptance
ANSWERS = {"presser": "Left", "typer": "Right", "speaker": "rather backwards"}


@pytest.fixture(scope="module")
def people(stack, telegram):
    """Four people who were asked before the power cut; all but one have answered after it."""
    books = Books(stack)
    asked = {name: Person(telegram) for name in (*ANSWERS, "sleeper")}
    for name, person in asked.items():
        person.says("ask3" if name == "sleeper" else f"ask: Which way, {name}? | Left | Right")
    shown = {name: asked[name].sees("Which") for name in ANSWERS}
    asked["sleeper"].sees("Where should it run?")
    books.wait_until_settled(telegram)

    stack.kill9_all()
    books.change(
        "UPDATE clarify_prompt SET expires_at = created_at WHERE asker_id = ?",
        str(asked["sleeper"].id),
    )
    stack.start()
    asked["presser"].presses(shown["presser"], "Left")
    asked["typer"].says("2")
    asked["speaker"].says("rather backwards")
    for name in ANSWERS:
        asked[name].sees("Result:")
    books.wait_until_settled(telegram)
    return asked


@pytest.mark.proves("Q2")
@pytest.mark.parametrize("name", ANSWERS)
def test_button_number_and_own_words_still_answer_it(people, name):
    [result] = [text for text in people[name].texts if text.startswith("Result:")]

    assert f'"user_response":"{ANSWERS[name]}"' in result.replace('": "', '":"')


@pytest.mark.proves("Q0")
@pytest.mark.parametrize("name", ANSWERS)
def test_the_very_run_that_asked_goes_on_once(people, books, model, name):
    turns = books.rows(
        "SELECT state, deaths, segment FROM gateway_turn WHERE sender_id = ?", str(people[name].id)
    )
    asked = [call for call in model.requests if f"Which way, {name}?" in str(call.body)]

    assert turns == [("finished", 0, 1)]
    assert [len(call.tool_results) for call in asked] == [0, 1]


@pytest.mark.parametrize("name", ANSWERS)
def test_its_message_is_closed_and_not_shown_again(people, name):
    messages = people[name].seen

    assert [message.text for message in messages if message.buttons] == []
    assert len([message for message in messages if message.text.startswith("Which way")]) == 1


@pytest.mark.proves("Q2")
def test_a_deadline_that_passed_meanwhile_holds(people):
    assert "no_answer" in people["sleeper"].sees("Result:").text
