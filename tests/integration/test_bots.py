"""[A3]: bots are passed over, unless an entry names one; and then they never talk without end."""

import pytest

from gateway.messages import ChatType
from gateway.models import Account, AllowEntry, AuditEvent, Turn
from tests.factories import make_allow_entry
from tests.fakes.clock import FakeClock
from tests.integration.door import Door, fresh, said

pytestmark = pytest.mark.django_db(transaction=True)

GROUP = {"chat_id": "-5", "chat_type": ChatType.GROUP, "mentions_bot": True}
BOT = {"user_id": "99", "is_bot": True, **GROUP}


@pytest.fixture
def door(clock: FakeClock) -> Door:
    return Door(clock)


@pytest.fixture
def known(door: Door) -> AllowEntry:
    return make_allow_entry(user_id="99", is_for_bot=True)


@pytest.mark.proves("A3")
@pytest.mark.parametrize(
    "entry",
    [
        {"user_id": "99"},  # written for a person
        {"user_id": "", "chat_id": "-5"},  # for everybody in the chat
        {"user_id": "", "chat_id": "-5", "is_for_bot": True},
    ],
)
def test_no_entry_that_is_not_for_this_bot_lets_it_speak(door, entry) -> None:
    make_allow_entry(**entry)
    assert door.say(**BOT).decision == "ignored"


@pytest.mark.proves("A3")
def test_an_open_installation_is_open_to_people(door, settings) -> None:
    settings.GATEWAY = settings.GATEWAY | {"ALLOW_ALL_USERS": True}
    row = door.say(**BOT)
    assert (row.decision, row.reason) == ("ignored", "a bot said it")
    assert said() == []


@pytest.mark.proves("A3")
def test_a_bot_that_is_named_begins_turns(door, known) -> None:
    turn = door.say("The build is red", **BOT).turn
    assert turn.is_bots


@pytest.mark.proves("A3")
def test_bots_begin_three_turns_in_a_row_until_a_person_speaks(door, known) -> None:
    decisions = [door.say("ping", **BOT).decision for _ in range(5)]
    assert decisions == ["turn"] * 3 + ["ignored"] * 2
    row = AuditEvent.objects.get(action="access.denied")
    assert (row.detail["what"], row.times) == ("bot", 2)

    door.say("Carry on", **(GROUP | {"user_id": "7"}))

    assert door.say("ping", **BOT).decision == "turn"


def test_two_bots_are_counted_together(door, known) -> None:
    make_allow_entry(user_id="98", is_for_bot=True)
    decisions = [
        door.say("ping", **(BOT | {"user_id": str(98 + number % 2)})).decision
        for number in range(4)
    ]
    assert decisions == ["turn", "turn", "turn", "ignored"]


def test_after_an_hour_a_bot_may_speak_again(door, known) -> None:
    for _ in range(4):
        door.say("ping", **BOT)
    door.clock.advance(3601)
    assert door.say("ping", **BOT).decision == "turn"


@pytest.mark.proves("A3")
def test_the_account_itself_is_never_let_in(door, known) -> None:
    Account.objects.update(bot_id="99")
    assert door.say(**BOT).decision == "ignored"


@pytest.mark.proves("A3", "Q15")
def test_a_bot_that_may_speak_gives_no_commands_and_answers_nothing(door, known) -> None:
    prompt = door.asked()
    assert door.say("/stop", **BOT).decision == "ignored"
    door.say("1", **(BOT | {"chat_id": "7", "chat_type": ChatType.DM}))
    assert fresh(prompt).state == "pending"
    assert Turn.objects.filter(state="stopped").count() == 0


def test_what_a_bot_says_to_others_is_passed_over(door, known) -> None:
    assert door.say(**(BOT | {"mentions_bot": False})).decision == "ignored"
