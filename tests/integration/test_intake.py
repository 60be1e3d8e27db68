"""The one way in: what becomes of everything a platform can send."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import transaction

from clarify import buttons, questions
from clarify.models import Prompt
from clarify.questions import showing
from delivery import destinations, ledger
from delivery.errors import LeaseLost
from delivery.models import Obligation
from gateway import handlers, intake, turns
from gateway.deeds import AckPress, FetchFiles, StartTyping
from gateway.messages import (
    ChatMoved,
    ChatType,
    EditedMessage,
    Ignored,
    Membership,
)
from gateway.models import Account, AllowEntry, AuditEvent, Conversation, InboundEvent, Turn
from tests.factories import (
    make_allow_entry,
    make_obligation,
    several_questions,
)
from tests.integration.desk import take_lease
from tests.integration.door import PHOTO, Door, acknowledged, fresh, said
from tests.integration.racing import race

pytestmark = pytest.mark.django_db


@pytest.fixture
def door(db, clock) -> Door:
    return Door(clock)


# --- a message


@pytest.mark.proves("D12", "P3")
def test_a_message_begins_a_turn_and_is_typed_at_once(door) -> None:
    event = door.message("Deploy it")
    deeds = door.receive(event)
    row, turn = InboundEvent.objects.get(), Turn.objects.get()
    assert (row.decision, row.turn, row.text) == ("turn", turn, "Deploy it")
    assert (turn.state, turn.prompt, turn.sender_id) == ("queued", "Deploy it", "7")
    assert deeds == [StartTyping(event.source.address, turn.pk)]
    assert Account.objects.get().cursor == "c1"


@pytest.mark.proves("D12")
def test_nothing_is_typed_for_a_message_that_waits_behind_an_open_question(door) -> None:
    door.asked()
    deeds = door.receive(door.message("And this", attachments=(PHOTO,)))
    assert [type(deed) for deed in deeds] == [FetchFiles]


@pytest.mark.proves("T2")
def test_messages_that_come_while_a_turn_runs_all_wait_in_order(door) -> None:
    door.say("A")
    turns.claim(Conversation.objects.get().pk, "w", now=door.clock(), capacity=9)
    for text in "BCDE":
        door.say(text)
    queued = Turn.objects.filter(state="queued").order_by("pk")
    assert list(queued.values_list("prompt", flat=True)) == ["B", "C", "D", "E"]


@pytest.mark.proves("Q28", "S7")
def test_the_same_words_twice_are_two_messages(door) -> None:
    door.say("2")
    door.say("2")
    assert Turn.objects.count() == 2


@pytest.mark.proves("S7")
def test_the_same_event_is_taken_in_once(door) -> None:
    event = door.message()
    door.receive(event)
    assert door.receive(event, cursor="c9") == []
    assert Turn.objects.count() == 1
    assert Account.objects.get().cursor == "c9"


def typed(deeds) -> list:
    """Those that show that an answer is being made; one for each turn."""
    return [deed for deed in deeds if isinstance(deed, StartTyping)]


def test_the_same_event_twice_in_one_batch_is_taken_in_once(door) -> None:
    event, other = door.message(), door.message("Other")
    deeds = door.receive(event, event, other)
    assert Turn.objects.count() == 2
    assert len(typed(deeds)) == 2


def test_the_same_message_under_another_event_id_is_taken_in_once(door) -> None:
    event = door.message()
    door.receive(event)
    door.receive(replace(event, event_id="other"))
    assert Turn.objects.count() == 1


def test_the_same_message_under_two_event_ids_of_one_batch_is_taken_in_once(door) -> None:
    event = door.message()
    door.receive(event, replace(event, event_id="other"))
    assert Turn.objects.count() == 1


def test_messages_of_two_chats_with_one_number_are_two(door) -> None:
    make_allow_entry(user_id="8")
    door.receive(door.message(message_id="5"), door.message(message_id="5", chat_id="8"))
    assert Turn.objects.count() == 2


def test_a_long_batch_is_taken_in_whole_and_in_order(door) -> None:
    events = [door.message(str(number)) for number in range(35)]
    deeds = door.receive(*events, cursor="end")
    assert list(Turn.objects.order_by("pk").values_list("prompt", flat=True)) == [
        str(number) for number in range(35)
    ]
    assert len(typed(deeds)) == 35
    assert Account.objects.get().cursor == "end"


def test_a_quiet_batch_moves_the_cursor(door) -> None:
    door.receive(cursor="c77")
    assert Account.objects.get().cursor == "c77"


def test_a_message_with_nothing_in_it_begins_nothing(door) -> None:
    assert door.say("  ").decision == "ignored"
    assert not Turn.objects.exists()


def test_a_file_is_named_to_the_agent(door) -> None:
    row = door.say("Look", attachments=(PHOTO,))
    assert row.turn.prompt == "Look\n[photo: a.jpg]"
    assert row.attachments[0]["file_id"] == "f1"


# --- who may speak


@pytest.mark.proves("A7")
def test_a_stranger_is_told_once_an_hour(door) -> None:
    stranger = {"user_id": "9", "chat_id": "9"}
    for _ in range(3):
        assert door.say(**stranger).decision == "denied"
    assert len(said()) == 1
    assert "`9`" in said()[0]
    door.clock.advance(3601)
    door.say("again", **stranger)
    assert len(said()) == 2
    assert AuditEvent.objects.filter(action="access.denied").count() == 2
    assert not Turn.objects.exists()


@pytest.mark.proves("A2")
def test_a_stranger_in_a_group_is_passed_over_in_silence(door) -> None:
    row = door.say(
        user_id="9", chat_id="-5", chat_type=ChatType.GROUP, mentions_bot=True, text="/status"
    )
    assert row.decision == "denied"
    assert said() == []


@pytest.mark.proves("A1")
@pytest.mark.parametrize("text", ["/stop", "/status", "2", "/nonsense"])
def test_a_stranger_can_do_nothing_at_all(door, text) -> None:
    prompt = door.asked()
    assert door.say(text, user_id="9", chat_id="9").decision == "denied"
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("A4")
def test_whoever_takes_a_known_name_is_still_a_stranger(door) -> None:
    assert door.say("/status", user_id="666", chat_id="666", user_name="Ada").decision == "denied"


@pytest.mark.proves("A2")
def test_access_withdrawn_counts_from_the_next_message(door) -> None:
    door.say()
    AllowEntry.objects.all().delete()
    assert door.say().decision == "denied"


@pytest.mark.proves("A3", "Q15")
def test_a_bot_is_never_answered(door) -> None:
    prompt = door.asked()
    row = door.say("2", is_bot=True)
    assert (row.decision, row.reason) == ("ignored", "a bot said it")
    assert fresh(prompt).state == "pending"


# --- groups

GROUP = {"chat_type": ChatType.GROUP, "chat_id": "-5"}


@pytest.mark.proves("A2")
def test_a_group_message_that_does_not_mention_us_is_passed_over(door) -> None:
    assert door.say(**GROUP).decision == "ignored"
    assert door.say(**GROUP, mentions_bot=True).decision == "turn"


@pytest.mark.proves("Q27")
def test_an_answer_in_a_group_needs_no_mention(door) -> None:
    turn = door.say("Deploy it", **GROUP, mentions_bot=True).turn
    prompt = door.asked(turn)
    assert door.say("2", **GROUP).decision == "answer"
    assert fresh(prompt).answers == {"answer": ["Production"]}


def test_another_member_of_the_group_answers_nothing(door) -> None:
    make_allow_entry(user_id="8")
    prompt = door.asked(door.say("Deploy it", **GROUP, mentions_bot=True).turn)
    assert door.say("2", **GROUP, user_id="8").decision == "ignored"
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q27")
def test_an_answer_in_another_thread_is_an_ordinary_message(door) -> None:
    here = GROUP | {"thread_id": "7"}
    prompt = door.asked(door.say("Deploy it", **here, mentions_bot=True).turn)
    assert door.say("1", **GROUP, thread_id="8", mentions_bot=True).decision == "turn"
    assert fresh(prompt).state == "pending"
    assert door.say("1", **here).decision == "answer"


# --- commands


@pytest.mark.proves("T5")
@pytest.mark.parametrize("text", ["/help", "/STATUS", "/whoami@bot", "/stop"])
def test_a_command_is_answered_and_begins_no_turn(door, text) -> None:
    assert door.say(text).decision == "command"
    assert len(said()) == 1
    assert Obligation.objects.get().priority == 0
    assert not Turn.objects.exists()


def test_a_mistyped_command_is_answered_with_the_nearest(door) -> None:
    assert door.say("/stpo").decision == "command"
    assert "/stop" in said()[0]


def test_a_mistyped_command_in_a_group_is_not_ours_unless_it_says_so(door) -> None:
    assert door.say("/stpo", **GROUP).decision == "ignored"
    assert door.say("/stpo", **GROUP, mentions_bot=True).decision == "command"


def test_a_command_for_another_bot_is_passed_over(door) -> None:
    assert door.say("/new@other", **GROUP, command_for_other=True).decision == "ignored"
    assert said() == []


def test_a_path_is_no_command(door) -> None:
    assert door.say("/etc/hosts is broken").decision == "turn"


@pytest.mark.proves("Q4", "T4")
def test_stop_reaches_a_turn_that_waits_and_closes_its_question(door) -> None:
    prompt = door.asked()
    assert door.say("/stop").decision == "command"
    assert fresh(prompt).state == "cancelled"
    assert Turn.objects.get().state == "stopped"
    assert said() == ["⏹ Stopped."]
    assert door.say("/stop").decision == "command"
    assert said()[-1] == "Nothing is running."


@pytest.mark.proves("S4")
def test_new_begins_another_session_and_stops_the_old(door) -> None:
    first = door.say("A").turn
    door.say("/new")
    second = door.say("B").turn
    assert fresh(first).state == "stopped"
    assert first.session_id != second.session_id
    assert second.state == "queued"


def test_skip_declines_the_open_question(door) -> None:
    prompt = door.asked()
    door.say("/skip")
    assert fresh(prompt).state == "skipped"
    assert Turn.objects.get().state == "ready"
    door.say("/skip")
    assert "no open question" in said()[-1]


def test_status_tells_what_runs_and_waits(door) -> None:
    first = door.say("first").turn
    door.say("next")
    door.asked(first)
    door.say("/status")
    assert "waiting for an answer" in said()[-1]
    assert "in the queue" in said()[-1]


# --- answers


@pytest.mark.proves("Q9")
@pytest.mark.parametrize("text", ["2", "production"])
def test_an_answer_goes_to_the_turn_that_asked_and_begins_none(door, text) -> None:
    prompt = door.asked()
    event = door.message(text)
    (deed,) = door.receive(event)
    row = InboundEvent.objects.get(event_id=event.event_id)
    assert (row.decision, row.prompt_id, row.turn) == ("answer", prompt.pk, None)
    assert fresh(prompt).state == "answered"
    assert Turn.objects.get().state == "ready"
    assert deed == StartTyping(event.source.address, Turn.objects.get().pk)
    assert said() == []


@pytest.mark.proves("Q9")
def test_an_answer_does_not_wait_behind_what_was_said_before(door) -> None:
    prompt = door.asked()
    Turn.objects.filter(state="waiting").update(state="running")
    door.say("hm, on my own cluster")
    assert fresh(prompt).state == "answered"


@pytest.mark.proves("Q12")
def test_a_wrong_number_gets_a_hint_and_the_next_one_counts(door) -> None:
    prompt = door.asked()
    assert door.say("9").decision == "hint"
    assert len(said()) == 1
    assert fresh(prompt).state == "pending"
    assert door.say("2").decision == "answer"


@pytest.mark.proves("Q13")
def test_half_an_answer_is_kept_and_the_rest_asked_for(door) -> None:
    prompt = door.asked(question_set=several_questions())
    assert door.say("1: staging").decision == "answer"
    assert "Question 2 of 2" in fresh(prompt).obligation.content
    assert prompt.state == "pending"
    assert door.say("1").decision == "answer"
    assert fresh(prompt).state == "answered"


@pytest.mark.proves("Q28")
def test_the_same_word_may_answer_two_questions(door) -> None:
    turn = door.say("Deploy it").turn
    one, two = door.asked(turn), door.asked(turn, delivered=False)
    door.say("2")
    ledger_settle(fresh(two))
    door.say("2")
    assert (fresh(one).state, fresh(two).state) == ("answered", "answered")


def ledger_settle(prompt: Prompt) -> None:
    from tests.factories import settle

    settle(prompt.obligation)


@pytest.mark.proves("Q23")
def test_a_quoted_question_is_the_one_that_is_answered(door) -> None:
    turn = door.say("Deploy it").turn
    one = door.asked(turn)
    two = door.asked(turn)
    with transaction.atomic():
        showing.show(two, door.clock())
    ledger_settle(fresh(two))
    (message_id,) = ledger.message_ids(two.obligation_id)
    door.say("1", reply_to=message_id)
    assert (fresh(one).state, fresh(two).state) == ("pending", "answered")


def test_skip_that_quotes_a_question_declines_that_one(door) -> None:
    turn = door.say("Deploy it").turn
    one, two = door.asked(turn), door.asked(turn)
    with transaction.atomic():
        showing.show(two, door.clock())
    ledger_settle(fresh(two))
    (message_id,) = ledger.message_ids(two.obligation_id)
    assert door.say("/skip", reply_to=message_id).prompt_id == two.pk
    assert (fresh(one).state, fresh(two).state) == ("pending", "skipped")


def test_a_closed_question_that_is_quoted_answers_no_other(door) -> None:
    turn = door.say("Deploy it").turn
    old, new = door.asked(turn), door.asked(turn)
    door.say("1")
    ledger_settle(fresh(new))
    (message_id,) = ledger.message_ids(fresh(old).obligation_id)
    assert door.say("2", reply_to=message_id).decision == "closed"
    assert fresh(new).state == "pending"
    assert "Staging" in said()[-1]


def test_a_question_not_yet_on_the_screen_swallows_nothing(door) -> None:
    door.asked(delivered=False)
    assert door.say("what is the weather").decision == "turn"


@pytest.mark.proves("Q25")
def test_a_file_answers_nothing_and_the_person_is_reminded(door) -> None:
    prompt = door.asked()
    for text in ("", "2"):
        row = door.say(text, attachments=(PHOTO,))
        assert row.decision == "turn"
        assert "Where should it go?" in said()[-1]
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q26")
def test_zero_width_text_is_no_answer(door) -> None:
    prompt = door.asked()
    door.say("\u200b")
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q20")
def test_a_late_answer_is_told_so_and_begins_no_turn(door) -> None:
    prompt = door.asked()
    door.clock.advance(700)
    questions.expire_overdue(now=door.clock())
    row = door.say("2")
    assert (row.decision, row.prompt_id) == ("closed", prompt.pk)
    assert "closed" in said()[0]
    assert Turn.objects.count() == 1


@pytest.mark.proves("Q20")
def test_an_ordinary_message_after_a_closed_question_is_one(door) -> None:
    door.asked()
    door.clock.advance(700)
    questions.expire_overdue(now=door.clock())
    assert door.say("Use 2 servers, please").decision == "turn"


@pytest.mark.proves("Q20")
def test_a_number_long_after_the_question_was_closed_is_an_ordinary_message(door) -> None:
    door.asked()
    door.say("1")
    door.clock.advance(601)
    assert door.say("2").decision == "turn"


@pytest.mark.proves("Q24")
def test_plain_words_approve_nothing(door) -> None:
    turn = door.say("Delete it").turn
    prompt = door.asked(turn, kind="approval")
    assert door.say("yes").decision == "turn"
    assert fresh(prompt).state == "pending"


# --- old news, edits, other events


@pytest.mark.proves("S6")
def test_a_message_a_day_old_gets_one_line_instead_of_a_turn(door) -> None:
    long_ago = door.clock() - timedelta(hours=25)
    assert door.say("Hello?", sent_at=long_ago).decision == "ignored"
    assert len(said()) == 1
    assert not Turn.objects.exists()
    assert door.say("Hello?", sent_at=door.clock() - timedelta(hours=23)).decision == "turn"


def edit(door, row, text, **changes) -> InboundEvent:
    door.number += 1
    event = EditedMessage(
        source=door.source(message_id=row.message_id, **changes),
        event_id=f"u{door.number}",
        text=text,
    )
    door.receive(event)
    return InboundEvent.objects.get(event_id=event.event_id)


@pytest.mark.proves("Q25")
def test_an_edit_of_a_message_that_waits_changes_what_is_asked(door) -> None:
    row = door.say("delete A")
    assert edit(door, row, "delete B").decision == "edited"
    assert Turn.objects.get().prompt == "delete B"
    assert fresh(row).text == "delete B"


@pytest.mark.parametrize("state", ["running", "finished", "waiting", "stopped"])
def test_an_edit_of_a_message_that_was_handled_changes_nothing(door, state) -> None:
    row = door.say("delete A")
    Turn.objects.update(state=state)
    assert edit(door, row, "delete B").decision == "ignored"
    assert Turn.objects.get().prompt == "delete A"


@pytest.mark.proves("Q25")
def test_an_edit_of_an_answer_changes_nothing(door) -> None:
    prompt = door.asked()
    row = door.say("1")
    assert edit(door, row, "2").decision == "ignored"
    assert fresh(prompt).answers == {"answer": ["Staging"]}


def test_an_event_that_is_not_for_us_leaves_a_row_with_the_reason(door) -> None:
    door.receive(Ignored(event_id="u1", reason="a sticker was pinned"))
    row = InboundEvent.objects.get()
    assert (row.decision, row.reason) == ("ignored", "a sticker was pinned")


def test_being_blocked_and_unblocked_is_remembered(door) -> None:
    source = door.source()
    door.receive(Membership(source=source, event_id="u1", is_member=False))
    assert destinations.is_dead(source.address)
    door.receive(Membership(source=source, event_id="u2", is_member=True))
    assert not destinations.is_dead(source.address)


def test_a_chat_that_speaks_is_open_to_us_again(door) -> None:
    source = door.source()
    destinations.bury(source.address, reason="blocked", now=door.clock())
    door.say("hello")
    assert not destinations.is_dead(source.address)


# --- a chat with a new id


def move(door, event_id="m1") -> None:
    door.receive(
        ChatMoved(
            platform="telegram",
            account="telegram",
            event_id=event_id,
            old_chat_id="-5",
            new_chat_id="-1005",
        )
    )


MOVED = {"chat_type": ChatType.GROUP, "chat_id": "-1005"}


def test_a_chat_with_a_new_id_keeps_its_conversation(door) -> None:
    before = door.say("A", **GROUP, mentions_bot=True).turn
    move(door)
    after = door.say("B", **MOVED, mentions_bot=True).turn
    assert before.conversation_id == after.conversation_id
    assert after.conversation.address.chat_id == "-1005"


def test_a_question_of_a_chat_with_a_new_id_can_still_be_answered(door) -> None:
    prompt = door.asked(door.say("A", **GROUP, mentions_bot=True).turn)
    other = door.asked(door.say("B", **GROUP, thread_id="3", mentions_bot=True).turn)
    move(door)
    assert door.say("2", **MOVED).decision == "answer"
    assert fresh(prompt).state == "answered"
    (ack, _typing) = door.receive(
        door.press(buttons.button_data(other.token, "p0.0"), **MOVED, thread_id="3")
    )
    assert isinstance(ack, AckPress)
    assert fresh(other).state == "answered"


def test_what_is_owed_to_a_chat_with_a_new_id_goes_there(door) -> None:
    conversation = door.say("A", **GROUP, mentions_bot=True).conversation
    owed = make_obligation(conversation, now=door.clock())
    move(door)
    fresh(owed)
    conversation.refresh_from_db()
    assert owed.destination == conversation.address
    assert owed.lane == conversation.address.lane
    assert owed.conversation_key == conversation.key


def test_a_chat_with_a_new_id_is_still_allowed(door) -> None:
    make_allow_entry(user_id="", chat_id="-5")
    move(door)
    assert door.say(**MOVED, user_id="9", mentions_bot=True).decision == "turn"


def test_moving_twice_changes_nothing_more(door) -> None:
    door.say("A", **GROUP, mentions_bot=True)
    move(door)
    before = list(Conversation.objects.values())
    move(door, "m2")
    assert list(Conversation.objects.values()) == before


@pytest.mark.proves("S3")
def test_a_conversation_already_begun_under_the_new_id_is_not_mixed_with_the_old(door) -> None:
    old = door.say("A", **GROUP, mentions_bot=True).conversation
    new = door.say("B", **MOVED, mentions_bot=True).conversation
    move(door)
    assert Conversation.objects.count() == 2
    assert fresh(old).key != fresh(new).key


# --- presses


@pytest.mark.proves("P3", "Q14")
def test_a_press_answers_and_is_acknowledged(door) -> None:
    prompt = door.asked()
    event = door.press(buttons.button_data(prompt.token, "p0.1"))
    deeds = door.receive(event)
    assert acknowledged(deeds).press == event
    assert not acknowledged(deeds).alert
    assert StartTyping(event.source.address, Turn.objects.get().pk) in deeds
    assert fresh(prompt).answers == {"answer": ["Production"]}
    assert InboundEvent.objects.get(event_id=event.event_id).decision == "answer"


def test_other_is_acknowledged_with_what_to_do(door) -> None:
    prompt = door.asked()
    ack = acknowledged(door.receive(door.press(buttons.button_data(prompt.token, "o0.0"))))
    assert not ack.alert
    assert ack.text
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q15")
@pytest.mark.parametrize(
    ("change", "decision"),
    [
        ({"user_id": "8"}, "denied"),  # may speak, but was not asked
        ({"user_id": "9"}, "denied"),  # may not even speak
        ({"chat_id": "-6"}, "ignored"),  # pressed in another chat
        ({"data": "q:forged:0"}, "ignored"),
        ({"data": ""}, "ignored"),
        ({"data": "q:{token}:²"}, "ignored"),
        ({"data": "q:{token}:7"}, "ignored"),
    ],
)
def test_a_press_that_may_not_be_is_acknowledged_and_changes_nothing(
    door, change, decision
) -> None:
    make_allow_entry(user_id="8")
    prompt = door.asked(door.say("A", **GROUP, mentions_bot=True).turn)
    facts = GROUP | {"data": "q:{token}:0"} | change
    event = door.press(facts.pop("data").replace("{token}", prompt.token), **facts)
    ack = acknowledged(door.receive(event))
    assert ack.text
    assert ack.alert
    assert fresh(prompt).state == "pending"
    assert InboundEvent.objects.get(event_id=event.event_id).decision == decision


def test_a_late_press_is_acknowledged_with_what_became_of_the_question(door) -> None:
    prompt = door.asked()
    door.say("1")
    event = door.press(buttons.button_data(prompt.token, "p0.1"))
    ack = acknowledged(door.receive(event))
    assert "Staging" in ack.text
    assert InboundEvent.objects.get(event_id=event.event_id).decision == "closed"
    assert fresh(prompt).answers == {"answer": ["Staging"]}


def test_the_same_press_twice_counts_once(door) -> None:
    prompt = door.asked()
    event = door.press(buttons.button_data(prompt.token, "p0.1"))
    door.receive(event)
    assert door.receive(event) == []


# --- trouble


def break_commands(monkeypatch) -> None:
    def fail(given):
        raise RuntimeError("a bug")

    monkeypatch.setitem(handlers.HANDLERS, "status", fail)


def test_an_event_that_cannot_be_handled_is_kept_and_passed_by(door, monkeypatch) -> None:
    break_commands(monkeypatch)
    events = [door.message("A"), door.message("/status"), door.message("B")]
    deeds = door.receive(*events, cursor="c9")
    rows = InboundEvent.objects.order_by("pk").values_list("decision", flat=True)
    assert list(rows) == ["turn", "poison", "turn"]
    assert "RuntimeError" in InboundEvent.objects.get(decision="poison").reason
    assert len(typed(deeds)) == 2
    assert Account.objects.get().cursor == "c9"
    assert door.receive(*events) == []


def test_a_press_that_cannot_be_handled_is_acknowledged_all_the_same(door, monkeypatch) -> None:
    def fail(*_args, **_kwargs):
        raise RuntimeError("a bug")

    monkeypatch.setattr(questions, "press", fail)
    event = door.press("q:x:0")
    assert acknowledged(door.receive(event)).press == event


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "a\x00b"},
        {"text": "x", "user_name": "A\x00da"},
        {"text": "x", "attachments": (replace(PHOTO, name="a\x00"),)},
        {"text": "x", "user_name": "\ud800"},
    ],
)
def test_an_event_that_cannot_even_be_stored_stops_nothing(door, changes) -> None:
    event, after = door.message(**changes), door.message("after")
    door.receive(event, after, cursor="c9")
    assert InboundEvent.objects.filter(event_id=event.event_id).exists()
    assert InboundEvent.objects.get(event_id=after.event_id).decision == "turn"
    assert Account.objects.get().cursor == "c9"


@pytest.mark.proves("P2")
def test_a_process_that_lost_the_account_stores_nothing(door, clock) -> None:
    events = [door.message("A"), door.message("B")]
    take_lease("host/200/2", clock=clock)
    with pytest.raises(LeaseLost):
        door.receive(*events)
    assert not InboundEvent.objects.exists()
    assert Account.objects.get().cursor == ""


@pytest.mark.proves("S7")
@pytest.mark.django_db(transaction=True)
def test_one_event_received_by_two_at_once_is_taken_in_once(clock) -> None:
    door = Door(clock)
    door.say("so that there is a conversation")
    for _ in range(4):
        event = door.message()
        race(*[lambda e=event: intake.take("telegram", e, now=clock())] * 3)
    assert Turn.objects.count() == 5
    assert InboundEvent.objects.count() == 5


@pytest.mark.django_db(transaction=True)
def test_two_first_messages_of_a_chat_at_once_open_one_conversation(clock) -> None:
    door = Door(clock)
    events = [door.message(text) for text in "AB"]
    results = race(*[lambda e=e: intake.take("telegram", e, now=clock()) for e in events])
    assert not [result for result in results if isinstance(result, Exception)]
    assert Conversation.objects.count() == 1
    assert Turn.objects.count() == 2
    assert Conversation.objects.get().sessions.count() == 1
