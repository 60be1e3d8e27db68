"""[A6], [A7]: what each role may, how a refusal reads, and what the audit log keeps of denials."""

import pytest

from clarify.risks import RiskLevel
from gateway import barring, commands
from gateway.messages import ChatType
from gateway.models import AllowEntry, AuditEvent, Turn
from gateway.roles import Role
from tests.factories import make_allow_entry
from tests.fakes.clock import FakeClock
from tests.integration.door import Door, acknowledged, fresh, said

pytestmark = pytest.mark.django_db(transaction=True)

GROUP = {"chat_id": "-5", "chat_type": ChatType.GROUP}
READING = ["/help", "/status", "/whoami"]


@pytest.fixture
def door(clock: FakeClock) -> Door:
    return Door(clock)


def become(role: Role, **changes) -> None:
    AllowEntry.objects.filter(user_id="7").update(role=role, **changes)


@pytest.mark.proves("A6")
@pytest.mark.parametrize("text", READING)
def test_a_viewer_reads_how_things_stand(door, text) -> None:
    become(Role.VIEWER)
    assert door.say(text).decision == "command"


@pytest.mark.proves("A6")
@pytest.mark.parametrize("text", ["/new", "/NEW", "/new@hermes_bot", "/reset", "/stop", "/cancel"])
def test_a_viewer_gives_no_other_command_however_it_is_written(door, text) -> None:
    become(Role.VIEWER)

    row = door.say(text)

    assert row.decision == "denied"
    assert "takes the role “member”" in said()[-1]
    assert "Here you are a viewer" in said()[-1]
    assert "can grant it" in said()[-1]


@pytest.mark.proves("A6")
def test_every_command_but_those_for_reading_and_for_oneself_takes_a_member() -> None:
    open_to_viewers = {spec.name for spec in commands.COMMANDS if spec.role is Role.VIEWER}
    assert open_to_viewers <= {"help", "status", "whoami", "pair", "link", "unlink", "usage"}


@pytest.mark.proves("A6")
def test_a_viewer_begins_no_turn_and_is_told_once_an_hour(door) -> None:
    become(Role.VIEWER)

    rows = [door.say("Deploy it, please") for _ in range(3)]

    assert [row.decision for row in rows] == ["denied"] * 3
    assert len(said()) == 1
    assert "can grant it" in said()[0]
    assert not Turn.objects.exists()


@pytest.mark.proves("A6")
def test_a_viewer_answers_nothing_by_text_or_button(door) -> None:
    prompt = door.asked()
    become(Role.VIEWER)

    assert door.say("1").decision == "denied"
    ack = acknowledged(door.receive(door.press(f"c:{prompt.token}:0")))

    assert ack.alert
    assert fresh(prompt).state == "pending"


def test_what_a_viewer_says_to_others_in_a_group_is_passed_over(door) -> None:
    become(Role.VIEWER)
    assert door.say("Hello, all", **GROUP).decision == "ignored"
    assert said() == []


def test_what_a_viewer_had_said_is_not_changed_afterwards(door) -> None:
    from gateway.messages import EditedMessage

    row = door.say("Deploy it, please")
    become(Role.VIEWER)
    source = door.source(message_id=row.message_id)
    door.receive(EditedMessage(source=source, event_id="e1", text="Drop it all"))
    assert fresh(row).text == "Deploy it, please"


@pytest.mark.proves("A6")
def test_an_approver_and_an_admin_may_what_a_member_may(door) -> None:
    for role in (Role.MEMBER, Role.APPROVER, Role.ADMIN):
        become(role)
        assert door.say("Hello").decision == "turn"
        assert door.say("/new").decision == "command"


@pytest.mark.proves("A1")
def test_an_entry_for_some_commands_gives_these_alone(door) -> None:
    become(Role.MEMBER, commands="status stop")

    assert door.say("/status").decision == "command"
    assert door.say("/cancel").decision == "command"  # an alias is the same command
    assert door.say("/new").decision == "denied"
    assert door.say("Hello").decision == "denied"


@pytest.mark.proves("A1")
def test_an_entry_for_one_place_gives_more_there(door) -> None:
    become(Role.VIEWER)
    make_allow_entry(user_id="7", chat_id="-5", role=Role.MEMBER)

    assert door.say("Hello", **GROUP, mentions_bot=True).decision == "turn"
    assert door.say("Hello").decision == "denied"


@pytest.mark.proves("A1")
@pytest.mark.parametrize(("most", "is_refused"), [("", False), ("high", False), ("medium", True)])
def test_the_agent_does_for_a_person_what_their_entry_lets_it(door, most, is_refused) -> None:
    become(Role.MEMBER, tools_up_to=most)
    turn = door.say("Delete it").turn

    refusal = barring.refuses(turn, RiskLevel.HIGH)

    assert bool(refusal) is is_refused
    assert not is_refused or "only what is of medium risk or less" in refusal


# --- what the audit log keeps of it


def denials() -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(action="access.denied").order_by("pk"))


@pytest.mark.proves("A7")
def test_what_is_denied_again_within_the_hour_is_counted_in_one_row(door) -> None:
    for _ in range(25):
        door.clock.advance(1)
        door.say(user_id="9", chat_id="9")

    (row,) = denials()
    assert (row.times, row.last_at) == (25, door.clock())
    door.clock.advance(3600)
    door.say(user_id="9", chat_id="9")
    assert [row.times for row in denials()] == [25, 1]


@pytest.mark.proves("A7")
def test_a_denial_in_a_group_has_its_row(door) -> None:
    door.say("/status", user_id="9", **GROUP)

    (row,) = denials()
    assert (row.subject, row.detail["chat"], row.detail["what"]) == ("telegram:9", "-5", "message")
    assert row.detail["reason"] == "not on the allowlist"


@pytest.mark.proves("A7")
def test_a_press_that_is_denied_has_its_row(door) -> None:
    prompt = door.asked()
    for _ in range(3):
        door.receive(door.press(f"c:{prompt.token}:0", user_id="9"))

    (row,) = denials()
    assert (row.subject, row.detail["what"], row.times) == ("telegram:9", "press", 3)


@pytest.mark.proves("A7", "A6")
def test_a_command_beyond_a_role_has_its_row(door) -> None:
    become(Role.VIEWER)
    door.say("/new")
    door.say("/reset")

    (row,) = denials()
    assert (row.detail["what"], row.times) == ("/new", 2)
    assert row.detail["reason"] == "/new needs the role member"


def test_two_people_and_two_places_have_rows_of_their_own(door) -> None:
    door.say(user_id="9", chat_id="9")
    door.say(user_id="9", **GROUP)
    door.say(user_id="10", **GROUP)
    assert [(row.subject, row.detail["chat"]) for row in denials()] == [
        ("telegram:9", "9"),
        ("telegram:9", "-5"),
        ("telegram:10", "-5"),
    ]
