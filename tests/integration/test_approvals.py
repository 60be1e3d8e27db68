"""[Q19], [Q19b], [Q24]: a dangerous operation waits for somebody who may approve it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from clarify import buttons, questions
from clarify.approvals import Ruling
from clarify.errors import NotYours
from clarify.models import Permit, Prompt
from clarify.presenting import escape
from clarify.questions import Answerer, Effect
from clarify.risks import FULL_AUTHORITY, Authority, RiskLevel
from clarify.states import Event
from delivery.models import Kind, Obligation
from gateway.messages import ChatType
from gateway.models import AllowEntry, AuditEvent, InboundEvent, ToolCall, Turn
from tests.factories import make_allow_entry, make_approval
from tests.integration.door import Door, acknowledged, fresh, said
from tests.integration.racing import race

ADA = Answerer(id="7", name="Ada", surface="telegram", authority=Authority(own=RiskLevel.HIGH))
EVE = Answerer(id="666", name="Eve", surface="telegram", authority=Authority(own=RiskLevel.HIGH))
CHIEF = Answerer(id="1", name="Chief", surface="telegram", authority=FULL_AUTHORITY)
pytestmark = pytest.mark.django_db


@pytest.fixture
def door(db, clock) -> Door:
    return Door(clock)


def asked(door, turn=None, **changes) -> Prompt:
    """The agent wants to do something dangerous for the person at the door."""
    if turn is None:
        turn = door.say("Clean up, please").turn
    Turn.objects.filter(pk=turn.pk).update(state="waiting")
    turn.refresh_from_db()
    return make_approval(turn, now=door.clock(), **changes)


def call_of(prompt: Prompt) -> ToolCall:
    return ToolCall.objects.get(turn=int(prompt.correlation), call_id=prompt.call_id)


def is_open(prompt: Prompt) -> bool:
    return fresh(prompt).state == "pending"


# --- asking


def test_the_message_shows_the_operation_and_has_buttons(door) -> None:
    prompt = asked(door)
    assert "delete build" in prompt.obligation.content
    assert f"#{prompt.pk}" in prompt.obligation.content
    labels = [b.label for row in prompt.obligation.native_controls.rows for b in row]
    assert labels == ["✅ Approve once", "✋ Deny", "Approve for this session"]
    assert prompt.obligation.kind == Kind.APPROVAL


def test_two_approvals_are_shown_at_once(door) -> None:
    one = asked(door)
    two = make_approval(one_turn(one), now=door.clock())
    assert two.obligation is not None


def one_turn(prompt: Prompt) -> Turn:
    return Turn.objects.get(pk=int(prompt.correlation))


# --- commands


@pytest.mark.proves("Q19")
def test_approve_goes_past_the_turn_that_waits(door) -> None:
    prompt = asked(door)
    assert door.say("/approve").decision == "command"
    assert fresh(prompt).answers["decision"] == ["approved"]
    assert call_of(prompt).state == "permitted"
    assert one_turn(prompt).state == "ready"


@pytest.mark.proves("Q19")
def test_deny_tells_the_agent_why(door) -> None:
    prompt = asked(door)
    door.say(f"/deny {prompt.pk} wrong server")
    assert fresh(prompt).answers == {
        "decision": ["denied"],
        "reach": ["once"],
        "reason": ["wrong server"],
    }
    result = call_of(prompt).result["value"]
    assert (result["status"], result["reason"]) == ("denied", "wrong server")
    assert one_turn(prompt).state == "ready"


def test_a_number_says_which(door) -> None:
    one = asked(door)
    two = make_approval(one_turn(one), now=door.clock())
    door.say(f"/approve #{two.pk}")
    assert is_open(one)
    assert call_of(two).state == "permitted"
    assert one_turn(one).state == "waiting"


@pytest.mark.proves("Q24")
def test_bare_approve_with_several_approves_nothing_and_lists_them(door) -> None:
    one = asked(door)
    two = make_approval(one_turn(one), now=door.clock())
    door.say("/approve")
    assert is_open(one)
    assert is_open(two)
    assert f"#{one.pk}" in said()[-1]
    assert f"#{two.pk}" in said()[-1]


@pytest.mark.parametrize("words", ["/approve now please", "/approve 9999999", "/approve 0"])
def test_a_command_that_names_no_approval_approves_nothing(door, words) -> None:
    prompt = asked(door)
    door.say(words)
    assert is_open(prompt)
    assert said()


def test_an_approval_of_another_chat_is_unknown_here(door) -> None:
    make_allow_entry(user_id="8")
    prompt = asked(door)
    door.say(f"/approve {prompt.pk}", user_id="8", chat_id="8")
    assert is_open(prompt)


def test_approve_for_the_session_gives_a_permit(door) -> None:
    prompt = asked(door)
    door.say(f"/approve {prompt.pk} session")
    permit = Permit.objects.get()
    assert permit.session == str(one_turn(prompt).session_id)
    assert permit.expires_at == door.clock() + timedelta(hours=1)


def test_a_reach_that_was_not_offered_approves_nothing(door) -> None:
    prompt = asked(door)
    door.say(f"/approve {prompt.pk} always")
    assert is_open(prompt)
    assert not Permit.objects.exists()


# --- buttons


def press(door, prompt, choice="a1", **changes):
    return acknowledged(
        door.receive(door.press(buttons.button_data(prompt.token, choice), **changes))
    )


def test_a_button_approves_and_the_message_says_so(door) -> None:
    prompt = asked(door)
    ack = press(door, prompt)
    assert ack.text == "Approved"
    assert not ack.alert
    closing = Obligation.objects.get(kind=Kind.RETIRE)
    assert "Approved by Ada" in closing.content
    assert "delete build" in closing.content


def test_a_late_press_approves_nothing_and_says_what_happened(door) -> None:
    prompt = asked(door)
    questions.resolve(prompt, Event.EXPIRE, now=door.clock(), reason="expired")
    ack = press(door, prompt)
    assert ack.alert
    assert "nobody decided in time" in ack.text
    assert call_of(prompt).state == "done"


def test_a_second_press_changes_nothing(door) -> None:
    prompt = asked(door)
    press(door, prompt, "d1")
    ack = press(door, prompt, "a1")
    assert ack.alert
    assert "Denied by Ada" in ack.text
    assert fresh(prompt).answers["decision"] == ["denied"]


@pytest.mark.parametrize("choice", ["aa", "p0.0", "o0.0", "s0.0", "", "x"])
def test_a_button_that_was_not_there_approves_nothing(door, choice) -> None:
    prompt = asked(door)
    press(door, prompt, choice)
    assert is_open(prompt)


# --- who


@pytest.mark.proves("Q19b")
def test_a_stranger_can_neither_approve_nor_deny(door) -> None:
    make_allow_entry(user_id="8")
    prompt = asked(
        door, door.say("A", chat_id="-5", chat_type=ChatType.GROUP, mentions_bot=True).turn
    )
    for choice in ("a1", "d1"):
        press(door, prompt, choice, user_id="8", chat_id="-5", chat_type=ChatType.GROUP)
    assert is_open(prompt)


@pytest.mark.proves("Q19b")
def test_an_approver_decides_for_others(door) -> None:
    make_allow_entry(user_id="8", role="approver")
    group = {"chat_id": "-5", "chat_type": ChatType.GROUP}
    prompt = asked(door, door.say("A", mentions_bot=True, **group).turn)
    door.say(f"/approve {prompt.pk}", user_id="8", user_name="Bo", **group)
    assert fresh(prompt).answers["decision"] == ["approved"]
    assert fresh(prompt).resolved_by == "Bo"


@pytest.mark.proves("Q19b")
def test_the_risk_bounds_who_may_approve(door) -> None:  # B038
    prompt = asked(door, level=RiskLevel.CRITICAL, lasts={})
    ack = press(door, prompt)
    assert ack.alert
    assert "critical" in ack.text
    assert "allowlist" in ack.text
    assert is_open(prompt)
    press(door, prompt, "d1")  # refusing is always allowed
    assert fresh(prompt).answers["decision"] == ["denied"]


def test_an_entry_may_raise_or_lower_what_a_person_approves(door) -> None:
    prompt = asked(door)
    AllowEntry.objects.update(approves_up_to="low")
    press(door, prompt)
    assert is_open(prompt)
    AllowEntry.objects.update(approves_up_to="critical")
    press(door, prompt)
    assert not is_open(prompt)


def test_somebody_whom_an_open_platform_lets_in_approves_nothing(door, settings) -> None:
    prompt = asked(door)
    AllowEntry.objects.all().delete()
    settings.GATEWAY = {**settings.GATEWAY, "ALLOW_ALL_USERS": True}
    press(door, prompt)
    assert is_open(prompt)


@pytest.mark.proves("S1")
def test_the_same_id_on_another_platform_is_somebody_else(door) -> None:
    prompt = asked(door)
    with pytest.raises(NotYours):
        questions.rule(prompt, Ruling(True), replace(ADA, surface="discord"), now=door.clock())


# --- words


@pytest.mark.proves("Q24")
def test_plain_words_approve_nothing(door) -> None:  # B019, B029
    prompt = asked(door)
    assert door.say("yes").decision == "turn"
    assert is_open(prompt)


@pytest.mark.proves("Q24")
@pytest.mark.parametrize(
    ("words", "decision"), [("yes", "approved"), ("no, wrong server", "denied")]
)
def test_words_that_quote_the_message_decide(door, words, decision) -> None:
    prompt = asked(door)
    message_id = prompt.obligation.parts.get().message_id
    assert door.say(words, reply_to=message_id).decision == "answer"
    assert fresh(prompt).answers["decision"] == [decision]


def test_unclear_words_that_quote_it_get_a_hint(door) -> None:
    prompt = asked(door)
    message_id = prompt.obligation.parts.get().message_id
    assert door.say("what does it do?", reply_to=message_id).decision == "hint"
    assert is_open(prompt)
    assert f"/approve {prompt.pk}" in said()[-1]


def test_a_quoting_yes_of_somebody_who_may_not_approve_is_told_so(door) -> None:
    prompt = asked(door, level=RiskLevel.CRITICAL, lasts={})
    message_id = prompt.obligation.parts.get().message_id
    event = door.say("yes", reply_to=message_id)
    assert event.decision == "denied"
    assert "critical" in said()[-1]
    assert is_open(prompt)


# --- once


@pytest.mark.django_db(transaction=True)
@pytest.mark.proves("Q1")
def test_of_many_at_once_one_decides(door) -> None:
    prompt = asked(door)
    rulings = [Ruling(True), Ruling(False), Ruling(True), Ruling(False)]
    outcomes = race(
        *[lambda r=ruling: questions.rule(prompt, r, CHIEF, now=door.clock()) for ruling in rulings]
    )
    effects = [outcome.effect for outcome in outcomes]
    assert effects.count(Effect.RESOLVED) == 1
    assert effects.count(Effect.TOO_LATE) == 3


def test_stop_closes_it_and_late_approvals_run_nothing(door) -> None:
    prompt = asked(door)
    door.say("/stop")
    assert fresh(prompt).state == "cancelled"
    door.say(f"/approve {prompt.pk}")
    assert "cancelled" in said()[-1]
    assert call_of(prompt).state == "done"


@pytest.mark.proves("A7")
@pytest.mark.parametrize("choice", ["a1", "d1"])
def test_each_decision_has_its_audit_row(door, choice) -> None:
    prompt = asked(door)
    press(door, prompt, choice)
    row = AuditEvent.objects.get(action__startswith="approval.")
    assert row.actor == "telegram:7"
    assert row.detail["digest"] == prompt.operation["digest"]


def test_what_was_said_is_kept_for_staff(door) -> None:
    prompt = asked(door)
    press(door, prompt, "a1", user_id="7")
    assert [reply.outcome for reply in prompt.replies.all()] == ["resolved"]
    assert InboundEvent.objects.filter(decision="answer").exists()


# --- in a group


@pytest.mark.proves("Q19b")
def test_an_approver_may_say_yes_to_the_message_of_somebody_elses_turn(door) -> None:
    make_allow_entry(user_id="8", role="approver")
    group = {"chat_id": "-5", "chat_type": ChatType.GROUP}
    prompt = asked(door, door.say("A", mentions_bot=True, **group).turn)
    message_id = prompt.obligation.parts.get().message_id
    assert door.say("yes", user_id="8", reply_to=message_id, **group).decision == "answer"
    assert fresh(prompt).answers["decision"] == ["approved"]


# --- which one is meant


def second(door, first: Prompt) -> Prompt:
    """The same turn wants to do another dangerous thing."""
    return make_approval(Turn.objects.get(pk=int(first.correlation)), now=door.clock())


def message_of(prompt: Prompt) -> str:
    return prompt.obligation.parts.get().message_id


@pytest.mark.proves("Q23")
def test_a_command_that_quotes_a_message_is_about_that_operation(door) -> None:
    first = asked(door)
    other = second(door, first)
    door.say("/approve", reply_to=message_of(first))
    assert fresh(first).answers["decision"] == ["approved"]
    assert is_open(other)


@pytest.mark.proves("Q19b")
@pytest.mark.parametrize("command", ["/approve", "/approve session", "/deny too much"])
def test_a_command_that_quotes_what_is_closed_decides_nothing_else(door, command) -> None:
    first = asked(door)
    questions.resolve(first, Event.EXPIRE, now=door.clock(), reason="expired")
    other = second(door, first)
    door.say(command, reply_to=message_of(first))
    assert is_open(other)
    assert "decided already" in said()[-1]


@pytest.mark.proves("Q24")
def test_a_second_approve_of_an_impatient_person_approves_nothing_unseen(door) -> None:
    first = asked(door)
    door.clock.advance(5)
    twice = [door.message("/approve"), door.message("/approve")]  # sent while nobody took them up
    door.receive(twice[0])
    door.clock.advance(3)
    other = second(door, first)
    door.receive(twice[1])
    assert is_open(other)
    assert f"/approve {other.pk}" in said()[-1]
    door.clock.advance(1)
    door.say("/approve")
    assert not is_open(other)


@pytest.mark.proves("Q20")
@pytest.mark.parametrize("words", ["yes", "no, wrong server", "👍"])
def test_a_ruling_that_quotes_what_is_closed_is_no_message_for_the_agent(door, words) -> None:
    prompt = asked(door)
    questions.resolve(prompt, Event.EXPIRE, now=door.clock(), reason="expired")
    assert door.say(words, reply_to=message_of(prompt)).decision == "closed"
    assert door.say(words).decision == "turn"  # it quotes nothing, so it may be about anything


# --- words of people


LINK = "[click](https://x.example) **now**"


def test_a_reason_is_told_as_it_was_typed_and_is_no_link_of_the_bots(door) -> None:
    prompt = asked(door)
    door.say(f"/deny {prompt.pk} {LINK}")
    door.say(f"/approve {prompt.pk}")
    assert [escape(LINK) in words for words in said()[-2:]] == [True, True]


def test_a_name_is_no_link_of_the_bots_either(door) -> None:
    prompt = door.asked(door.say("Deploy it", user_name=LINK).turn)
    door.say("2", user_name=LINK)
    door.say("2")
    assert not is_open(prompt)
    assert escape(LINK) in said()[-1]


@pytest.mark.proves("Q15")
def test_a_yes_to_the_approval_of_another_is_told_so_and_starts_no_turn(door) -> None:
    make_allow_entry(user_id="8")
    group = {"chat_id": "-5", "chat_type": ChatType.GROUP}
    prompt = asked(door, door.say("A", mentions_bot=True, **group).turn)
    quoting = {"user_id": "8", "reply_to": message_of(prompt), "mentions_bot": True, **group}
    assert door.say("yes", **quoting).decision == "denied"
    assert "somebody else" in said()[-1]
    assert is_open(prompt)
    assert door.say("What is that about?", **quoting).decision == "turn"
