"""The gateway dies around a send: no answer is lost, and what may be a double says so.

With `test_kill9_worker`, `test_two_gateways` and `test_gone` it is the crash matrix of
docs/delivery.md: a row there, a test here.
"""

import json

import pytest

from tests.acceptance.doom import FATAL, Doom
from tests.acceptance.people import MARKER, recovered
from tests.peers.model import Reply, by_keyword
from tests.peers.telegram import Fault
from tests.services import wait_until

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def environment():
    return FATAL


@pytest.fixture(autouse=True)
def _is_started_again(stack):
    """What died often is started again ever more slowly: the next death waits for that."""
    wait_until(lambda: "gateway" in stack.pids, "the gateway runs")


@pytest.mark.usefixtures("time")
def test_a_death_in_the_middle_of_sends_loses_nothing_and_doubles_only_with_the_marker(
    stack, telegram, books, somebody
):
    arrived, lost, waiting = people = [somebody() for _ in range(3)]
    with (
        telegram.faults.during(Fault("hang", "sendMessage", arrived.id)),
        telegram.faults.during(Fault("hang_before", "sendMessage", lost.id)),
        telegram.faults.during(Fault("429", "sendMessage", waiting.id, retry_after=5)),
    ):
        for person in people:
            person.says("first")
            person.says("second")
        arrived.sees("You said: first")
        telegram.wait_for(lambda: telegram.calls.of("sendMessage", lost.id))
        books.wait_for(  # told to wait: what remains true however late one looks
            "SELECT count(*) > 0 FROM delivery_attempt a JOIN delivery_part p ON p.id = a.part_id"
            " JOIN delivery_obligation o ON o.id = p.obligation_id WHERE o.chat_id = ?",
            str(waiting.id),
        )

        stack.kill9("gateway")

    for person in people:
        person.sees("You said: second")
    books.wait_until_settled(telegram)
    assert arrived.texts == ["You said: first", recovered("You said: first"), "You said: second"]
    assert lost.texts == [recovered("You said: first"), "You said: second"]
    assert waiting.texts == ["You said: first", "You said: second"]


@pytest.mark.proves("D7")
@pytest.mark.usefixtures("time")
@pytest.mark.parametrize(
    ("place", "shown"),
    [
        # Taken and not sent; nobody can know that, so it is sent with the marker.
        ("delivery.ledger.claim_due:after", [recovered("You said: hello")]),
        # Accepted and not recorded: sent again, and says so.
        ("delivery.ledger.accept:before", ["You said: hello", recovered("You said: hello")]),
        # Taken in and not confirmed to the platform, which tells of it again.
        ("gateway.intake.receive:after", ["You said: hello"]),
        pytest.param("delivery.ledger.accept:after", ["You said: hello"], marks=pytest.mark.full),
        pytest.param(
            "gateway.accounts.confirm:before", ["You said: hello"], marks=pytest.mark.full
        ),
    ],
)
def test_a_death_around_a_record_is_honest(stack, telegram, books, person, place, shown):
    doom = Doom(stack, place)

    person.says("hello")
    doom.wait_until_struck()
    telegram.wait_for(lambda: len(person.seen) >= len(shown))
    books.wait_until_settled(telegram)

    assert person.texts == shown
    assert books.rows("SELECT count(*) FROM gateway_turn WHERE sender_id = ?", str(person.id)) == [
        (1,)
    ]


@pytest.mark.usefixtures("time")
def test_a_streamed_answer_is_finished_in_its_own_message_without_a_double(
    stack, telegram, model, books, person
):
    model.script(by_keyword)
    doom = Doom(stack, "delivery.ledger.accept:before")

    person.says("stream 120")
    doom.wait_until_struck()
    person.sees("word120")
    books.wait_until_settled(telegram)

    assert [text.count("word") for text in person.texts] == [120]
    assert MARKER not in person.texts[0]


# Where an answer is a new message: dead before its live message was deleted, and the next owner
# deletes it. Dead before the answer was recorded: its copy says so, for nobody can tell.
@pytest.mark.proves("D13")
@pytest.mark.usefixtures("time")
@pytest.mark.parametrize(
    ("place", "marked"),
    [
        ("delivery.ledger.accept:after", [False]),
        pytest.param("delivery.ledger.accept:before", [False, True], marks=pytest.mark.full),
    ],
)
def test_an_answer_that_is_a_new_message_stands_alone_in_the_end(
    stack, telegram, model, books, person, place, marked
):
    settings = {"account": "telegram", "chat_id": str(person.id), "fresh_final_seconds": 0}
    told = stack.data_dir / "settings.json"
    head = {"format": "hermes-configuration", "version": 1}
    told.write_text(json.dumps({**head, "chats": [settings]}))
    stack.manage("import", told)
    model.script(by_keyword)
    doom = Doom(stack, place)

    person.says("stream 120")
    doom.wait_until_struck()
    person.sees("word120")
    books.wait_until_settled(telegram)
    telegram.wait_for(lambda: len(person.texts) == len(marked))

    assert [text.count("word") for text in person.texts] == [120] * len(marked)
    assert [MARKER in text for text in person.texts] == marked
    assert telegram.calls.of("deleteMessage", person.id)


# Dead in the middle of a long answer: what arrived is not repeated, and only the part that was
# under way carries the mark ([B056]).
@pytest.mark.proves("D5")
@pytest.mark.usefixtures("time")
def test_a_death_between_the_parts_of_a_long_answer_repeats_none_that_arrived(
    stack, telegram, model, books, person
):
    words = [f"word{number}" for number in range(1500)]
    model.script(lambda request: Reply(text=" ".join(words)))
    doom = Doom(stack, "delivery.ledger.accept:after")

    person.says("hello")
    doom.wait_until_struck()
    person.sees("word1499")
    books.wait_until_settled(telegram)
    model.script(by_keyword)

    said = " ".join(text.removeprefix(f"{MARKER}\n") for text in person.texts).split()
    assert said == words
    assert [MARKER in text for text in person.texts][:2] == [False, True]
    assert not any(MARKER in text for text in person.texts[2:])


# A second death while the first is being mended: the copy says so as well ([B054]).
@pytest.mark.proves("D5", "D6")
@pytest.mark.usefixtures("time")
@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        (
            "delivery.ledger.accept:before",
            "delivery.ledger.claims._mark_lost:after",
            ["You said: hello", recovered("You said: hello")],
        ),
        pytest.param(
            "delivery.ledger.claim_due:after",
            "delivery.ledger.accept:before",
            [recovered("You said: hello"), recovered("You said: hello")],
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_second_death_during_recovery_is_as_honest_as_the_first(
    stack, telegram, books, person, first, second, shown
):
    doom = Doom(stack, first)
    person.says("hello")
    doom.wait_until_struck()
    doom = Doom(stack, second)
    doom.wait_until_struck()
    telegram.wait_for(lambda: len(person.seen) >= len(shown))
    books.wait_until_settled(telegram)

    assert person.texts == shown
