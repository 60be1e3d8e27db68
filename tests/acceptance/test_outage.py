"""The platform is away, floods, or cuts us off: everybody is answered when it is back, in order."""

import time

import pytest

from tests.acceptance.people import recovered
from tests.peers.model import Gate, Reply, by_keyword
from tests.peers.model.replies import last_user_text
from tests.peers.telegram import Fault
from tests.services import wait_until

pytestmark = pytest.mark.acceptance
ANSWERED_WITHIN = 30  # seconds after the end of an outage


@pytest.mark.proves("D11", "S6")
@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.full)])
def test_after_an_outage_every_turn_under_way_and_every_new_message_is_answered(
    stack, telegram, model, books, somebody, seconds
):
    gate = Gate()

    def script(request):
        begun = last_user_text(request) == "begun before"
        return Reply(text="Done.", gate=gate) if begun else by_keyword(request)

    model.script(script)
    asker, *early = [somebody() for _ in range(6)]
    late = [somebody() for _ in range(5)]
    asker.says("ask: Which one? | This | That")
    question = asker.sees_buttons()
    for person in early:
        person.says("begun before")
    model.wait_for(lambda: model.in_flight == len(early))

    with telegram.outage():
        ends_at = time.monotonic() + seconds
        gate.open()
        for person in late:
            person.says("said during")
            person.says("and more")
        asker.presses(question, "That")
        wait_until(lambda: time.monotonic() > ends_at, "the outage is over", within=seconds + 5)

    for person in early:
        person.sees("Done.", within=ANSWERED_WITHIN)
    for person in late:
        person.sees("You said: and more", within=ANSWERED_WITHIN)
    asker.sees("Result:", within=ANSWERED_WITHIN)
    books.wait_until_settled(telegram)
    assert [person.heard for person in early] == [["Done."]] * len(early)
    assert [person.heard for person in late] == [
        ["You said: said during", "You said: and more"]
    ] * len(late)


@pytest.mark.parametrize("times", [3, pytest.param(10, marks=pytest.mark.full)])
def test_a_flood_limit_many_times_in_a_row_delays_an_answer_and_nothing_else(
    stack, telegram, model, books, somebody, times
):
    model.script(by_keyword)
    limited, free = somebody(), somebody()
    fault = Fault("429", "sendMessage", limited.id, retry_after=1, times=times)
    with telegram.faults.during(fault):
        limited.says("one")
        limited.says("two")
        telegram.wait_for(lambda: fault.hits)
        free.says("meanwhile")
        free.sees("You said: meanwhile", within=5)
        assert not limited.texts
        limited.sees("You said: two")

    books.wait_until_settled(telegram)
    assert fault.hits == times
    assert limited.texts == ["You said: one", "You said: two"]


def test_a_connection_cut_after_acceptance_makes_no_silent_double(
    stack, telegram, model, books, person
):
    model.script(by_keyword)
    with telegram.faults.during(Fault("lost_ack", "sendMessage", person.id, times=1)):
        person.says("one")
        person.says("two")
        person.sees("You said: two")

    books.wait_until_settled(telegram)
    assert person.texts == ["You said: one", recovered("You said: one"), "You said: two"]


# The few copies that may be sent are not spent on a platform that answers nothing at all.
@pytest.mark.proves("D5")
@pytest.mark.parametrize("seconds", [4, pytest.param(10, marks=pytest.mark.full)])
def test_a_connection_that_is_cut_for_a_while_makes_one_copy_and_that_says_so(
    stack, telegram, model, books, person, seconds
):
    model.script(by_keyword)
    with telegram.faults.during(Fault("lost_ack", chat=person.id)):
        person.says("one")
        person.says("two")
        person.sees("You said: one")
        ends_at = time.monotonic() + seconds
        wait_until(lambda: time.monotonic() > ends_at, "it was cut for a while", within=seconds + 5)
        assert person.texts == ["You said: one"]

    person.sees("You said: two")
    books.wait_until_settled(telegram)
    assert person.texts == ["You said: one", recovered("You said: one"), "You said: two"]


@pytest.mark.proves("D8")
def test_five_messages_at_once_are_all_answered_in_their_order(
    stack, telegram, model, books, person
):
    model.script(by_keyword)
    for number in range(5):
        person.says(f"number {number}")

    person.sees("You said: number 4")
    books.wait_until_settled(telegram)
    assert person.texts == [f"You said: number {number}" for number in range(5)]


@pytest.mark.proves("Q6")
def test_a_question_that_arrived_twice_is_answered_by_either_copy_and_only_once(
    stack, telegram, model, books, person
):
    model.script(by_keyword)
    with telegram.faults.during(Fault("lost_ack", "sendMessage", person.id, times=1)):
        person.says("ask: Which one? | This | That")
        marked = person.sees(recovered("Which one?"))
    unmarked = person.sees(lambda shown: shown.text.startswith("Which one?"))

    person.presses(unmarked, "This")
    person.sees("Result:")
    late = person.presses(marked, "That")
    [told] = telegram.wait_for(lambda: telegram.answers_to(late))
    books.wait_until_settled(telegram)

    assert "This" in told.text
    assert len([text for text in person.texts if text.startswith("Result:")]) == 1


def test_an_answer_that_was_streamed_is_finished_by_edit_although_the_connection_is_cut(
    stack, telegram, model, books, person
):
    model.script(by_keyword)
    person.says("stream 100")
    person.sees("word20")
    with telegram.faults.during(Fault("lost_ack", "editMessageText", person.id, times=3)):
        person.sees("word100")
        books.wait_until_settled(telegram)

    assert [text.count("word") for text in person.texts] == [100]


def test_a_platform_that_cannot_be_connected_to_at_all_costs_nothing(
    stack, telegram, model, books, person
):
    model.script(by_keyword)
    with telegram.refuse():
        person.says("hello")
        wait_until(
            lambda: (
                books.value("SELECT state FROM gateway_account WHERE slug = 'telegram'")
                == "degraded"
            ),
            "the account is said to be in trouble",
        )

    person.sees("You said: hello")
    books.wait_until_settled(telegram)
    books.wait_for("SELECT state = 'ready' FROM gateway_account WHERE slug = 'telegram'")
    assert person.texts == ["You said: hello"]
