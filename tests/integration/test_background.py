"""[T6]: tasks beside a conversation; [T11]: work that nobody waits for has bounds of its own."""

from datetime import UTC, datetime, timedelta

import pytest

from delivery.models import Kind, Obligation
from gateway import barring, instructions, turns
from gateway.conf import gateway_settings
from gateway.models import AllowEntry, TranscriptEntry, Turn
from gateway.schedules import background, chat
from gateway.schedules.chat import Wish
from gateway.schedules.models import BackgroundTask
from tests.factories import make_answerer, make_conversation, make_turn
from tests.integration.scheduling import LANE, end, let_in, make_asker

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
BY = make_answerer()


@pytest.fixture(autouse=True)
def _ada():
    let_in("7")


def wish(words: str, **changes) -> Wish:
    return Wish(words, make_asker(**changes), BY, NOON)


def begin(words: str = "find out when the last train goes", **changes) -> BackgroundTask:
    return background.start(words, make_asker(**changes), now=NOON)


@pytest.mark.proves("T6")
def test_the_result_of_a_task_comes_back_to_the_lane_that_asked_and_into_no_history():
    chat_of_ada = make_conversation(chat_id="7", now=NOON)
    task = begin(anchor="41")

    end(task.turn, "At 23:14.", now=NOON)

    owed = Obligation.objects.get()
    assert (owed.kind, owed.destination.lane, owed.reply_to) == (Kind.BACKGROUND, LANE.lane, "41")
    assert owed.content == f"🧵 **Task {task.pk}**\n\nAt 23:14."
    assert owed.conversation_key != chat_of_ada.key
    assert not TranscriptEntry.objects.filter(session__conversation=chat_of_ada).exists()


@pytest.mark.proves("T6")
def test_a_task_goes_on_while_the_chat_does_other_things_and_a_stop_of_the_chat_spares_it():
    chat_of_ada = make_conversation(chat_id="7", now=NOON)
    in_front = make_turn(chat_of_ada, now=NOON)
    task = begin()

    for turn in (in_front, task.turn):
        claimed = turns.claim(turn.conversation_id, "host/1/1", now=NOON, capacity=9)
        assert claimed == turn
    turns.stop(chat_of_ada, by=BY, now=NOON)

    states = dict(Turn.objects.values_list("pk", "state"))
    assert states == {in_front.pk: "stopped", task.turn.pk: "running"}


@pytest.mark.proves("T6")
def test_a_failed_task_is_told_in_the_lane_that_asked():
    task = begin()

    end(task.turn, now=NOON, as_failed=True)

    owed = Obligation.objects.get()
    assert (owed.kind, owed.destination.lane) == (Kind.ERROR, LANE.lane)
    assert owed.content.startswith(f"🧵 **Task {task.pk}**")


@pytest.mark.proves("T6")
def test_tasks_are_begun_listed_and_ended_in_a_chat():
    said = chat.start(wish("find out *when* the last train goes"))
    task = BackgroundTask.objects.get()

    assert f"`/tasks stop {task.pk}`" in said
    assert rf"`{task.pk}` waits for its turn: find out \*when\*" in chat.tasks(wish(""))
    assert "is ended" in chat.tasks(wish(f"stop {task.pk}"))
    assert f"`{task.pk}` stopped" in chat.tasks(wish("list"))
    assert "no task" in chat.tasks(wish(f"stop {task.pk}"))
    assert not Obligation.objects.exists()


def test_nobody_ends_or_sees_the_tasks_of_others():
    task = begin()

    assert "no task" in chat.tasks(wish(f"stop {task.pk}", id="8"))
    assert "No tasks" in chat.tasks(wish("", id="8"))

    task.turn.refresh_from_db()
    assert task.turn.state == "queued"


def test_all_tasks_are_ended_at_once():
    begin()
    begin()

    assert chat.tasks(wish("stop all")) == "⏹ Tasks ended: 2."


@pytest.mark.parametrize(
    ("words", "told"),
    [("stop", "by its number"), ("stop x", "by its number"), ("frobnicate", "Say `/tasks`")],
)
def test_what_cannot_be_done_is_told_with_what_can(words, told):
    assert told in chat.tasks(wish(words))


@pytest.mark.proves("T6")
def test_one_person_has_a_few_tasks_at_once_and_not_more():
    for _ in range(gateway_settings().unattended.background_each):
        begin()

    assert "that is the most" in chat.start(wish("and another"))
    assert "works in the background" in chat.start(wish("one of mine", id="8"))


def test_a_task_without_words_is_refused():
    assert "Say what to do" in chat.start(wish("  "))


@pytest.mark.proves("A8", "T6")
def test_the_task_of_somebody_who_was_shut_out_does_not_begin():
    task = begin()
    AllowEntry.objects.all().delete()

    barring.bar_next(task.conversation.pk, now=NOON)

    task.turn.refresh_from_db()
    assert task.turn.state == "stopped"


@pytest.mark.proves("Q16")
def test_a_task_has_no_tool_that_asks_or_needs_an_approval(settings):
    settings.GATEWAY = {**settings.GATEWAY, "SHELL_TOOL": True}

    offered = instructions.tools_for(begin().turn)

    assert {"send_message", "current_time"} <= offered
    assert not offered & {"clarify", "ask_user", "shell", "pretend_delete", "schedule"}


@pytest.mark.proves("Q16", "T10")
def test_a_task_is_told_that_nobody_can_be_asked():
    context = instructions.context_of(begin().turn)

    briefed = instructions.for_turn(context)

    assert "nobody can be asked" in briefed
    assert "a task in the background" in briefed
    assert context.platform == "telegram"


@pytest.mark.proves("T11")
def test_full_tasks_leave_room_for_chats_and_full_chats_for_tasks():
    settings = gateway_settings().unattended
    for number in range(settings.max_background):
        make_turn(make_conversation(chat_type="background", chat_id=f"b{number}"), state="running")
    in_front, task = make_turn(now=NOON), begin()

    assert turns.claim(task.conversation.pk, "host/1/1", now=NOON, capacity=1) is None
    assert turns.claim(in_front.conversation_id, "host/1/1", now=NOON, capacity=1) == in_front

    Turn.objects.filter(conversation__chat_type="background", state="running").update(
        state="finished"
    )
    assert turns.claim(task.conversation.pk, "host/1/1", now=NOON, capacity=1) == task.turn


@pytest.mark.proves("T11")
def test_the_sweep_wakes_tasks_although_the_chats_are_full():
    make_turn(state="running")
    task = begin()
    Turn.objects.filter(pk=task.turn.pk).update(woken_at=NOON - timedelta(minutes=1))

    assert turns.wake_overlooked(now=NOON, capacity=1) == 1


@pytest.mark.proves("T11")
def test_tasks_and_jobs_have_limits_of_time_of_their_own(settings):
    settings.GATEWAY = {
        **settings.GATEWAY,
        "TURN_TIME_LIMIT": timedelta(seconds=1),
        "UNATTENDED": {
            "BACKGROUND_TIME_LIMIT": timedelta(seconds=2),
            "CRON_TIME_LIMIT": timedelta(seconds=3),
        },
    }

    limits = [
        gateway_settings().time_limit_of(kind).seconds for kind in ("dm", "background", "cron")
    ]

    assert limits == [1, 2, 3]
