"""What went wrong with approvals elsewhere, as public reports tell it; the numbers are theirs."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from clarify import buttons, questions
from clarify.models import Permit, Prompt
from delivery.models import Kind, Obligation
from gateway import execution, intake, sessions, turns, upkeep
from gateway.agents.loop import EdgeLoop
from gateway.agents.requests import ModelConfig
from gateway.agents.runtime import AgentRuntime
from gateway.agents.tools import AgentTool, Risk, standard_tools
from gateway.messages import ChatMoved, ChatType
from gateway.models import AuditEvent, Conversation, InboundEvent, ToolCall, Turn
from tests.factories import make_account, make_allow_entry, make_approval, settle
from tests.integration.door import Door, acknowledged, fresh, said
from tests.peers.model import ModelPeer, Reply, in_turn
from tests.peers.model import ToolCall as Call

pytestmark = pytest.mark.django_db
THREAD = {"chat_type": ChatType.GROUP, "chat_id": "-5", "thread_id": "7"}


@pytest.fixture
def door(db, clock) -> Door:
    return Door(clock)


def asked(door, **place) -> Prompt:
    """The agent wants to do something dangerous for the person at the door."""
    turn = door.say("Clean up, please", mentions_bot=True, **place).turn
    Turn.objects.filter(pk=turn.pk).update(state="waiting")
    return make_approval(fresh(turn), now=door.clock())


def press(door, prompt, choice="a1", **changes):
    return acknowledged(
        door.receive(door.press(buttons.button_data(prompt.token, choice), **changes))
    )


def call_of(prompt: Prompt) -> ToolCall:
    return ToolCall.objects.get(turn=int(prompt.correlation), call_id=prompt.call_id)


def turn_of(prompt: Prompt) -> Turn:
    return Turn.objects.get(pk=int(prompt.correlation))


class Stage:
    """A door, and behind it an agent whose model says what a test wants and whose tool deletes."""

    def __init__(self, edge: EdgeLoop, model: ModelPeer) -> None:
        self.door, self.model, self.ran = Door(timezone.now), model, []

        async def pretend_delete(_context, target: str) -> str:
            """Delete something."""
            self.ran.append(target)
            return f"deleted {target}"

        tools = standard_tools()
        tools.add(AgentTool(name="pretend_delete", risk=Risk.DANGEROUS, function=pretend_delete))
        config = ModelConfig(name="peer", base_url=model.url, api_key="sk-test")
        self.runtime = AgentRuntime(config, edge=edge, tools=tools)

    def script(self, *targets: str) -> None:
        """The model deletes one after another, each when it has heard of the one before."""
        calls = [Reply(tool_calls=[Call("pretend_delete", {"target": it})]) for it in targets]
        self.model.script(in_turn(*calls, Reply(text="Done.")))

    def work(self) -> Turn:
        """A worker takes what is due and sees it through; the messages arrive."""
        turn = turns.claim(
            Conversation.objects.get().pk, "host/1/1", now=timezone.now(), capacity=9
        )
        assert turn is not None
        execution.run(turn, self.runtime)
        for shown in Obligation.objects.filter(state="pending", kind=Kind.APPROVAL):
            settle(shown)
        return Turn.objects.get(pk=turn.pk)

    def delete(self, target: str) -> Turn:
        """The person asks for one deletion; the turn as it then stands."""
        self.script(target)
        self.door.say("Clean up, please")
        return self.work()


@pytest.fixture(scope="module")
def edge() -> Iterator[EdgeLoop]:
    loop = EdgeLoop()
    yield loop
    loop.stop()


@pytest.fixture
def stage(transactional_db, edge) -> Iterator[Stage]:
    with ModelPeer() as model:
        stage = Stage(edge, model)
        yield stage
        stage.runtime.disconnect()


def open_approval() -> Prompt:
    return Prompt.objects.get(kind="approval", state="pending")


# --- B032: the command goes past the turn that waits for it


@pytest.mark.proves("Q19")
@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("/approve", "approved"),
        ("/APPROVE", "approved"),
        ("/approve@gwbot", "approved"),
        (" /approve ", "approved"),
        ("/Approve@gwbot  ONCE", "approved"),
        ("/deny wrong server", "denied"),
        ("/DENY@gwbot wrong server", "denied"),
    ],
)
def test_a_ruling_in_any_spelling_is_heard_at_once_and_moves_no_queue(door, text, decision) -> None:
    prompt = asked(door)  # B032
    waiting = door.say("and then this").turn

    assert door.say(text).decision == "command"

    assert fresh(prompt).answers["decision"] == [decision]
    assert prompt.answers.get("reason", ["wrong server"]) == ["wrong server"]
    assert turn_of(prompt).state == "ready"
    assert [turn.pk for turn in Turn.objects.filter(state="queued")] == [waiting.pk]
    assert Turn.objects.count() == 2


# --- B034: several in one turn, always with the same words


@pytest.mark.proves("Q19", "Q28")
@pytest.mark.django_db(transaction=True)
def test_five_approvals_in_one_turn_each_take_the_same_word(stage) -> None:  # B034
    stage.script("1", "2", "3", "4", "5")
    stage.door.say("Clean up, please")

    for number in range(1, 6):
        assert stage.work().state == "waiting"
        assert stage.ran == [str(done) for done in range(1, number)]
        assert stage.door.say("/approve").decision == "command"

    assert stage.work().state == "finished"
    assert stage.ran == ["1", "2", "3", "4", "5"]
    assert Turn.objects.count() == 1
    assert AuditEvent.objects.filter(action="approval.approved").count() == 5


# --- B036: how long an approval counts


@pytest.mark.proves("Q19")
@pytest.mark.django_db(transaction=True)
def test_once_is_once_and_a_session_is_a_session(stage) -> None:  # B036
    assert stage.delete("/tmp/x").state == "waiting"
    stage.door.say("/approve")
    stage.work()
    assert stage.delete("/tmp/x").state == "waiting"
    stage.door.say("/approve session")
    stage.work()
    assert stage.delete("/tmp/x").state == "finished"
    assert stage.ran == ["/tmp/x"] * 3

    stage.door.say("/new")

    assert stage.delete("/tmp/x").state == "waiting"
    assert stage.ran == ["/tmp/x"] * 3


@pytest.mark.proves("Q19")
@pytest.mark.django_db(transaction=True)
def test_always_outlives_the_session_and_says_who_gave_it(stage, settings) -> None:  # B036
    approvals = {**settings.GATEWAY["APPROVALS"], "ALWAYS_UP_TO": "HIGH"}
    settings.GATEWAY = {**settings.GATEWAY, "APPROVALS": approvals}
    assert stage.delete("/tmp/x").state == "waiting"
    stage.door.say("/approve always")
    stage.work()
    stage.door.say("/new")

    assert stage.delete("/tmp/x").state == "finished"

    permit = Permit.objects.get()
    assert (permit.given_by, permit.session, permit.uses) == ("Ada", "", 1)
    assert permit.given_at is not None
    assert stage.delete("/tmp/y").state == "waiting"


# --- B038, B040, B042: who and where


@pytest.mark.proves("Q19b", "A7")
def test_whoever_shares_the_thread_may_not_approve_for_the_other(door) -> None:  # B038
    make_allow_entry(user_id="8")
    make_allow_entry(user_id="9", role="approver")
    prompt = asked(door, **THREAD)

    ack = press(door, prompt, user_id="8", **THREAD)
    door.say("/approve", user_id="8", **THREAD)
    door.say(f"/approve {prompt.pk}", user_id="8", **THREAD)

    assert ack.alert
    assert ack.text
    assert len(said()) == 2
    assert fresh(prompt).state == "pending"
    refused = AuditEvent.objects.filter(action="approval.refused")
    assert [(row.actor, row.subject) for row in refused] == [
        ("telegram:8", f"prompt:{prompt.pk}")
    ] * 2
    assert refused[0].detail["wanted"] == "approve"
    assert [reply.outcome for reply in prompt.replies.all()] == ["refused", "refused"]

    press(door, prompt, user_id="9", user_name="Chief", **THREAD)
    assert fresh(prompt).resolved_by == "Chief"


@pytest.mark.proves("A7")
def test_a_stranger_who_presses_has_a_row_in_the_audit_log(door) -> None:  # B038, B040
    prompt = asked(door, **THREAD)

    for _ in range(3):
        assert press(door, prompt, user_id="666", **THREAD).alert

    assert AuditEvent.objects.filter(action="access.denied").count() == 1
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q14", "Q19b")
@pytest.mark.parametrize(
    "forged",
    [
        {"user_id": "8"},
        {"chat_id": "-6"},
        {"chat_id": "-6", "thread_id": ""},
        {"data": "q:nobodys:a1"},
        {"data": "a1"},
        {"data": ""},
        {"data": "q:{token}:approved"},
        {"data": "q:{number}:a1"},
    ],
)
def test_a_forged_press_is_acknowledged_kept_and_changes_nothing(door, forged) -> None:  # B040
    make_allow_entry(user_id="8")
    prompt = asked(door, **THREAD)
    place = THREAD | forged
    data = place.pop("data", "q:{token}:a1")
    event = door.press(data.format(token=prompt.token, number=prompt.pk), **place)
    before = (turn_of(prompt).state, call_of(prompt).state)

    ack = acknowledged(door.receive(event))

    assert ack.alert
    assert ack.text
    assert fresh(prompt).state == "pending"
    assert (turn_of(prompt).state, call_of(prompt).state) == before
    assert InboundEvent.objects.get(event_id=event.event_id).decision in {"denied", "ignored"}
    press(door, prompt, **THREAD)
    assert fresh(prompt).answers["decision"] == ["approved"]


@pytest.mark.proves("Q14")
@pytest.mark.parametrize(
    "place",
    [
        {"account": "acct2", "chat_type": ChatType.DM},
        {"account": "acct2:7:direct", "chat_type": ChatType.DM},
        {"account": "acct2", **THREAD},
        {**THREAD, "thread_id": "1700.0001", "scope_id": "T:1"},
    ],
)
def test_a_button_works_whatever_stands_in_the_key_of_its_conversation(door, place) -> None:
    account = place.get("account", "telegram")  # B042
    if account != "telegram":
        make_account(account, is_enabled=False)
    said_there = door.message("Clean up", mentions_bot=True, **place)
    intake.take(account, said_there, now=door.clock())
    turn = Turn.objects.get()
    Turn.objects.update(state="waiting")
    prompt = make_approval(fresh(turn), now=door.clock())
    event = door.press(buttons.button_data(prompt.token, "a1"), **place)

    deeds = intake.take(account, event, now=door.clock())

    assert acknowledged(deeds).text == "Approved"
    assert fresh(prompt).answers["decision"] == ["approved"]


# --- B044, B048: time runs out, and trouble


@pytest.mark.proves("Q2", "Q5", "Q19b")
def test_a_tap_on_what_expired_yesterday_is_the_end_of_it(door) -> None:  # B040, B044
    prompt = asked(door)
    door.clock.advance(timedelta(days=1).total_seconds())
    upkeep.tick(now=door.clock())
    event = door.press(buttons.button_data(prompt.token, "a1"))

    ack = acknowledged(door.receive(event, cursor="c9"))

    assert ack.alert
    assert "nobody decided in time" in ack.text
    closing = Obligation.objects.get(kind=Kind.RETIRE)
    assert closing.native_controls.clear
    assert InboundEvent.objects.get(event_id=event.event_id).decision == "closed"
    assert door.receive(event) == []
    assert call_of(prompt).result["value"]["status"] == "not_approved"


@pytest.mark.proves("S7")
def test_a_press_that_met_trouble_comes_again_and_decides_once(door, monkeypatch) -> None:  # B044
    prompt = asked(door)
    event = door.press(buttons.button_data(prompt.token, "a1"))

    def away(*_args, **_facts):
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patched:
        patched.setattr(questions, "press", away)
        with pytest.raises(OperationalError):
            door.receive(event)
    assert fresh(prompt).state == "pending"

    assert acknowledged(door.receive(event)).text == "Approved"
    assert door.receive(event) == []
    assert AuditEvent.objects.filter(action="approval.approved").count() == 1


@pytest.mark.proves("Q19b")
@pytest.mark.django_db(transaction=True)
def test_nothing_runs_after_a_silence_and_the_agent_reads_that_it_did_not(stage) -> None:  # B048
    stage.delete("old-release")
    questions.expire_overdue(now=timezone.now() + timedelta(hours=1))

    assert stage.work().state == "finished"

    assert stage.ran == []
    told = stage.model.requests[-1].tool_results[0]
    assert '"status":"not_approved"' in told.replace('": "', '":"')
    assert "expired" in told
    assert "was not run" in told
    (closing,) = Obligation.objects.filter(kind=Kind.RETIRE)
    assert "nobody decided in time" in closing.content


# --- B046: the session changed meanwhile


@pytest.mark.proves("Q19")
@pytest.mark.django_db(transaction=True)
def test_an_approval_is_found_after_its_session_was_changed_for_another(stage) -> None:  # B046
    stage.delete("old-release")
    prompt = open_approval()
    with transaction.atomic():
        sessions.start_afresh(Conversation.objects.get(), reason="idle", now=timezone.now())

    stage.door.say(f"/approve {prompt.pk}")

    assert fresh(prompt).answers["decision"] == ["approved"]
    assert stage.work().state == "finished"
    assert stage.ran == ["old-release"]
    assert Prompt.objects.count() == 1


@pytest.mark.proves("Q24")
def test_a_bare_number_is_no_ruling_in_any_session(door) -> None:  # B046
    prompt = asked(door)
    with transaction.atomic():
        sessions.start_afresh(Conversation.objects.get(), reason="idle", now=door.clock())

    assert door.say(str(prompt.pk)).decision == "turn"

    assert fresh(prompt).state == "pending"


# --- a group that becomes a supergroup: its messages are numbered anew


def move(door, old: str, new: str) -> None:
    door.receive(
        ChatMoved(
            platform="telegram",
            account="telegram",
            event_id=f"move{new}",
            old_chat_id=old,
            new_chat_id=new,
        )
    )


@pytest.mark.proves("Q19b")
def test_a_message_of_the_new_chat_is_not_taken_for_the_old_one_with_its_number(door) -> None:
    group = {"chat_id": "-5", "chat_type": ChatType.GROUP}
    prompt = asked(door, **group)
    number = prompt.obligation.parts.get().message_id
    move(door, "-5", "-1005")

    group["chat_id"] = "-1005"
    assert door.say("yes", reply_to=number, **group).decision == "ignored"
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q2")
def test_what_was_shown_in_the_old_chat_is_shown_in_the_new_one_and_decided_there(door) -> None:
    prompt = asked(door, chat_id="-5", chat_type=ChatType.GROUP)
    old = prompt.obligation
    move(door, "-5", "-1005")

    prompt = fresh(prompt)
    assert prompt.obligation != old
    assert prompt.obligation.chat_id == "-1005"
    settle(prompt.obligation)
    there = {"chat_id": "-1005", "chat_type": ChatType.GROUP}
    assert press(door, prompt, **there)
    assert fresh(prompt).state == "answered"
    assert not Obligation.objects.filter(edits=old).exists()


def test_what_was_not_sent_yet_is_sent_once_to_the_new_chat(door) -> None:
    turn = door.say("A", mentions_bot=True, chat_id="-5", chat_type=ChatType.GROUP).turn
    prompt = make_approval(turn, now=door.clock(), delivered=False)
    move(door, "-5", "-1005")
    assert [row.chat_id for row in Obligation.objects.filter(kind=Kind.APPROVAL)] == ["-1005"]
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q19b")
def test_what_nobody_could_read_is_put_to_nobody_and_the_model_is_told(stage) -> None:
    stage.script("a\u202e" * 500_000)
    stage.door.say("Clean up, please")
    assert stage.work().state == "finished"
    assert stage.ran == []
    assert not Prompt.objects.exists()
    assert "smaller steps" in str(stage.model.requests[-1].body)
