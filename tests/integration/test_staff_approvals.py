"""What staff see of approvals and decide about them: pages, commands, `explain` ([Q21], [Q19b])."""

import json

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError
from django.utils import timezone

from clarify import permits, questions, staff
from clarify.approvals import Reach, Ruling
from clarify.models import Permit, Prompt, Reply
from clarify.questions import Answerer
from clarify.risks import FULL_AUTHORITY, RiskLevel
from gateway import approving
from gateway.models import AllowEntry, AuditEvent, InboundEvent, ToolCall, Turn
from tests import factories
from tests.integration.commanding import run
from tests.integration.door import Door, said
from tests.integration.paging import act, confirm, messages_of, page

pytestmark = pytest.mark.django_db
CHIEF = Answerer(id="1", name="Chief", surface="telegram", authority=FULL_AUTHORITY)


@pytest.fixture
def staff_client(client):
    client.force_login(factories.make_staff())
    return client


@pytest.fixture
def turn():
    turn = factories.make_turn(state="waiting")
    factories.make_allow_entry(user_id=turn.sender_id)
    return turn


@pytest.fixture
def approval(turn):
    return factories.make_approval(turn, detail="rm -r build\n" + "and more\n" * 400 + "the end")


def call_of(prompt: Prompt) -> ToolCall:
    return ToolCall.objects.get(call_id=prompt.call_id)


def log_in(client, *permissions: str):
    person = factories.make_staff("grace", is_superuser=False)
    person.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(person)


def html_of(client, row) -> str:
    return client.get(page(type(row), "change", row.pk)).content.decode()


# --- The page of an approval ------------------------------------------------------------------


@pytest.mark.proves("Q21")
def test_the_page_of_an_approval_shows_all_that_will_run_and_who_may_decide(
    staff_client, approval, turn
):
    factories.make_allow_entry(user_id="99", role="approver", note="Chief")

    html = html_of(staff_client, approval)

    assert "the end" in html
    assert "high risk" in html
    assert "Ada, for whom it is asked" in html
    assert "Chief [99]" in html
    assert staff.MAY_RULE in html
    assert "exactly this call (in this session, for 1h" in html


def test_an_approver_of_lower_risks_or_of_another_chat_is_not_named(staff_client, approval):
    factories.make_allow_entry(user_id="98", role="approver", approves_up_to="low")
    factories.make_allow_entry(user_id="97", role="approver", chat_id="elsewhere")

    html = html_of(staff_client, approval)

    assert "[98]" not in html
    assert "[97]" not in html


def test_the_page_offers_what_fits_an_approval_and_nothing_once_it_is_closed(
    staff_client, approval
):
    html = html_of(staff_client, approval)
    assert "Approve once…" in html
    assert "Answer on behalf…" not in html

    confirm(staff_client, Prompt, "deny", approval)

    assert "Approve once…" not in html_of(staff_client, approval)


# --- Deciding ---------------------------------------------------------------------------------


@pytest.mark.proves("Q21", "Q19b", "A7")
def test_staff_approve_once_in_their_own_name(staff_client, approval):
    asked = act(staff_client, Prompt, "approve", approval).content.decode()
    assert "the end" in asked
    assert Prompt.objects.get().state == "pending"

    response = confirm(staff_client, Prompt, "approve", approval)

    closed = Prompt.objects.get()
    assert (closed.state, closed.resolved_by, closed.resolved_on) == ("answered", "boss", "admin")
    assert call_of(approval).state == "permitted"
    assert not Permit.objects.exists()
    assert messages_of(response) == f"Approval {approval.pk}: Approved."
    event = AuditEvent.objects.get()
    assert (event.action, event.actor, event.subject) == (
        "approval.approved",
        "admin:boss",
        f"prompt:{approval.pk}",
    )


