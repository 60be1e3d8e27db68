"""[T2]: what becomes of a message that comes while a turn is open."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway import platforms, queue, turns, upkeep
from gateway.deeds import ShowHeard
from gateway.messages import ChatType, EditedMessage
from gateway.models import ChatPolicy, Turn
from gateway.states import TurnState
from tests.factories import make_allow_entry
from tests.integration.commanding import run
from tests.integration.door import PHOTO, Door, fresh, said
from tests.integration.paces import claim, end

pytestmark = pytest.mark.django_db
GROUP = {"chat_type": ChatType.GROUP, "chat_id": "-5", "mentions_bot": True}


@pytest.fixture
def door(db, clock):
    return Door(clock)


def set_mode(mode, **place):
    ChatPolicy.objects.create(busy=mode, **place)


def begun(door, text="first"):
    """A turn that runs."""
    return claim(door.say(text).turn, door.clock)


def queued() -> list[str]:
    return list(Turn.objects.filter(state="queued").order_by("pk").values_list("prompt", flat=True))


@pytest.fixture
def wordy(monkeypatch):
    """A platform on which a message cannot bear a sign."""
    able = replace(platforms.get("telegram").capabilities, reactions=False)
    monkeypatch.setattr(platforms.get("telegram"), "capabilities", able)


@pytest.mark.proves("T2")
def test_by_itself_each_message_is_a_turn_of_its_own_in_order(door, wordy) -> None:
    begun(door)
    door.say("second")
    door.say("third")
    assert queued() == ["second", "third"]


@pytest.mark.proves("T2")
def test_whoever_has_waited_for_a_moment_is_told_once_what_for(door, wordy) -> None:
    begun(door)
    door.say("second")
    door.say("third")
    upkeep.tick(now=door.clock())
    assert said() == []
    for _ in range(2):
        door.clock.advance(3)
        upkeep.tick(now=door.clock())
    assert said() == ["⏳ Queued; it comes next.", "⏳ Queued; 2 are before it."]


def test_whoever_says_queue_is_told_at_once_and_not_again(door, wordy) -> None:
    begun(door)
    door.say("/queue second")
    assert said() == ["⏳ Queued; it comes next."]
    door.clock.advance(3)
    upkeep.tick(now=door.clock())
    assert len(said()) == 1


@pytest.mark.proves("T2")
@pytest.mark.parametrize("mode", ["queue", "collect"])
def test_where_messages_bear_signs_waiting_is_shown_by_one_and_not_told(door, mode) -> None:
    set_mode(mode)
    first = door.message("first")
    assert not any(isinstance(deed, ShowHeard) for deed in door.receive(first))
    waiting = [door.message("second"), door.message("third")]
    signs = [deed for deed in door.receive(*waiting) if isinstance(deed, ShowHeard)]
    assert [sign.message_id for sign in signs] == [each.source.message_id for each in waiting]
    assert {sign.address.chat_id for sign in signs} == {"7"}
    assert said() == []


@pytest.mark.proves("T2")
def test_what_is_collected_is_one_next_turn_with_every_word(door, wordy) -> None:
    set_mode("collect")
    begun(door)
    rows = [door.say("second"), door.say("third"), door.say("fourth")]
    assert queued() == ["second\n\nthird\n\nfourth"]
    assert len({row.turn_id for row in rows}) == 1
    assert said()[-1].startswith("➕")


@pytest.mark.proves("T2")
def test_what_others_say_is_never_put_into_somebodys_turn(door) -> None:
    set_mode("collect")
    ChatPolicy.objects.create(account="telegram", chat_id="-5", groups="shared")

    make_allow_entry(user_id="8")
    claim(door.say("first", **GROUP).turn, door.clock)
    door.say("Ada's", **GROUP)
    door.say("Mel's", **GROUP, user_id="8")
    door.say("Ada's again", **GROUP)
    assert queued() == ["Ada's", "Mel's", "Ada's again"]


@pytest.mark.proves("T2")
@pytest.mark.parametrize("mode", ["steer", "interrupt"])
def test_nobody_steers_or_interrupts_the_turn_of_somebody_else(door, mode) -> None:

    ChatPolicy.objects.create(account="telegram", chat_id="-5", groups="shared", busy=mode)
    make_allow_entry(user_id="8")
    running = claim(door.say("first", **GROUP).turn, door.clock)
    theirs = door.say("Mel's", **GROUP, user_id="8").turn
    assert fresh(running).state == "running"
    assert (theirs.state, theirs.may_join) == ("queued", False)


@pytest.mark.proves("T2")
def test_an_interrupting_message_stops_the_turn_and_comes_next(door) -> None:
    set_mode("interrupt")
    running = begun(door)
    after = door.say("no, this").turn
    assert fresh(running).state == "stopped"
    assert claim(after, door.clock).prompt == "no, this"
    assert said() == ["⏹ Stopped; this comes first now."]


def test_an_interrupting_message_leaves_what_is_queued_where_it_is(door) -> None:
    begun(door)
    door.say("/queue later")
    set_mode("interrupt")
    door.say("now")
    assert queued() == ["later", "now"]


@pytest.mark.proves("T2")
def test_a_steering_message_that_came_too_late_is_simply_next(door) -> None:
    set_mode("steer")
    running = begun(door)
    late = door.say("the other one").turn
    end(running, door.clock)
    assert claim(late, door.clock).prompt == "the other one"


@pytest.mark.proves("T2")
def test_a_turn_takes_in_what_steers_it_in_the_transaction_that_stores_the_words(door) -> None:
    set_mode("steer")
    running = begun(door)
    steering = door.say("the other one").turn
    assert [one.pk for one in turns.joinable(running, now=door.clock())] == [steering.pk]
    end(running, door.clock, joined=[steering.pk])
    steering = fresh(steering)
    assert (steering.state, steering.joined_id) == (TurnState.JOINED, running.pk)
    assert claim(running, door.clock) is None


@pytest.mark.proves("T2")
def test_files_that_are_on_their_way_are_not_given_to_a_turn_yet(door) -> None:
    set_mode("steer")
    running = begun(door)
    door.say("see this", attachments=(PHOTO,))
    assert turns.joinable(running, now=door.clock()) == []


def test_the_commands_say_how_whatever_the_chat_usually_does(door) -> None:
    set_mode("collect")
    begun(door)
    one, other = door.say("/queue a").turn, door.say("/queue b").turn
    assert one.pk != other.pk
    assert door.say("/steer c").turn.may_join
    assert queued() == ["a", "b", "c"]


def test_a_command_without_words_says_how_it_is_used(door) -> None:
    door.say("/queue")
    door.say("/steer ")
    assert all("/queue" in words or "/steer" in words for words in said())
    assert queued() == []


def test_steering_where_nothing_runs_is_said_like_anything_else(door) -> None:
    assert door.say("/steer go left").turn.prompt == "go left"
    assert said() == []


def test_a_command_in_a_group_queues_for_that_conversation(door) -> None:
    assert door.say("/queue a", **GROUP).turn.conversation.chat_id == "-5"


# --- one message in pieces

LONG = "word " * 819 + "."  # 4096 characters, as much as one message of the platform holds
NEARLY = "word " * 800


@pytest.mark.proves("T2")
def test_pieces_of_one_long_message_are_one_turn(door) -> None:
    rows = [door.say(NEARLY), door.say(NEARLY), door.say("the end")]
    assert {row.turn_id for row in rows} == {rows[0].turn_id}
    assert fresh(rows[0].turn).prompt == f"{NEARLY}\n{NEARLY}\nthe end"
    assert claim(rows[0].turn, door.clock) is not None


@pytest.mark.proves("T2")
def test_a_message_cut_in_the_middle_of_a_word_is_put_together_again(door) -> None:
    turn = door.say("a" * 4096).turn
    door.say("b" * 10)
    assert fresh(turn).prompt == "a" * 4096 + "b" * 10


@pytest.mark.proves("T2")
def test_a_turn_waits_for_the_rest_of_its_message_and_no_longer(door) -> None:
    turn = door.say(LONG).turn
    assert claim(turn, door.clock) is None
    door.clock.advance(1.6)
    assert claim(turn, door.clock) is not None


def test_an_ordinary_message_is_not_waited_for(door) -> None:
    assert door.say("Hello").turn.gathers_until is None


def test_whoever_kept_silent_for_a_while_says_something_new(door) -> None:
    first = door.say(LONG).turn
    door.clock.advance(1)
    later = door.say("and this", sent_at=door.clock() + timedelta(minutes=10))
    assert later.turn_id != first.pk


def test_pieces_come_from_one_person_in_one_conversation(door) -> None:

    make_allow_entry(user_id="8")
    ChatPolicy.objects.create(account="telegram", chat_id="-5", groups="shared")
    first = door.say(LONG, **GROUP).turn
    assert door.say("mine", **GROUP, user_id="8").turn_id != first.pk
    assert door.say("in another place", chat_id="7").turn_id != first.pk


def test_a_command_is_no_piece_of_the_message_before_it(door) -> None:
    turn = door.say(LONG).turn
    assert door.say("/stop").decision == "command"
    assert fresh(turn).state == "stopped"


def test_in_a_group_only_the_first_piece_carries_the_mention(door) -> None:
    turn = door.say(NEARLY, **GROUP).turn
    rest = door.say("the end", **(GROUP | {"mentions_bot": False}))
    assert rest.turn_id == turn.pk


@pytest.mark.proves("T2")
def test_the_sweep_wakes_whoever_waited_for_more_of_a_message(door, monkeypatch) -> None:
    """The process that took it in may be gone; its row says when it is due."""

    woken = []
    monkeypatch.setattr(queue, "send_run_turns", woken.append)
    turn = door.say(LONG).turn
    turns.wake_overlooked(now=door.clock(), capacity=9)
    assert woken == []
    door.clock.advance(4)
    upkeep.tick(now=door.clock())
    assert woken == [turn.conversation_id]


# --- edits


@pytest.mark.proves("Q25")
def test_an_edited_message_keeps_its_files_and_what_was_collected_with_it(door) -> None:

    set_mode("collect")
    begun(door)
    first = door.say("one", attachments=(PHOTO,), message_id="901")
    door.say("two")
    edit = EditedMessage(source=door.source(message_id="901"), event_id="e1", text="ONE")
    door.receive(edit)
    assert fresh(first.turn).prompt == "ONE\n[photo: a.jpg]\ntwo"


def test_explain_says_which_turn_took_a_message_in(door) -> None:
    set_mode("steer")
    running = begun(door)
    steering = door.say("the other one").turn
    end(running, door.clock, joined=[steering.pk])

    told = run("explain", f"turn:{steering.pk}")

    assert f"was given to turn:{running.pk}" in told
