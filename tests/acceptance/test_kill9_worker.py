"""The worker dies in the middle of turns: nobody loses an answer, and nothing is done twice."""

from dataclasses import replace

import pytest

from tests.acceptance.doom import FATAL, Doom
from tests.acceptance.people import MARKER
from tests.peers.model import Gate, Reply, by_keyword
from tests.peers.model.replies import last_user_text, tool_results

pytestmark = pytest.mark.acceptance
RESUMED = "The work was interrupted and goes on now."


@pytest.fixture(scope="module")
def environment():
    return FATAL


@pytest.fixture(scope="module")
def arguments():
    """Two workers: what dies often is started again ever more slowly, and the other goes on."""
    return ("--workers", "2")


@pytest.mark.usefixtures("time")
def test_turns_under_way_go_on_after_the_death_of_every_worker(
    stack, telegram, model, books, somebody
):
    gate = Gate()

    def held(request):
        """The model goes silent: in the middle of its answer, and once it has a tool's result."""
        if last_user_text(request).startswith("stream"):
            return replace(by_keyword(request), gate_after=gate)
        if tool_results(request):
            return replace(by_keyword(request), gate=gate)
        return by_keyword(request)

    model.script(held)
    model.forget()
    reader, noter, chooser = people = [somebody() for _ in range(3)]
    reader.says("stream 60")
    reader.says("and then this")
    noter.says('tool note {"text": "buy milk"}')
    chooser.says("ask: Left or right? | Left | Right")
    chooser.presses(chooser.sees_buttons(), "Right")
    reader.sees("word20")
    model.wait_for(lambda: model.in_flight == 3)

    for name in ("worker", "worker-2"):
        stack.kill9(name)
    gate.open()

    reader.sees("You said: and then this")
    noter.sees("Noted as number")
    chooser.sees("Result:")
    books.wait_until_settled(telegram)
    assert [text.count("word60") for text in reader.texts if text[0] != "⏳"] == [1, 0, 0]
    assert notes_of(books, noter) == ["buy milk"]
    assert len([text for text in chooser.texts if text.startswith("Result:")]) == 1
    for person in people:
        assert len([text for text in person.texts if RESUMED in text]) == 1
        assert MARKER not in " ".join(person.texts)


@pytest.mark.usefixtures("time")
@pytest.mark.parametrize(
    ("place", "asked"),
    [
        ("gateway.turns.finish:before", 3),  # answered and not recorded: the model is asked again
        ("gateway.turns.finish:after", 2),  # recorded, and nobody was told
        ("gateway.turns.checkpoint:after", 2),
    ],
)
def test_a_death_around_the_record_of_an_answer_loses_and_doubles_nothing(
    stack, telegram, model, books, person, place, asked
):
    model.script(by_keyword)
    model.forget()
    doom = Doom(stack, place)

    person.says('tool note {"text": "buy bread"}')
    doom.wait_until_struck()
    person.sees("Noted as number")
    books.wait_until_settled(telegram)

    assert notes_of(books, person) == ["buy bread"]
    assert len([text for text in person.texts if "Noted as number" in text]) == 1
    assert len(model.requests) == asked


@pytest.mark.proves("T3")
@pytest.mark.usefixtures("time")
@pytest.mark.parametrize(
    ("place", "noted"),
    [("gateway.turns.begin_tool:after", []), ("gateway.turns.finish_tool:before", ["buy eggs"])],
)
def test_a_tool_whose_result_was_never_stored_is_not_run_again(
    stack, telegram, model, books, person, place, noted
):
    model.script(by_keyword)
    doom = Doom(stack, place)

    person.says('tool note {"text": "buy eggs"}')
    doom.wait_until_struck()
    answer = person.sees("Result:")
    books.wait_until_settled(telegram)

    assert notes_of(books, person) == noted
    assert "unknown" in answer.text


def test_a_question_that_was_being_put_is_put_once(stack, telegram, model, books, person):
    model.script(by_keyword)
    doom = Doom(stack, "gateway.turns.wait:before")

    person.says("ask: One or two? | One | Two")
    doom.wait_until_struck()
    person.presses(person.sees_buttons(), "Two")
    person.sees("Result:")
    books.wait_until_settled(telegram)

    assert len([text for text in person.texts if text.startswith("One or two?")]) == 1


def test_a_turn_that_kills_its_worker_twice_is_ended_with_a_word(stack, telegram, model, person):
    model.script(lambda request: Reply(text="Deadly."))
    doom = Doom(stack, "gateway.turns.finish:before")
    person.says("kill")
    doom.wait_until_struck()

    doom = Doom(stack, "gateway.turns.finish:before")
    doom.wait_until_struck()

    person.sees("given up")
    assert not any("Deadly." in text for text in person.texts)


def notes_of(books, person):
    return [
        text
        for (text,) in books.rows(
            "SELECT n.text FROM gateway_note n JOIN gateway_turn t ON t.id = n.turn_id"
            " WHERE t.sender_id = ?",
            str(person.id),
        )
    ]
