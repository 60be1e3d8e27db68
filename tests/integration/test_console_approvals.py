"""[Q15], [Q19b] in the Control UI: who may approve what there, and what a page gets to show."""

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import override_settings
from django.utils import timezone

from clarify import questions
from clarify.approvals import Reach, Ruling
from clarify.models import Permit
from clarify.questions import Effect
from clarify.risks import RiskLevel
from clarify.states import Event
from clarify.states import State as PromptState
from gateway.console import actions, queries
from gateway.console.consumers import HANDLERS, ConsoleConsumer
from gateway.console.errors import NotFound, Refused
from gateway.console.viewers import viewer_of
from gateway.models import AuditEvent, Conversation, ToolCall, Turn
from tests import factories
from tests.integration.viewing import Page, chat_of, off_loop, user_of

pytestmark = pytest.mark.django_db(transaction=True)
YES, NO = Ruling(approved=True), Ruling(approved=False)


def clerk():
    """Staff who may not approve for others."""
    return viewer_of(get_user_model().objects.create_user("clerk", password="pass", is_staff=True))


def approval_of(viewer, **changes):
    turn = factories.make_turn(chat_of(viewer), state="waiting", sender_id=viewer.person_id)
    return factories.make_approval(turn, **changes)


def rule(viewer, prompt, ruling=YES):
    return actions.rule(viewer, prompt.pk, ruling, now=timezone.now())


def entry_of(viewer, prompt):
    conversation = Conversation.objects.get(key=prompt.conversation_key)
    facts = queries.snapshot(conversation, viewer, since=None, now=timezone.now())
    return next(entry for entry in facts["entries"] if entry["id"] == f"prompt:{prompt.pk}")


def is_open(prompt):
    prompt.refresh_from_db()
    return prompt.state == PromptState.PENDING


# --- what is shown ------------------------------------------------------------


def test_a_page_gets_the_whole_operation_and_what_can_be_approved(ada):
    detail = "\n".join(f"delete file {number}" for number in range(500))
    entry = entry_of(ada, approval_of(ada, detail=detail))
    assert entry["face"] == "approval"
    assert entry["operation"] == {
        "tool": "pretend_delete",
        "summary": "Delete something",
        "detail": detail,
        "level": "high",
        "covers": "exactly this call",
        "lasts": [["session", 3600]],
    }
    assert (entry["refusal"], entry["ruling"], entry["questions"]) == ("", None, [])


def test_a_closed_approval_tells_what_was_decided_by_whom_and_why(ada):
    prompt = approval_of(ada)
    entry = rule(ada, prompt, Ruling(approved=False, reason="  wrong\n server "))
    assert entry["ruling"] == {"approved": False, "reach": Reach.ONCE, "reason": "wrong server"}
    assert (entry["by"], entry["on"], entry["open"]) == ("ada", "console", False)
    assert entry_of(ada, prompt) == entry


def test_an_approval_that_nobody_decided_stays_in_the_timeline(ada):
    prompt = approval_of(ada)
    questions.resolve(prompt, Event.EXPIRE, now=timezone.now())
    entry = entry_of(ada, prompt)
    assert (entry["state"], entry["ruling"]) == ("expired", None)


# --- who may ------------------------------------------------------------


def test_people_approve_what_is_done_for_themselves(ada):
    prompt = approval_of(ada)
    assert rule(ada, prompt)["ruling"]["approved"]
    call = ToolCall.objects.get(call_id=prompt.call_id)
    assert (call.state, Turn.objects.get().state) == ("permitted", "ready")


@pytest.mark.proves("Q19b")
def test_people_approve_no_more_than_the_setting_lets_them(ada):
    prompt = approval_of(ada, level=RiskLevel.CRITICAL)
    assert "Staff who may approve" in entry_of(ada, prompt)["refusal"]
    with pytest.raises(Refused, match="deny this, not approve it"):
        rule(ada, prompt)
    assert is_open(prompt)
    assert not rule(ada, prompt, NO)["ruling"]["approved"]


def test_a_setting_can_take_approving_away(ada):
    prompt = approval_of(ada, level=RiskLevel.LOW)
    approvals = {**settings.GATEWAY["APPROVALS"], "MEMBERS_UP_TO": "none"}
    with override_settings(GATEWAY={**settings.GATEWAY, "APPROVALS": approvals}):
        stripped = viewer_of(get_user_model().objects.get(pk=ada.pk))
        assert entry_of(stripped, prompt)["refusal"]
        with pytest.raises(Refused, match="not approve it"):
            rule(stripped, prompt)
    assert is_open(prompt)


@pytest.mark.proves("Q19b")
def test_a_superuser_approves_anything_for_anybody(ada, boss):
    prompt = approval_of(ada, level=RiskLevel.CRITICAL)
    assert entry_of(boss, prompt)["refusal"] == ""
    rule(boss, prompt)
    assert entry_of(boss, prompt)["by"] == "boss"
    assert entry_of(ada, prompt)["by"] == "staff"
    noted = AuditEvent.objects.get()
    assert (noted.action, noted.actor) == ("approval.approved", f"console:{boss.person_id}")