@pytest.mark.proves("Q21", "A7")
def test_staff_deny_with_a_reason_that_the_agent_gets(staff_client, approval):
    confirm(staff_client, Prompt, "deny", approval, reason="not on a Friday")

    result = call_of(approval).result["value"]
    assert (result["status"], result["reason"]) == ("denied", "not on a Friday")
    assert AuditEvent.objects.get().action == "approval.denied"
    assert "Denied by boss: not on a Friday" in html_of(staff_client, approval)


@pytest.mark.proves("Q21", "Q19b")
@pytest.mark.parametrize("action", ["approve", "deny"])
def test_without_the_permission_nobody_decides(client, approval, action):
    log_in(client, "view_prompt", "change_prompt")

    html = html_of(client, approval)
    confirm(client, Prompt, action, approval)

    assert "Approve once…" not in html
    assert "Deny…" not in html
    assert "Cancel…" in html
    assert Prompt.objects.get().state == "pending"


def test_the_permission_to_decide_is_enough_to_decide(client, approval):
    log_in(client, "view_prompt", "approve_operation")

    confirm(client, Prompt, "approve", approval)

    assert Prompt.objects.get().resolved_by == "grace"


@pytest.mark.proves("Q19b")
def test_an_approval_is_given_on_nobodys_behalf(staff_client, approval):
    response = confirm(staff_client, Prompt, "answer", approval, text="yes")

    assert "on nobody&#x27;s behalf" in response.content.decode().replace("’", "&#x27;")
    assert Prompt.objects.get().state == "pending"


def test_a_question_is_not_approved(staff_client):
    prompt = factories.make_prompt()

    response = confirm(staff_client, Prompt, "approve", prompt)

    assert "answer it" in messages_of(response)
    assert Prompt.objects.get().state == "pending"


def test_several_operations_are_not_approved_at_once(staff_client, approval, turn):
    other = factories.make_approval(turn)

    response = confirm(staff_client, Prompt, "approve", approval, other)

    assert messages_of(response) == "Choose one at a time: each must be read."
    assert not Prompt.objects.exclude(state="pending").exists()


@pytest.mark.proves("Q19b")
def test_what_is_decided_already_stays_so_and_is_told(staff_client, approval):
    questions.rule(approval, Ruling(approved=False), CHIEF, now=timezone.now())

    response = confirm(staff_client, Prompt, "approve", approval)

    assert "This is decided already. Denied by Chief." in messages_of(response)
    assert call_of(approval).state == "done"


def test_whoever_acts_on_the_page_of_a_question_is_led_back_to_it(staff_client, approval):
    response = confirm(staff_client, Prompt, "deny", approval, origin=str(approval.pk))

    assert response.redirect_chain == [(page(Prompt, "change", approval.pk), 302)]


# --- The page of a question -------------------------------------------------------------------


@pytest.mark.proves("Q21")
def test_what_was_said_since_stands_beside_the_question_with_why_it_answered_nothing(
    staff_client, turn
):
    prompt = factories.make_prompt(turn, now=factories.ago(minutes=4))
    factories.make_inbound(
        turn, text="And what about Bo?", decision="turn", received_at=factories.ago(minutes=2)
    )
    factories.make_inbound(
        turn,
        text="I say so, too",
        sender_id="666",
        decision="denied",
        reason="not on the allowlist",
        received_at=factories.ago(minutes=1),
    )

    html = html_of(staff_client, prompt)

    assert "And what about Bo?" in html
    assert "began or joined a turn; no answer: it was meant for something else" in html
    assert "was not allowed (not on the allowlist); no answer: its sender may not speak" in html
    assert page(InboundEvent, "change", InboundEvent.objects.last().pk) in html


@pytest.mark.proves("Q21")
def test_each_message_that_showed_the_question_is_listed_with_its_delivery(staff_client, turn):
    prompt = factories.make_prompt(turn, now=factories.ago(minutes=4))
    other = factories.make_prompt(turn)
    confirm(staff_client, Prompt, "resend", prompt)
    confirm(staff_client, Prompt, "cancel", prompt)

    messages = questions.messages_of(Prompt.objects.get(pk=prompt.pk))

    assert [message.kind for message in messages] == ["prompt", "retire", "prompt"]
    assert other.obligation not in messages
    assert f"as message {messages[0].parts.get().message_id}" in html_of(staff_client, prompt)


