"""Answers to what is closed already: whoever gives one is told, and none becomes a request."""

from datetime import timedelta

import pytest

from clarify import questions
from clarify.schema import normalise_clarify
from clarify.states import Event
from delivery import ledger
from delivery.models import Kind, Obligation
from gateway import intake
from gateway.console import queries
from gateway.console.viewers import viewer_of
from gateway.messages import ChatType, InboundMessage, Source
from gateway.models import InboundEvent, Turn
from tests.factories import (
    make_account,
    make_allow_entry,
    make_conversation,
    make_prompt,
    make_staff,
    make_turn,
)

pytestmark = pytest.mark.django_db
PERSON = "7"


@pytest.fixture
def chat(clock):
    make_account("telegram")
    make_allow_entry(user_id=PERSON)
    return make_conversation(chat_id=PERSON, now=clock())


@pytest.fixture
def prompt(chat, clock):
    """The agent asked, in a turn that waits for the answer."""
    turn = make_turn(chat, state="waiting", sender_id=PERSON, now=clock())
    return make_prompt(turn, now=clock())


@pytest.fixture
def say(clock):
    """Let the person say something; the row of it."""

    def say(text: str, **place) -> InboundEvent:
        number = InboundEvent.objects.count() + 1
        source = Source(
            platform="telegram",
            account="telegram",
            chat_type=place.get("chat_type", ChatType.DM),
            chat_id=place.get("chat_id", PERSON),
            user_id=PERSON,
            user_name="Ada",
            message_id=str(number),
        )
        event = InboundMessage(source=source, event_id=f"u{number}", text=text, sent_at=clock())
        intake.take("telegram", event, now=clock())
        return InboundEvent.objects.get(event_id=event.event_id)

    return say


def last_word() -> str:
    return Obligation.objects.filter(kind=Kind.CONTROL).latest("pk").content


@pytest.mark.proves("Q4", "Q20")
@pytest.mark.parametrize("command", ["/stop", "/new"])
def test_an_answer_after_a_stop_is_told_that_the_question_is_closed(say, prompt, command) -> None:
    say(command)

    row = say("2")

    assert (row.decision, row.prompt_id, row.turn) == ("closed", prompt.pk, None)
    assert "closed" in last_word()
    assert Turn.objects.count() == 1


@pytest.mark.proves("Q4")
@pytest.mark.parametrize("command", ["/stop", "/new"])
def test_what_is_no_answer_is_a_message_after_a_stop(say, prompt, command) -> None:
    say(command)

    assert say("Then tell me a story").decision == "turn"


def test_a_label_of_what_was_answered_already_is_told_the_answer(say, prompt) -> None:
    say("staging")

    assert say("Production").decision == "closed"
    assert "Staging" in last_word()


def test_a_label_of_what_was_answered_is_a_message_once_they_asked_for_something_else(
    say, prompt
) -> None:
    say("staging")
    say("Tell me a story")

    assert say("Production").decision == "turn"


def test_a_label_of_what_ran_out_is_told_so_whatever_was_said_since(say, prompt, clock) -> None:
    questions.resolve(prompt, Event.EXPIRE, now=clock())
    say("Tell me a story")

    assert say("Production").decision == "closed"


@pytest.mark.proves("Q5")
def test_a_closed_question_stays_in_the_timeline_longer_than_its_message(
    prompt, chat, clock
) -> None:
    prompt.answers = {"answer": ["Production"]}
    assert questions.resolve(prompt, Event.ANSWER, now=clock())
    Obligation.objects.update(state="delivered", settled_at=clock())
    Turn.objects.update(state="finished")
    assert ledger.prune(now=clock() + timedelta(days=365)) == 2

    (entry,), _ = queries.page(chat, viewer_of(make_staff()))

    assert (entry["id"], entry["state"]) == (f"prompt:{prompt.pk}", "answered")
    assert entry["answers"] == {"answer": ["Production"]}
    assert "Where should it go?" in str(entry["questions"])


@pytest.mark.proves("T9")
def test_a_turn_that_is_taken_up_again_holds_up_no_command_and_no_answer(
    say, prompt, chat, clock
) -> None:
    resumed = make_turn(now=clock(), state="ready", deaths=1)

    assert say("/status").decision == "command"
    assert say("2").decision == "answer"

    prompt.refresh_from_db()
    assert prompt.state == "answered"
    assert Turn.objects.get(pk=resumed.pk).state == "ready"


@pytest.mark.proves("Q20")
def test_a_late_answer_to_an_earlier_one_of_several_is_told_too(chat, say, clock) -> None:
    turn = make_turn(chat, state="waiting", sender_id=PERSON, now=clock())
    other = normalise_clarify("Which colour?", ["Red", "Blue"])
    for question_set in (None, other):
        prompt = make_prompt(turn, now=clock(), question_set=question_set)
        questions.resolve(prompt, Event.EXPIRE, now=clock.advance(1), reason="expired")

    assert say("production").decision == "closed"
    assert say("blue").decision == "closed"


@pytest.mark.proves("Q20")
def test_in_a_group_a_late_answer_is_told_without_a_mention(say, clock) -> None:
    make_account("telegram")
    make_allow_entry(user_id=PERSON)
    group = {"chat_type": ChatType.GROUP, "chat_id": "-5"}
    place = make_conversation(chat_type="group", chat_id="-5", participant_id=PERSON, now=clock())
    turn = make_turn(place, state="waiting", sender_id=PERSON, now=clock())
    prompt = make_prompt(turn, now=clock())
    questions.resolve(prompt, Event.EXPIRE, now=clock.advance(1), reason="expired")

    assert say("2", **group).decision == "closed"
    assert say("nice weather", **group).decision == "ignored"