@pytest.mark.proves("Q19b")
def test_other_staff_may_deny_and_need_the_permission_to_approve(ada):
    staff, prompt = clerk(), approval_of(ada, level=RiskLevel.LOW)
    assert "Can approve operations" in entry_of(staff, prompt)["refusal"]
    with pytest.raises(Refused, match="Can approve operations"):
        rule(staff, prompt)
    assert is_open(prompt)
    user = get_user_model().objects.get(pk=staff.pk)
    user.user_permissions.add(Permission.objects.get(codename="approve_operation"))
    trusted = viewer_of(get_user_model().objects.get(pk=staff.pk))
    assert entry_of(trusted, prompt)["refusal"] == ""
    assert rule(trusted, prompt)["ruling"]["approved"]


def test_the_permission_without_being_staff_gives_nothing(ada, bob):
    user = get_user_model().objects.get(pk=ada.pk)
    user.user_permissions.add(Permission.objects.get(codename="approve_operation"))
    member = viewer_of(get_user_model().objects.get(pk=ada.pk))
    with pytest.raises(NotFound):
        rule(member, approval_of(bob))
    with pytest.raises(Refused, match="not approve it"):
        rule(member, approval_of(ada, level=RiskLevel.CRITICAL))


def test_staff_approve_what_is_done_on_another_platform(boss):
    turn = factories.make_turn(state="waiting")
    prompt = factories.make_approval(turn, level=RiskLevel.CRITICAL)
    assert rule(boss, prompt)["ruling"]["approved"]


def test_a_stranger_cannot_tell_an_approval_of_another_from_none(ada, bob):
    prompt = approval_of(ada)
    for pk in (prompt.pk, 999_999):
        with pytest.raises(NotFound, match="no such question"):
            actions.rule(bob, pk, YES, now=timezone.now())


# --- how ------------------------------------------------------------


def test_answering_and_skipping_decide_no_approval(ada):
    prompt = approval_of(ada)
    for attempt in (
        lambda: actions.answer(ada, prompt.pk, {}, now=timezone.now()),
        lambda: actions.answer(ada, prompt.pk, {"decision": ["approved"]}, now=timezone.now()),
        lambda: actions.skip(ada, prompt.pk, now=timezone.now()),
    ):
        with pytest.raises(Refused, match="approve it or deny it"):
            attempt()
    assert is_open(prompt)


def test_no_answers_at_all_are_no_approval(ada):
    prompt = approval_of(ada)
    outcome = questions.answer_all(prompt, {}, ada.answerer, now=timezone.now())
    assert outcome.effect is Effect.HINTED
    assert is_open(prompt)


def test_a_question_cannot_be_ruled_on(ada):
    turn = factories.make_turn(chat_of(ada), state="waiting", sender_id=ada.person_id)
    prompt = factories.make_prompt(turn)
    with pytest.raises(Refused, match="takes an answer"):
        rule(ada, prompt)
    assert is_open(prompt)


def test_a_lasting_approval_is_written_down_and_only_one_on_offer_counts(ada):
    prompt = approval_of(ada)
    with pytest.raises(Refused, match="only be approved once"):
        rule(ada, prompt, Ruling(approved=True, reach=Reach.ALWAYS))
    assert is_open(prompt)
    rule(ada, prompt, Ruling(approved=True, reach=Reach.SESSION))
    assert Permit.objects.get().reach is Reach.SESSION


@pytest.mark.proves("Q19b")
def test_an_approval_counts_once_and_whoever_is_late_is_told(ada, boss):
    prompt = approval_of(ada)
    rule(ada, prompt, NO)
    with pytest.raises(Refused, match=r"decided already\. Denied by ada"):
        rule(boss, prompt)
    assert ToolCall.objects.get(call_id=prompt.call_id).state != "permitted"


async def test_a_ruling_goes_over_the_socket_and_nothing_half_said_approves(ada):
    prompt = await off_loop(approval_of)(ada)
    async with Page(await user_of(ada)) as page:
        for fields in (
            {},
            {"approved": "yes"},
            {"approved": 1},
            {"approved": None},
            {"approved": True, "reach": "for ever"},
        ):
            reply = await page.ask("rule", prompt=prompt.pk, **fields)
            assert reply["error"] == "This request is not complete."
        for named in (str(prompt.pk), prompt.pk + 0.5, [prompt.pk], None):
            reply = await page.ask("rule", prompt=named, approved=True)
            assert reply["error"] == "This request is not complete."
        assert await off_loop(is_open)(prompt)
        reply = await page.ask("rule", prompt=prompt.pk, approved=False, reason="not today")
        assert reply["entry"]["ruling"]["reason"] == "not today"


def test_every_request_of_a_page_has_a_handler():
    assert HANDLERS["rule"] is ConsoleConsumer.rule
