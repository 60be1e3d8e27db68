"""What went wrong with questions elsewhere, as public reports tell it; the numbers are theirs."""

from datetime import timedelta
from itertools import permutations

import pytest
from django.db import OperationalError

from clarify import buttons, questions, stepping
from clarify.models import Prompt
from clarify.schema import Question, QuestionSet, normalise_ask_user, normalise_clarify
from delivery import destinations, ledger
from delivery.errors import OutcomeUnknown, Refused
from delivery.models import Kind, Obligation
from gateway import upkeep
from gateway.messages import ChatType
from gateway.models import Account, InboundEvent, ToolCall, Turn
from tests.factories import (
    choice_question,
    make_allow_entry,
    make_approval,
    several_questions,
)
from tests.integration.desk import ACCOUNT
from tests.integration.door import Door, acknowledged, fresh, said

pytestmark = pytest.mark.django_db
GROUP = {"chat_type": ChatType.GROUP, "chat_id": "-5"}


@pytest.fixture
def door(db, clock) -> Door:
    return Door(clock)


def press(door, prompt, choice: str, **changes):
    return acknowledged(
        door.receive(door.press(buttons.button_data(prompt.token, choice), **changes))
    )


def turn_of(prompt: Prompt) -> Turn:
    return Turn.objects.get(pk=int(prompt.correlation))


def result_of(prompt: Prompt) -> dict:
    return ToolCall.objects.get(turn=turn_of(prompt), call_id=prompt.call_id).result["value"]


def shown_by(kind: Kind = Kind.PROMPT) -> list[Obligation]:
    return list(Obligation.objects.filter(kind=kind).order_by("pk"))


def send(door, prompt: Prompt, error: Exception, *, lost: bool) -> None:
    """The platform answers the message that shows `prompt` with an error that is final."""
    works = ledger.claim_due(door.fence, ACCOUNT, now=door.clock())
    (work,) = [work for work in works if work.obligation.pk == prompt.obligation_id]
    ledger.abandon(work, work.parts[0], error, reason="no", operation="send", now=door.clock())
    states = set(prompt.obligation.parts.values_list("state", flat=True))
    assert ("lost" in states) is lost


# --- B003: a reply in prose, long waits, and a stop


@pytest.mark.proves("Q9", "Q12")
def test_prose_that_fits_no_option_is_the_answer_at_once_and_no_message(door) -> None:  # B003
    prompt = door.asked(question_set=choice_question(choices=("staging", "prod", "cancel")))

    door.say("let us go with the canary box first")

    assert fresh(prompt).answers == {"answer": ["let us go with the canary box first"]}
    assert Turn.objects.count() == 1


@pytest.mark.proves("Q14")
def test_the_buttons_live_as_long_as_the_question(door) -> None:  # B003
    prompt = door.asked()
    door.clock.advance(599)
    upkeep.tick(now=door.clock())
    questions.extend(prompt, by=timedelta(hours=5), now=door.clock())
    door.clock.advance(timedelta(hours=5).total_seconds())
    upkeep.tick(now=door.clock())

    assert not press(door, prompt, "p0.1").alert
    assert fresh(prompt).answers == {"answer": ["Production"]}


@pytest.mark.proves("Q4")
def test_a_stop_is_heard_past_whatever_waits_in_the_queue(door) -> None:  # B003
    prompt = door.asked()
    photo = {"attachments": (_photo(),)}
    waiting = [door.say("hello?", **photo), door.say("hello??", **photo)]
    assert [event.decision for event in waiting] == ["turn", "turn"]

    assert door.say("/stop").decision == "command"

    assert fresh(prompt).state == "cancelled"
    assert turn_of(prompt).state == "stopped"


def _photo():
    from gateway.messages import Attachment

    return Attachment(kind="photo", file_id="f1", name="a.jpg")


# --- B007: silence


def three_questions():
    asked = [
        {
            "id": name,
            "header": name,
            "question": f"Which {name}?",
            "options": [{"label": a}, {"label": b}],
        }
        for name, a, b in (
            ("size", "S", "L"),
            ("colour", "Red", "Blue"),
            ("place", "Here", "There"),
        )
    ]
    return normalise_ask_user(asked, 600)


