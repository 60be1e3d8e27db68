"""[A8]: whoever is shut out while their turn waits hears no more of it, and staff read why."""

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from clarify.models import Prompt
from delivery.models import Obligation
from gateway import barring, staff, tasks, tracing, turns
from gateway.explaining import explain
from gateway.models import AllowEntry, AuditEvent, Turn
from gateway.roles import Role
from tests import factories
from tests.fakes.clock import FakeClock
from tests.integration.door import Door, fresh, said
from tests.integration.viewing import chat_of, make_user, say

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def door(clock: FakeClock) -> Door:
    return Door(clock)


def shut_out(door: Door) -> None:
    staff.disallow(AllowEntry.objects.get(), actor="boss", now=door.clock())


def vanish() -> None:
    """The entry goes, and nobody is told: as by a statement at the database."""
    AllowEntry.objects.all().delete()


@pytest.mark.proves("A8")
@pytest.mark.parametrize("state", ["queued", "ready", "running", "waiting"])
def test_what_is_open_of_a_person_ends_when_they_are_taken_off_the_list(door, state) -> None:
    turn = door.say("Deploy it, please").turn
    Turn.objects.filter(pk=turn.pk).update(state=state)

    shut_out(door)

    turn = fresh(turn)
    assert turn.state == "stopped"
    assert turn.detail == "the person may not speak any more: not on the allowlist"
    row = AuditEvent.objects.get(action="turn.barred")
    assert (row.subject, row.detail["person"]) == (f"turn:{turn.pk}", "telegram:7")


@pytest.mark.proves("A8", "A2")
def test_their_open_questions_are_withdrawn(door) -> None:
    prompt = door.asked()

    shut_out(door)

    prompt = fresh(prompt)
    assert (prompt.state, prompt.reason) == ("cancelled", "the person may not speak any more")
    assert fresh(door_turn(prompt)).state == "stopped"


def door_turn(prompt: Prompt) -> Turn:
    return Turn.objects.get(pk=int(prompt.correlation))


@pytest.mark.proves("A8")
def test_a_turn_is_looked_at_again_when_a_worker_would_take_it_up(door) -> None:
    turn = door.say("Deploy it, please").turn
    vanish()

    tasks.run_turns(conversation=turn.conversation_id)

    assert fresh(turn).state == "stopped"
    assert fresh(turn).started_at is None
    assert said() == []


@pytest.mark.proves("A8")
def test_a_run_that_waited_does_not_go_on_though_it_has_its_answer(door) -> None:
    prompt = door.asked()
    door.say("1")
    turn = door_turn(prompt)
    assert turn.state == "ready"
    vanish()

    tasks.run_turns(conversation=turn.conversation_id)

    assert fresh(turn).state == "stopped"


@pytest.mark.proves("A8")
def test_nothing_more_is_said_to_whoever_is_shut_out(door) -> None:
    door.say("Deploy it, please")
    before = Obligation.objects.count()

    shut_out(door)

    assert Obligation.objects.count() == before


@pytest.mark.proves("A8")
def test_explain_says_why_a_turn_did_not_go_on(door) -> None:
    turn = door.say("Deploy it, please").turn
    shut_out(door)

    told = explain(tracing.trace(f"turn:{turn.pk}", now=door.clock()))

    assert "may not speak any more: not on the allowlist" in told.held.says
    assert "may not speak any more: not on the allowlist" in told.as_text()


def test_the_next_person_of_a_shared_thread_is_served(door) -> None:
    factories.make_allow_entry(user_id="8", role=Role.MEMBER)
    here = {"chat_id": "-5", "chat_type": "group", "thread_id": "3", "mentions_bot": True}
    from gateway.messages import ChatType

    here["chat_type"] = ChatType.GROUP
    first, second = door.say("one", **here).turn, door.say("two", **here, user_id="8").turn
    assert first.conversation_id == second.conversation_id
    AllowEntry.objects.filter(user_id="7").delete()

    assert barring.bar_next(first.conversation_id, now=door.clock()) == 1

    claimed = turns.claim(second.conversation_id, "host/1/1", now=door.clock(), capacity=9)
    assert claimed == second


def test_whoever_is_let_in_by_another_entry_goes_on(door) -> None:
    turn = door.say("Deploy it, please").turn
    factories.make_allow_entry(user_id="7", chat_id="7")

    staff.disallow(AllowEntry.objects.get(chat_id=""), actor="boss", now=door.clock())

    assert fresh(turn).state == "queued"


def test_whoever_becomes_a_viewer_goes_on_with_nothing(door) -> None:
    turn = door.say("Deploy it, please").turn
    entry = AllowEntry.objects.get()
    entry.role = Role.VIEWER

    staff.allow(entry, actor="boss", now=door.clock())

    assert fresh(turn).detail == "the person may not speak any more: they are only viewer by now"


def test_an_entry_for_a_chat_that_goes_shuts_out_who_spoke_by_it(door) -> None:
    from gateway.messages import ChatType

    entry = factories.make_allow_entry(user_id="", chat_id="-5")
    here = {"chat_id": "-5", "chat_type": ChatType.GROUP, "mentions_bot": True}
    mine, theirs = door.say("one", **here).turn, door.say("two", **here, user_id="9").turn

    staff.disallow(entry, actor="boss", now=door.clock())

    assert (fresh(mine).state, fresh(theirs).state) == ("queued", "stopped")


def test_a_stable_id_lets_a_turn_go_on(door) -> None:
    factories.make_allow_entry(user_id="uuid")
    turn = door.say("one", user_id="+49", user_id_alt="uuid", chat_id="+49").turn

    assert barring.sweep(now=door.clock()) == 0
    assert fresh(turn).state == "queued"


@pytest.mark.proves("A8")
def test_a_login_that_is_disabled_ends_what_waits_in_the_control_ui() -> None:
    viewer = make_user("ada")
    conversation = chat_of(viewer)
    say(viewer, conversation)
    get_user_model().objects.filter(pk=viewer.pk).update(is_active=False)

    assert barring.sweep(now=timezone.now()) == 1

    assert "their login on this site is disabled" in Turn.objects.get().detail


def test_what_nobody_asked_for_by_a_message_is_left_alone() -> None:
    turn = factories.make_turn(sender_id="")

    assert barring.sweep(now=timezone.now()) == 0
    assert fresh(turn).state == "queued"
