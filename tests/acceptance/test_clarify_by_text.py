"""A question is answered in typed words: where there are no buttons, and where there are."""

import os
import signal

import pytest

from tests.acceptance.page import Page

pytestmark = pytest.mark.acceptance
QUESTION = "ask: Where shall we deploy? | Staging (Recommended) | Production | Both"
ANSWERS = [
    ("2", "Production"),
    ("２.", "Production"),
    ("production", "Production"),
    ("staging", "Staging (Recommended)"),
    ("2 servers please", "2 servers please"),
]


def result_of(text):
    return text.replace('": "', '":"').partition('"user_response":"')[2].partition('"')[0]


@pytest.mark.proves("Q8")
@pytest.mark.parametrize(("typed", "meant"), ANSWERS)
def test_on_telegram_a_typed_answer_resolves_the_question_beside_its_buttons(
    telegram, books, person, typed, meant
):
    person.says(QUESTION)
    person.sees_buttons()
    person.says(typed)

    assert result_of(person.sees("Result:", within=5).text) == meant
    books.wait_until_settled(telegram)
    assert turns_of(books, person.id) == 1


async def test_in_the_control_ui_a_typed_answer_resolves_the_question(stack):
    async with Page(stack) as page:
        for number, (typed, meant) in enumerate(ANSWERS):
            await page.say(QUESTION)
            await page.sees("prompt", open=True)
            said = await page.say(typed)

            await page.sees("prompt", within=5, state="answered", answers={"answer": [meant]})
            await page.sees_answers(number + 1, within=5)
            assert said["decision"] == "answer"
            assert [result_of(text) for text in page.answers][number:] == [meant]
            page.entries = {key: e for key, e in page.entries.items() if e["kind"] == "final"}


@pytest.mark.proves("Q8")
async def test_in_the_control_ui_a_question_can_be_answered_as_soon_as_it_is_seen(stack):
    async with Page(stack) as page:
        os.kill(stack.pids["gateway"], signal.SIGSTOP)
        try:
            await page.say(QUESTION)
            await page.sees("prompt", open=True)
            said = await page.say("2")
        finally:
            os.kill(stack.pids["gateway"], signal.SIGCONT)

        assert said["decision"] == "answer"
        await page.sees("final")
        assert [result_of(text) for text in page.answers] == ["Production"]


@pytest.mark.proves("Q2")
@pytest.mark.usefixtures("time")
async def test_a_typed_answer_still_counts_after_the_death_of_every_process(stack, person):
    async with Page(stack) as page:
        await page.say(QUESTION)
        await page.sees("prompt", open=True)
        person.says(QUESTION)
        person.sees_buttons()

        stack.kill9_all()
        stack.start()
        await page.connect()
        await page.open()
        said = await page.say("２.")
        person.says("２.")

        assert said["decision"] == "answer"
        await page.sees("final")
        assert [result_of(text) for text in page.answers] == ["Production"]
        assert result_of(person.sees("Result:").text) == "Production"


def turns_of(books, person_id):
    return books.value("SELECT count(*) FROM gateway_turn WHERE sender_id = ?", str(person_id))