@pytest.mark.proves("Q10")
def test_silence_to_a_set_costs_one_timeout_and_shows_nothing_more(door) -> None:  # B007
    prompt = door.asked(question_set=three_questions())
    door.clock.advance(600)

    upkeep.tick(now=door.clock())

    assert fresh(prompt).state == "expired"
    assert result_of(prompt) == {"status": "no_answer", "reason": "expired"}
    assert len(shown_by()) == 1


@pytest.mark.proves("Q10", "Q13")
def test_what_was_answered_before_the_silence_is_told_and_no_notice_is_an_answer(door) -> None:
    prompt = door.asked(question_set=three_questions())  # B007
    press(door, prompt, "p0.1")
    door.clock.advance(600)

    upkeep.tick(now=door.clock())

    assert result_of(prompt) == {
        "status": "no_answer",
        "reason": "expired",
        "answers": {"answers": {"size": ["L"]}},
    }


@pytest.mark.proves("Q23")
def test_after_a_silence_a_question_whose_time_is_up_too_is_not_even_shown(door) -> None:  # B007
    one = door.asked()
    two = door.asked(turn_of(one), question_set=choice_question("And what else?"))
    door.clock.advance(600)

    questions.expire_overdue(now=door.clock())

    assert (fresh(one).state, fresh(two).state) == ("expired", "expired")
    assert two.obligation is None
    assert "did not respond" in result_of(one)["user_response"]
    assert "not shown" in result_of(two)["user_response"]


# --- B009, B025: the message itself does not arrive


@pytest.mark.proves("Q22")
def test_a_send_of_unknown_end_is_no_silence_of_the_person(door) -> None:  # B009
    prompt = door.asked(delivered=False)
    send(door, prompt, OutcomeUnknown("no answer"), lost=True)
    upkeep.tick(now=door.clock())
    assert fresh(prompt).state == "pending"

    door.clock.advance(600)
    upkeep.tick(now=door.clock())

    assert fresh(prompt).state == "expired"
    assert "not known whether" in result_of(prompt)["user_response"]


@pytest.mark.proves("Q22")
def test_a_send_of_unknown_end_can_be_answered(door) -> None:  # B009, B025
    prompt = door.asked(delivered=False)
    send(door, prompt, OutcomeUnknown("no answer"), lost=True)

    assert door.say("2").decision == "answer"
    assert fresh(prompt).answers == {"answer": ["Production"]}


@pytest.mark.proves("Q22")
def test_a_question_that_nobody_could_send_until_its_end_is_no_silence_either(door) -> None:
    prompt = door.asked(delivered=False)  # B009
    door.clock.advance(600)

    upkeep.tick(now=door.clock())

    assert "could not be delivered" in result_of(prompt)["user_response"]
    assert "did not respond" not in str(result_of(prompt))


@pytest.mark.proves("Q22")
@pytest.mark.parametrize("several", [False, True])
def test_a_refused_question_ends_at_once_and_swallows_nothing(door, several) -> None:  # B009, B025
    question_set = several_questions() if several else choice_question()
    prompt = door.asked(delivered=False, question_set=question_set)
    send(door, prompt, Refused("Forbidden"), lost=False)

    upkeep.tick(now=door.clock())

    assert fresh(prompt).state == "undeliverable"
    assert "deliver" in str(result_of(prompt))
    assert turn_of(prompt).state == "ready"
    assert door.say("what is the weather").decision == "turn"


# --- B013: see tests/unit/clarify/test_presenting.py for captions in general


LONG = (
    "Delete the old backups on server alpha and keep the newest seven copies of the database",
    "Delete the old backups on server alpha and keep the newest seven copies of the mail spool",
)


@pytest.mark.proves("Q14")
def test_options_that_begin_alike_have_different_captions_and_stand_in_full(door) -> None:  # B013
    prompt = door.asked(question_set=normalise_clarify("Which?", list(LONG)))

    labels = [b.label for row in prompt.obligation.native_controls.rows for b in row]

    assert len(set(labels)) == len(labels) == 4
    assert all(label in prompt.obligation.content for label in LONG)


@pytest.mark.proves("Q7")
def test_the_same_option_twice_is_offered_once(door) -> None:  # B013
    prompt = door.asked(question_set=normalise_clarify("Which?", ["Yes", "Yes", "No"]))

    labels = [b.label for row in prompt.obligation.native_controls.rows for b in row]

    assert labels == ["Yes", "No", "Other…", "Skip"]


# --- B015: shown where it was asked, or not open


