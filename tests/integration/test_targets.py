"""[T8]: what the agent sends elsewhere, and what it schedules for the person it speaks with."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from delivery import destinations
from delivery.models import Kind, Obligation
from gateway import effects, instructions
from gateway.models import AuditEvent
from gateway.schedules.models import Job, Place, Run
from tests.factories import make_account, make_conversation, make_tool_call, make_turn
from tests.integration.scheduling import let_in, make_asker, make_job, make_place

pytestmark = pytest.mark.django_db


@pytest.fixture
def turn():
    """Ada speaks in her private chat."""
    let_in("7")
    return make_turn(make_conversation(chat_id="7"), sender_id="7")


def carry_out(turn, name: str, **payload):
    return effects.of(turn)(name, {"call_id": "call1", **payload})


def send(turn, target: str = "ops", text: str = "The build is red.", call_id: str = "call1"):
    return effects.of(turn)("send_message", {"target": target, "text": text, "call_id": call_id})


@pytest.mark.proves("T8")
def test_a_message_to_a_permitted_target_is_owed_and_noted(turn):
    make_place("ops", chat_id="-100", thread_id="5")

    done = send(turn)

    owed = Obligation.objects.get()
    assert (owed.kind, owed.destination.chat_id, owed.destination.thread_id) == (
        Kind.CROSS,
        "-100",
        "5",
    )
    assert (owed.content, owed.correlation) == ("The build is red.", turn.correlation)
    assert owed.delivery_id[:12] in done["owed"]
    assert AuditEvent.objects.get(action="message.sent").subject == f"turn:{turn.pk}"


@pytest.mark.proves("T8")
def test_the_same_call_carried_out_again_sends_nothing_more(turn):
    make_place("ops")

    first, again = send(turn), send(turn)
    send(turn, call_id="call2")

    assert first == again
    assert Obligation.objects.count() == 2


@pytest.mark.proves("T8")
@pytest.mark.parametrize("target", ["nowhere", "closed", "secret", "-100", "telegram:-100", "me2"])
def test_what_is_not_permitted_is_refused_with_what_is(turn, target):
    make_place("ops")
    make_place("closed", is_enabled=False, chat_id="-101")
    make_place("secret", only_for="telegram:8\nconsole:u1", chat_id="-102")

    refused = send(turn, target)

    assert refused == {"error": f"There is no target “{target}” for you. There are: `here`, `ops`."}
    assert not Obligation.objects.exists()


@pytest.mark.proves("T8")
def test_a_target_may_be_for_some_people_only(turn):
    make_place("secret", only_for="telegram:8\ntelegram:7")

    assert "owed" in send(turn, "secret")


@pytest.mark.proves("T8")
def test_from_a_group_a_person_has_things_sent_to_their_own_private_chat():
    let_in("7")
    group = make_turn(make_conversation(chat_type="group", chat_id="-9"), sender_id="7")
    assert "no private chat" in send(group, "me")["error"]
    make_turn(make_conversation(chat_id="77"), sender_id="7")
    make_turn(make_conversation(chat_id="88"), sender_id="8")

    send(group, "me")

    assert Obligation.objects.get().destination.chat_id == "77"


@pytest.mark.proves("T8")
def test_things_are_sent_to_the_home_channel_if_there_is_one(turn):
    assert "No home channel" in send(turn, "home")["error"]
    make_account("second", options={"home_channel": "-200"})
    there = make_turn(make_conversation(account="second", chat_id="7"), sender_id="7")

    send(there, "home")

    assert Obligation.objects.get().destination.chat_id == "-200"


@pytest.mark.parametrize(("text", "why"), [(" ", "empty"), ("x" * 20_001, "too long")])
def test_what_cannot_be_sent_is_refused(turn, text, why):
    make_place("ops")

    assert why in send(turn, text=text)["error"]


def test_one_turn_floods_nobody(turn):
    make_place("ops")
    for number in range(20):
        assert "owed" in send(turn, text=f"{number}", call_id=f"call{number}")

    assert "that is the most" in send(turn, text="more", call_id="more")["error"]
    assert Obligation.objects.count() == 20


@pytest.mark.proves("T10")
def test_the_agent_is_told_where_it_may_send(turn):
    make_place("ops")
    make_place("closed", is_enabled=False)

    context = instructions.context_of(turn)

    assert context.targets == ("ops",)
    assert 'you may also send to: "ops"' in instructions.for_turn(context)


# --- the tool `schedule` --------------------------------------------------------------------------


def schedule(turn, action: str, **payload):
    return carry_out(turn, "schedule", action=action, **payload)


@pytest.mark.proves("C1")
def test_the_agent_makes_lists_and_cancels_jobs_of_the_person_it_speaks_with(turn):
    made = schedule(turn, "create", when="every 2h", prompt="look at the mail")
    job = Job.objects.get()

    assert (job.person, job.asked_at) == ("telegram:7", turn.conversation.place)
    assert made["job"] == job.pk
    assert schedule(turn, "list")["jobs"] == [made]
    assert schedule(turn, "cancel", job=job.pk) == {"cancelled": made}
    assert not Job.objects.exists()


@pytest.mark.proves("C1")
def test_a_call_that_is_carried_out_again_makes_no_second_job(turn):
    first = schedule(turn, "create", when="every 2h", prompt="look")
    again = schedule(turn, "create", when="every 2h", prompt="look")

    assert first == again
    assert Job.objects.count() == 1


@pytest.mark.parametrize(
    ("action", "payload", "why"),
    [
        ("create", {"when": "soon", "prompt": "look"}, "cannot find a time"),
        ("create", {"when": "every 2h", "prompt": ""}, "what is to be done"),
        ("create", {"when": "every 2h", "prompt": "x", "target": "mars"}, "no target"),
        ("cancel", {"job": 999}, "no job 999"),
        ("cancel", {"job": "three"}, "the number of a job"),
        ("explode", {}, "create, list or cancel"),
    ],
)
def test_what_the_agent_cannot_schedule_is_told_to_it(turn, action, payload, why):
    assert why in schedule(turn, action, **payload)["error"]
    assert not Job.objects.exists()


def test_the_agent_touches_no_jobs_of_others(turn):
    others = make_job(now=timezone.now(), asker=make_asker(id="8"))

    assert "no job" in schedule(turn, "cancel", job=others.pk)["error"]
    assert schedule(turn, "list") == {"jobs": []}


def test_one_turn_makes_a_few_jobs_and_not_more(turn):
    for number in range(5):
        payload = {"when": "every 2h", "prompt": f"look {number}", "call_id": f"c{number}"}
        assert "job" in schedule(turn, "create", **payload)

    refused = schedule(turn, "create", when="every 2h", prompt="more", call_id="c9")

    assert "that is the most" in refused["error"]


# --- commands -------------------------------------------------------------------------------------


def manage(capsys, *arguments: str) -> str:
    call_command(*arguments)
    return capsys.readouterr().out


def test_targets_are_added_listed_and_removed_by_command(turn, capsys):
    assert "may be sent to" in manage(capsys, "targets", "add", "Ops", "telegram", "-100")
    assert "ops" in manage(capsys, "targets", "list")
    assert "not be sent to" in manage(capsys, "targets", "remove", "ops")
    assert not Place.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("add", "ops", "nobody", "-100"), "no account"),
        (("add", "home", "telegram", "-100"), "something else already"),
        (("add", "o p s", "telegram", "-100"), "valid"),
        (("remove", "mars"), "no target"),
    ],
)
def test_a_target_that_cannot_be_is_refused_by_the_command(turn, arguments, why):
    with pytest.raises(CommandError, match=why):
        call_command("targets", *arguments)


def test_a_target_that_jobs_send_to_stays(turn):
    make_place("ops")
    make_job("--to ops every 2h look", now=timezone.now())

    with pytest.raises(CommandError, match="Jobs send to ops"):
        call_command("targets", "remove", "ops")


@pytest.mark.proves("C1", "I3")
def test_jobs_are_made_shown_run_paused_resumed_and_removed_by_command(turn, capsys):
    make_place("ops")
    made = manage(capsys, "cron", "add", "daily at 9:00", "Say hello", "--to", "ops")
    number = str(Job.objects.get().pk)

    assert f"Job {number} (Say hello): 0 9 * * * (UTC)." in made
    assert "to ops" in manage(capsys, "cron", "list")
    running = manage(capsys, "cron", "run", number)
    turn_id = Run.objects.get().turn_id
    assert f"manage.py explain turn:{turn_id}" in running
    assert f"turn {turn_id} is queued" in manage(capsys, "explain", f"turn:{turn_id}")
    assert str(Run.objects.get().turn_id) in manage(capsys, "cron", "show", number)
    assert "Paused" in manage(capsys, "cron", "pause", number)
    assert "next on" in manage(capsys, "cron", "resume", number)
    assert "Removed" in manage(capsys, "cron", "remove", number)
    assert "no jobs" in manage(capsys, "cron", "list")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("add", "soon", "look"), "cannot find a time"),
        (("add", "every 2h", ""), "what is to be done"),
        (("add", "every 2h", "look", "--to", "mars"), "no permitted target"),
        (("add", "every 2h", "look", "--to", "home:nobody"), "home channel"),
        (("add", "daily at 9:00", "look", "--time-zone", "Mars/Olympus"), "time zone"),
        (("pause", "999"), "no job 999"),
    ],
)
def test_what_a_command_cannot_do_is_told_in_one_sentence(turn, arguments, why):
    with pytest.raises(CommandError, match=why):
        call_command("cron", *arguments)


# --- what cannot be sent is not tried for ever (B079)


def fail(turn, number: int, target: str, **result) -> None:
    """The agent has called the tool, and this came of it."""
    result = {"value": result or {"error": "There is no target of that name."}}
    make_tool_call(
        turn,
        name="send_message",
        call_id=f"c{number}",
        arguments={"target": target, "text": "x"},
        result=result,
    )


def test_after_three_refusals_in_a_row_the_agent_is_told_to_let_it_be(turn):
    make_place("ops", chat_id="-100")
    for number in range(3):
        assert not send(turn).get("error", "").startswith("permanent_failure")
        fail(turn, number, "ops")
    before = Obligation.objects.count()
    assert send(turn, text="once more", call_id="c9")["error"].startswith("permanent_failure: ops")
    assert Obligation.objects.count() == before


def test_other_targets_and_other_turns_are_not_affected(turn):
    make_place("ops", chat_id="-100")
    for number in range(3):
        fail(turn, number, "nowhere")
    assert "owed" in send(turn, "ops")
    assert "owed" in send(make_turn(turn.conversation, sender_id="7"), "ops", call_id="call2")


def test_a_success_in_between_begins_the_count_anew(turn):
    make_place("ops", chat_id="-100")
    for number, result in enumerate([{}, {}, {"owed": "It is on its way."}, {}, {}]):
        fail(turn, number, "ops", **result)
    assert "owed" in send(turn)


def test_a_chat_that_is_closed_to_us_is_said_to_be_so_and_nothing_is_owed(turn):
    place = make_place("ops", chat_id="-100")
    destinations.bury(place.address, reason="kicked", now=timezone.now())
    assert "closed" in send(turn)["error"]
    assert not Obligation.objects.exists()