@pytest.mark.proves("A7")
def test_who_acted_on_it_stands_on_its_page(staff_client, turn):
    prompt = factories.make_prompt(turn)
    confirm(staff_client, Prompt, "extend", prompt, minutes="30")

    assert "prompt.extended" in html_of(staff_client, prompt)


# --- Lasting approvals ------------------------------------------------------------------------


@pytest.fixture
def permit(approval):
    factories.make_allow_entry(user_id=CHIEF.id, role="approver")
    questions.rule(approval, Ruling(approved=True, reach=Reach.SESSION), CHIEF, now=timezone.now())
    return Permit.objects.get()


@pytest.mark.proves("Q21")
def test_lasting_approvals_are_listed_with_what_they_cover_who_gave_them_and_their_uses(
    staff_client, permit
):
    ended = factories.make_permit(expires_at=factories.ago(hours=1), covers="long ago")

    html = staff_client.get(page(Permit, "changelist") + "?in_force=yes").content.decode()

    assert "exactly this call" in html
    assert "Chief" in html
    assert "Ada [" in html
    assert "never" in html
    assert str(ended) not in html
    over = staff_client.get(page(Permit, "changelist") + "?in_force=no").content.decode()
    assert str(ended) in over


@pytest.mark.proves("Q21", "A7")
def test_a_revoked_lasting_approval_covers_nothing_more(staff_client, permit, approval, turn):
    def covered() -> bool:
        return approving.is_permitted(turn, approval.what, now=timezone.now())

    assert covered()

    response = confirm(staff_client, Permit, "revoke", permit)

    assert not covered()
    assert "revoked" in messages_of(response)
    event = AuditEvent.objects.get(action="approval.revoked")
    assert (event.actor, event.subject) == ("boss", f"permit:{permit.pk}")
    assert not permits.in_force(timezone.now()).exists()
    again = confirm(staff_client, Permit, "revoke", permit)
    assert "has ended already" in messages_of(again)


# --- The allowlist ----------------------------------------------------------------------------


@pytest.mark.proves("Q19b")
def test_staff_make_somebody_an_approver_on_the_page(staff_client):
    given = {"platform": "telegram", "user_id": "4711", "role": "approver", "approves_up_to": ""}

    staff_client.post(page(AllowEntry, "add"), given)

    assert AllowEntry.objects.get().role == "approver"
    html = staff_client.get(page(AllowEntry, "changelist")).content.decode()
    assert "for anybody, up to critical" in html


def test_an_entry_for_everybody_in_a_chat_cannot_be_an_approver(staff_client):
    given = {"platform": "telegram", "chat_id": "-100", "role": "approver"}

    response = staff_client.post(page(AllowEntry, "add"), given)

    assert "lets nobody approve" in response.content.decode()
    assert not AllowEntry.objects.exists()


@pytest.mark.proves("Q19b", "A7")
def test_allow_makes_an_approver_and_changes_one():
    run("allow", "add", "telegram", "4711", "--note", "Grace")
    out = run("allow", "add", "telegram", "4711", "--role", "approver", "--approves-up-to", "high")

    entry = AllowEntry.objects.get()
    assert (entry.role, entry.approves_up_to, entry.note) == ("approver", "high", "Grace")
    assert "approve for anybody, up to high" in out
    assert "for anybody, up to high" in run("allow", "list")
    added, changed = AuditEvent.objects.order_by("id")
    assert (added.action, added.detail["role"]) == ("allow.added", "member")
    assert (changed.action, changed.detail["role"]) == ("allow.changed", "approver")
    assert changed.detail["approves_up_to"] == "high"


def test_allow_refuses_an_approver_that_is_everybody():
    with pytest.raises(CommandError, match="lets nobody approve"):
        run("allow", "add", "telegram", "--chat-id", "-100", "--role", "approver")