@pytest.mark.proves("Q6", "Q27")
def test_a_question_of_a_group_is_shown_in_its_thread(door) -> None:  # B015
    here = GROUP | {"thread_id": "7"}
    prompt = door.asked(door.say("Deploy it", **here, mentions_bot=True).turn)

    owed = prompt.obligation.destination
    assert (owed.chat_id, owed.thread_id) == ("-5", "7")
    assert door.say("2", **here).decision == "answer"


@pytest.mark.proves("Q22")
def test_a_question_that_no_surface_can_show_ends_with_the_next_look(door) -> None:  # B015
    turn = door.say("Deploy it", **GROUP, mentions_bot=True).turn
    destinations.bury(turn.conversation.address, reason="kicked", now=door.clock())
    prompt = door.asked(turn, delivered=False)

    upkeep.tick(now=door.clock())

    assert fresh(prompt).state == "undeliverable"
    assert "could not be delivered" in result_of(prompt)["user_response"]


# --- B017: a late answer


@pytest.mark.proves("Q20", "Q23")
@pytest.mark.parametrize("late", ["tap", "quote"])
def test_an_answer_to_what_is_over_is_nobodys_newer_question(door, late) -> None:  # B017
    old = door.asked()
    turn = turn_of(old)
    door.clock.advance(600)
    upkeep.tick(now=door.clock())
    new = door.asked(turn)
    (message_id,) = ledger.message_ids(fresh(old).obligation_id)

    if late == "tap":
        ack = press(door, old, "p0.1")
        assert ack.alert
        told = ack.text
    else:
        assert door.say("2", reply_to=message_id).decision == "closed"
        told = said()[-1]

    assert "closed" in told
    assert fresh(new).state == "pending"
    assert Turn.objects.count() == 1


# --- B019: a replay


@pytest.mark.proves("Q1", "S7")
@pytest.mark.parametrize("way", ["words", "button"])
def test_an_answer_that_comes_in_twice_lets_the_turn_go_on_once(door, way) -> None:  # B019
    prompt = door.asked(question_set=choice_question(choices=("A", "B")))
    event = (
        door.message("neither, use C")
        if way == "words"
        else door.press(buttons.button_data(prompt.token, "p0.1"))
    )
    assert door.receive(event)
    before = (fresh(prompt).answers, turn_of(prompt).woken_at)
    door.clock.advance(1)

    assert door.receive(event) == []

    assert (fresh(prompt).answers, turn_of(prompt).woken_at) == before
    assert [reply.outcome for reply in prompt.replies.all()] == ["resolved"]
    assert InboundEvent.objects.filter(decision="answer").count() == 1


# --- B021: tests/acceptance/test_native_controls.py proves it on the person's screen too


@pytest.mark.proves("Q6")
@pytest.mark.parametrize("question_set", [several_questions(), choice_question()])
def test_a_question_replaces_no_live_message(door, question_set) -> None:  # B021
    prompt = door.asked(question_set=question_set, delivered=False)

    assert prompt.obligation.preview_key == ""
    assert prompt.obligation.edits is None


# --- B023: what a button carries


@pytest.mark.proves("Q14")
@pytest.mark.parametrize("order", list(permutations(range(4)))[::5])
def test_a_button_is_its_option_wherever_it_stands(door, order) -> None:  # B023
    labels = ("A", "B", "C", "D")
    prompt = door.asked(question_set=normalise_clarify("Which?", list(labels)))
    drawn = [b for row in prompt.obligation.native_controls.rows for b in row if b.label in labels]
    shuffled = [drawn[place] for place in order]
    (tapped,) = [button for button in shuffled if button.label == "B"]

    door.receive(door.press(tapped.data))

    assert fresh(prompt).answers == {"answer": ["B"]}


# --- B027: one line for two questions


def free_questions() -> QuestionSet:
    asked = [("city", "Which city?"), ("budget", "Which budget?")]
    return QuestionSet(tuple(Question(key=key, text=text, header="") for key, text in asked), 900)


@pytest.fixture
def in_text(door) -> Prompt:
    """Two questions shown as text, as where there are no buttons."""
    return door.asked(question_set=free_questions(), has_buttons=False)


