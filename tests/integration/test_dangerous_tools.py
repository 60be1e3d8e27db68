"""[Q19], [T3]: a dangerous tool runs once, after an approval, and never without one."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from clarify import permits, questions
from clarify.approvals import Reach, Ruling
from clarify.models import Permit, Prompt
from clarify.questions import Answerer
from clarify.risks import FULL_AUTHORITY, RiskLevel
from clarify.states import Event
from gateway import execution, turns
from gateway.agents.dangers import exact_call
from gateway.agents.loop import EdgeLoop
from gateway.agents.requests import ModelConfig
from gateway.agents.runtime import AgentRuntime
from gateway.agents.tools import AgentTool, Risk, ToolRegistry, standard_tools
from gateway.console import viewers
from gateway.models import AllowEntry, AuditEvent, ToolCall, Turn
from tests.factories import make_allow_entry, make_conversation, settle
from tests.integration.working import say, work

pytestmark = pytest.mark.django_db(transaction=True)
CHIEF = Answerer(id="1", name="Chief", surface="telegram", authority=FULL_AUTHORITY)


@pytest.fixture(scope="module")
def edge():
    loop = EdgeLoop()
    yield loop
    loop.stop()


@pytest.fixture
def ran() -> list[str]:
    """What the dangerous tool has done."""
    return []


@pytest.fixture
def runtime(edge, ran) -> AgentRuntime:
    async def pretend_delete(_context, target: str) -> str:
        """Delete something."""
        ran.append(target)
        return f"deleted {target}"

    tools = standard_tools()
    tools.add(AgentTool(name="pretend_delete", risk=Risk.DANGEROUS, function=pretend_delete))
    return AgentRuntime(ModelConfig(name="demo"), edge=edge, tools=tools)


@pytest.fixture
def chat(transactional_db):
    make_allow_entry(user_id=CHIEF.id, role="approver")
    return make_conversation(chat_id="7")


def open_approval() -> Prompt:
    prompt = Prompt.objects.get(state="pending")
    settle(prompt.obligation)
    return prompt


def rule(approved: bool, reach: Reach = Reach.ONCE, reason: str = "") -> None:
    ruling = Ruling(approved, reach, reason)
    questions.rule(open_approval(), ruling, CHIEF, now=timezone.now())


def last_words(chat) -> str:
    return Turn.objects.filter(conversation=chat).latest("pk").spoken or ""


def finals(chat) -> list[str]:
    from delivery.models import Obligation

    owed = Obligation.objects.filter(conversation_key=chat.key, kind="final").order_by("pk")
    return list(owed.values_list("content", flat=True))


@pytest.mark.proves("Q19")
def test_nothing_runs_before_it_is_approved_and_then_it_runs_once(chat, runtime, ran) -> None:
    say(chat, "approve old-release")
    assert work(chat, runtime).state == "waiting"
    assert ran == []
    assert "old-release" in open_approval().obligation.content

    rule(approved=True)

    assert work(chat, runtime).state == "finished"
    assert ran == ["old-release"]
    assert "deleted old-release" in finals(chat)[-1]


@pytest.mark.proves("Q19b")
def test_a_denial_runs_nothing_and_the_agent_reads_why(chat, runtime, ran) -> None:
    say(chat, "approve old-release")
    work(chat, runtime)

    rule(approved=False, reason="still in use")

    assert work(chat, runtime).state == "finished"
    assert ran == []
    assert "still in use" in str(ToolCall.objects.get().result)


@pytest.mark.proves("Q19b")
def test_an_approval_that_expires_runs_nothing(chat, runtime, ran) -> None:
    say(chat, "approve old-release")
    work(chat, runtime)
    later = timezone.now() + timedelta(hours=1)

    assert questions.expire_overdue(now=later) == 1

    assert work(chat, runtime).state == "finished"
    assert ran == []


@pytest.mark.proves("T3")
def test_a_call_that_was_begun_and_never_told_its_end_is_not_run_again(chat, runtime, ran) -> None:
    turn = say(chat, "approve old-release")
    work(chat, runtime)
    rule(approved=True)
    call = ToolCall.objects.get()
    ToolCall.objects.filter(pk=call.pk).update(state="started")  # its worker died under it

    work(chat, runtime)

    assert ran == []
    assert "unknown" in str(finals(chat)[-1]) or Turn.objects.get(pk=turn.pk).state == "finished"


def test_a_worker_that_died_before_it_asked_leaves_nothing_that_looks_begun(
    chat, runtime, ran, monkeypatch
) -> None:
    class WorkerDied(BaseException):
        """The instant at which a pretended worker is killed."""

    def die(*_args, **_facts):
        raise WorkerDied

    turn = say(chat, "approve old-release")
    with monkeypatch.context() as patched:
        patched.setattr(turns, "wait", die)
        claimed = turns.claim(chat.pk, "host/1/1", now=timezone.now(), capacity=9)
        with pytest.raises(WorkerDied):
            execution.run(claimed, runtime)
    turns.reclaim(Turn.objects.get(pk=turn.pk), now=timezone.now())

    assert work(chat, runtime).state == "waiting"
    rule(approved=True)
    work(chat, runtime)

    assert ran == ["old-release"]


@pytest.mark.proves("Q19b")
def test_arguments_that_changed_need_a_new_approval(chat, runtime, ran) -> None:
    say(chat, "approve old-release")
    work(chat, runtime)
    rule(approved=True)
    ToolCall.objects.update(arguments={"target": "something-else"})

    work(chat, runtime)

    assert ran == []


# --- lasting approvals


def approve_for_session(chat, runtime) -> None:
    say(chat, "approve old-release")
    work(chat, runtime)
    rule(approved=True, reach=Reach.SESSION)
    work(chat, runtime)


@pytest.mark.proves("Q19")
def test_the_same_operation_needs_no_second_approval_in_the_session(chat, runtime, ran) -> None:
    approve_for_session(chat, runtime)

    say(chat, "approve old-release")

    assert work(chat, runtime).state == "finished"
    assert ran == ["old-release"] * 2
    assert Permit.objects.get().uses == 1
    assert AuditEvent.objects.filter(action="approval.used").count() == 1


def test_another_operation_is_asked_for_again(chat, runtime, ran) -> None:
    approve_for_session(chat, runtime)

    say(chat, "approve new-release")

    assert work(chat, runtime).state == "waiting"
    assert ran == ["old-release"]


def test_a_permit_ends_with_the_session(chat, runtime, ran) -> None:
    from gateway import sessions

    approve_for_session(chat, runtime)
    with transaction.atomic():
        sessions.start_afresh(chat, reason="new", now=timezone.now())
    chat.refresh_from_db()

    say(chat, "approve old-release")

    assert work(chat, runtime).state == "waiting"


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_a_permit_that_ended_counts_no_more(chat, runtime, how) -> None:
    approve_for_session(chat, runtime)
    permit = Permit.objects.get()
    if how == "revoked":
        assert permits.revoke(permit, by="boss", now=timezone.now())
        assert not permits.revoke(permit, by="boss", now=timezone.now())
    else:
        Permit.objects.update(expires_at=timezone.now())

    say(chat, "approve old-release")

    assert work(chat, runtime).state == "waiting"


def test_a_permit_of_somebody_else_in_the_same_chat_counts_not(chat, runtime) -> None:
    approve_for_session(chat, runtime)
    Permit.objects.update(asker_id="8")

    say(chat, "approve old-release")

    assert work(chat, runtime).state == "waiting"


@pytest.mark.parametrize(
    "changes", [{"role": "member"}, {"approves_up_to": "low"}, {"user_id": "2"}, {"chat_id": "8"}]
)
def test_a_permit_of_somebody_who_could_not_give_it_today_counts_not(
    chat, runtime, ran, changes
) -> None:
    approve_for_session(chat, runtime)
    AllowEntry.objects.filter(user_id=CHIEF.id).update(**changes)

    say(chat, "approve old-release")

    assert work(chat, runtime).state == "waiting"
    assert ran == ["old-release"]


def test_a_permit_of_staff_counts_as_long_as_they_may_approve(chat, runtime, ran) -> None:
    boss = User.objects.create_superuser("boss")
    say(chat, "approve old-release")
    work(chat, runtime)
    ruling = Ruling(approved=True, reach=Reach.SESSION)
    now = timezone.now()
    questions.rule(open_approval(), ruling, viewers.viewer_of(boss).answerer, now=now)
    work(chat, runtime)
    say(chat, "approve old-release")
    assert work(chat, runtime).state == "finished"

    User.objects.update(is_active=False)
    say(chat, "approve old-release")

    assert work(chat, runtime).state == "waiting"
    assert ran == ["old-release"] * 2


def test_the_policy_of_today_decides_not_that_of_the_permit(chat, runtime, settings) -> None:
    approve_for_session(chat, runtime)
    approvals = {**settings.GATEWAY["APPROVALS"], "SESSION_UP_TO": "NONE"}
    settings.GATEWAY = {**settings.GATEWAY, "APPROVALS": approvals}

    say(chat, "approve old-release")

    assert work(chat, runtime).state == "waiting"


@pytest.mark.proves("Q4")
def test_a_stop_cancels_the_approval_and_nothing_runs(chat, runtime, ran) -> None:
    turn = say(chat, "approve old-release")
    work(chat, runtime)
    prompt = open_approval()
    with transaction.atomic():
        turns.stop(chat, by=CHIEF, now=timezone.now())

    prompt.refresh_from_db()
    assert prompt.state == "cancelled"
    assert not questions.resolve(prompt, Event.ANSWER, now=timezone.now())
    assert ran == []
    assert Turn.objects.get(pk=turn.pk).state == "stopped"


def test_a_tool_without_words_of_its_own_is_shown_as_the_call_it_is() -> None:
    danger = exact_call("wipe", {"disk": "sda"})

    assert danger.level is RiskLevel.HIGH
    assert '"disk": "sda"' in danger.detail
    assert ToolRegistry().names() == frozenset()