# --- Commands ---------------------------------------------------------------------------------


@pytest.mark.proves("Q21", "A7")
@pytest.mark.parametrize(
    ("arguments", "state", "action"),
    [
        (("approve",), "permitted", "approval.approved"),
        (("deny",), "done", "approval.denied"),
    ],
)
def test_whoever_has_the_shell_decides(approval, arguments, state, action):
    assert "[high risk] Delete something" in run("prompts", "list")

    run("prompts", *arguments, str(approval.pk), *(("why",) if arguments == ("deny",) else ()))

    assert call_of(approval).state == state
    event = AuditEvent.objects.get()
    assert event.action == action
    assert event.actor.startswith("command line:")
    with pytest.raises(CommandError, match="This is decided already"):
        run("prompts", "approve", str(approval.pk))


def test_a_question_cannot_be_approved_at_the_shell():
    prompt = factories.make_prompt()

    with pytest.raises(CommandError, match="answer it"):
        run("prompts", "approve", str(prompt.pk))


# --- explain ----------------------------------------------------------------------------------


def explain(name: str) -> dict:
    return json.loads(run("explain", name, "--json"))


def says(explanation: dict) -> str:
    return "\n".join(entry["says"] for entry in explanation["entries"])


@pytest.mark.proves("Q21")
def test_explain_says_that_a_turn_waits_for_an_approval_and_by_whom(approval, turn):
    held = explain(f"turn:{turn.pk}")["held_by"]

    assert held["layer"] == "question"
    assert f"waits for an approval of high risk (approval {approval.pk})" in held["says"]
    assert "It can be given by Ada, for whom it is asked; staff with" in held["says"]
    assert f"manage.py prompts approve {approval.pk}" in held["todo"]


def test_explain_names_an_operation_that_was_denied_by_whom_and_why(approval, turn):
    staff.rule(
        approval, approved=False, reason="no", actor="boss", surface="admin", now=timezone.now()
    )

    told = says(explain(f"approval:{approval.pk}"))

    assert f"approval {approval.pk} on admin: Denied by boss: no" in told


def test_explain_says_that_an_approved_call_is_about_to_run(approval, turn):
    questions.rule(approval, Ruling(approved=True), CHIEF, now=timezone.now())

    told = explain(f"turn:{turn.pk}")

    assert "the tool pretend_delete was approved and runs as soon as" in says(told)
    assert told["held_by"]["layer"] == "turn"


def test_explain_says_which_lasting_approval_spared_the_question(permit, approval, turn):
    assert approving.is_permitted(turn, approval.what, now=timezone.now())

    told = says(explain(f"turn:{turn.pk}"))

    assert f"needed no approval: lasting approval {permit.pk}, given by Chief" in told


def test_what_may_be_approved_for_themselves_depends_on_the_risk(turn):
    critical = factories.make_approval(turn, level=RiskLevel.CRITICAL, lasts={})

    held = explain(f"prompt:{critical.pk}")["held_by"]

    assert "It can be given by staff with" in held["says"]


def test_the_first_page_lists_an_approval_that_waits(staff_client, turn):
    factories.make_approval(turn, now=factories.ago(minutes=5), summary="Delete the old build")

    html = staff_client.get("/admin/").content.decode()

    assert "Delete the old build" in html
    assert not Reply.objects.exists()
    assert Turn.objects.get(pk=turn.pk).state == "waiting"


# --- In the chat ------------------------------------------------------------------------------


@pytest.mark.proves("Q21")
def test_status_shows_an_open_approval_with_its_number(clock):
    door = Door(clock)
    turn = door.say("Clean up, please").turn
    Turn.objects.filter(pk=turn.pk).update(state="waiting")
    turn.refresh_from_db()
    prompt = factories.make_approval(turn, now=clock(), summary="Delete *everything*")

    door.say("/status")

    assert f"`#{prompt.pk}` waits for an approval: Delete \\*everything\\*" in said()[-1]