@pytest.mark.proves("Q13")
def test_a_line_that_answers_one_of_two_is_corrected_once_and_confirmed(door, in_text) -> None:
    event = door.message("Oslo")  # B027
    door.receive(event, cursor="c9")

    assert fresh(in_text).answers == {}
    assert in_text.state == "pending"
    assert len(said()) == 1
    assert "budget" in said()[0].lower()
    assert Account.objects.get().cursor == "c9"
    assert door.receive(event) == []
    assert len(said()) == 1


@pytest.mark.proves("Q13")
@pytest.mark.parametrize("reply", ["1. Oslo\n2. 500", "city: Oslo\nbudget: 500"])
def test_both_lines_answer_both_and_the_turn_goes_on_once(door, in_text, reply) -> None:  # B027
    door.say("Oslo")
    door.say(reply)

    assert fresh(in_text).answers == {"city": ["Oslo"], "budget": ["500"]}
    assert turn_of(in_text).state == "ready"
    assert Turn.objects.count() == 1


# --- B029: a question that looks like an approval


@pytest.mark.proves("Q24")
@pytest.mark.parametrize("way", ["words", "button"])
def test_allow_as_the_answer_to_a_question_approves_nothing(door, way) -> None:  # B029
    turn = door.say("Clean up").turn
    question = door.asked(turn, question_set=choice_question(choices=("Allow", "Deny")))
    approval = make_approval(turn, now=door.clock())

    if way == "words":
        door.say("Allow")
    else:
        press(door, question, "p0.0")

    assert fresh(question).answers == {"answer": ["Allow"]}
    assert fresh(approval).state == "pending"
    assert turn_of(approval).state == "waiting"


@pytest.mark.proves("Q24")
def test_a_button_of_a_question_is_none_of_an_approval_and_the_other_way_round(door) -> None:
    turn = door.say("Clean up").turn  # B029
    question = door.asked(turn)
    approval = make_approval(turn, now=door.clock())

    press(door, approval, "p0.0")
    press(door, question, "a1")

    assert (fresh(question).state, fresh(approval).state) == ("pending", "pending")


# --- B031: who may answer


@pytest.mark.proves("Q15", "Q27")
def test_in_a_group_the_asker_answers_where_they_were_asked(door) -> None:  # B031
    make_allow_entry(user_id="8")
    here = GROUP | {"thread_id": "7"}
    prompt = door.asked(door.say("Deploy it", **here, mentions_bot=True).turn)

    assert door.say("2", **here, user_id="9").decision == "denied"
    assert door.say("2", **here, user_id="8").decision == "ignored"
    assert door.say("1", **GROUP, thread_id="8", mentions_bot=True).decision == "turn"
    assert fresh(prompt).state == "pending"
    assert door.say("1", **here).decision == "answer"
    assert fresh(prompt).resolved_by == "Ada"


@pytest.mark.proves("Q15")
def test_where_any_member_may_answer_a_stranger_still_may_not(door) -> None:  # B031
    make_allow_entry(user_id="8")
    here = GROUP | {"thread_id": "7"}  # one conversation for all who speak there
    turn = door.say("Deploy it", **here, mentions_bot=True).turn
    prompt = door.asked(turn, anyone_may_answer=True)

    assert door.say("2", **here, user_id="9").decision == "denied"
    assert door.say("2", **here, user_id="8", user_name="Bo").decision == "answer"
    assert fresh(prompt).resolved_by == "Bo"


# --- B044, of questions: what comes again after trouble


@pytest.mark.proves("S7")
def test_a_press_that_met_a_database_in_trouble_comes_again_and_counts_once(
    door, monkeypatch
) -> None:  # B044
    prompt = door.asked()
    event = door.press(buttons.button_data(prompt.token, "p0.1"))
    real = questions.press

    def away(*_args, **_facts):
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patched:
        patched.setattr(questions, "press", away)
        with pytest.raises(OperationalError):
            door.receive(event)
    assert questions.press is real
    assert not InboundEvent.objects.filter(event_id=event.event_id).exists()

    assert acknowledged(door.receive(event)).press == event
    assert fresh(prompt).answers == {"answer": ["Production"]}
    assert door.receive(event) == []


def test_no_joined_text_is_cut_up_to_know_a_button() -> None:  # B042
    for token in ("a:b", "7:8:9", "agent:main:slack:C1"):
        assert buttons.from_button(buttons.button_data(token, "p0.1")) in (None, (token, "p0.1"))
    assert stepping.decoded("p0:1") is None
