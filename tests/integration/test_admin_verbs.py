"""What staff do on their pages, with the rows it leaves in the audit log."""

import pytest

from clarify.models import Prompt
from delivery.models import Obligation, Outcome
from gateway import vault
from gateway.models import (
    Account,
    AllowEntry,
    AuditEvent,
    Turn,
)
from tests import factories
from tests.integration.paging import act, confirm, messages_of, page

pytestmark = pytest.mark.django_db
TOKEN = "123456:" + "C" * 35


@pytest.fixture
def staff_client(client):
    client.force_login(factories.make_staff())
    return client


@pytest.fixture
def prompt():
    prompt = factories.make_prompt(now=factories.ago(minutes=5))
    factories.make_allow_entry(user_id=prompt.asker_id)
    return prompt


# --- Questions ------------------------------------------------------------------------------------


@pytest.mark.proves("Q21")
def test_the_list_of_questions_says_who_was_asked_and_why_each_is_open(staff_client, prompt):
    factories.make_reply(prompt, detail="There is no option 7.")

    html = staff_client.get(page(Prompt, "changelist")).content.decode()

    assert "There is no option 7." in html
    assert factories.QUESTION in html
    assert f"Ada [{prompt.asker_id}]" in html
    assert "5 min" in html


def test_the_page_of_a_question_shows_what_the_person_saw_and_said(staff_client, prompt):
    factories.make_reply(prompt, text="seven please")

    html = staff_client.get(page(Prompt, "change", prompt.pk)).content.decode()

    assert "[ Staging ]\n[ Production ]" in html
    assert "seven please" in html
    assert page(Turn, "change", prompt.correlation) in html
    assert page(Obligation, "change", prompt.obligation_id) in html


def test_an_answer_on_behalf_is_asked_for_on_a_page_of_its_own(staff_client, prompt):
    response = act(staff_client, Prompt, "answer", prompt)

    page = response.content.decode()
    assert "Answer on behalf of the person who was asked?" in page
    assert 'value="See how it is read"' in page
    assert "Give this answer" not in page
    assert Prompt.objects.get().state == "pending"


@pytest.mark.proves("Q21")
def test_an_answer_on_behalf_is_shown_as_it_is_read_before_it_is_given(staff_client, prompt):
    response = confirm(staff_client, Prompt, "answer", prompt, text="the second, please")

    assert response.context["foreseen"] == [f"{factories.QUESTION} Production"]
    page = response.content.decode()
    assert "Nothing is done yet" in page
    assert 'value="Give this answer"' in page
    assert Prompt.objects.get().state == "pending"


@pytest.mark.proves("Q21")
def test_an_answer_that_was_changed_after_it_was_shown_is_shown_again(staff_client, prompt):
    seen = f"{factories.QUESTION} Production"

    response = confirm(staff_client, Prompt, "answer", prompt, text="1", foreseen=seen)

    assert response.context["foreseen"] == [f"{factories.QUESTION} Staging"]
    assert Prompt.objects.get().state == "pending"


def test_what_is_read_as_own_words_is_said_to_be(staff_client, prompt):
    response = confirm(staff_client, Prompt, "answer", prompt, text="wherever Bo likes")

    said = f"{factories.QUESTION} “wherever Bo likes” (in own words)"
    assert response.context["foreseen"] == [said]


def test_of_several_questions_what_stays_open_is_said(staff_client):
    prompt = factories.make_prompt(question_set=factories.several_questions())

    response = confirm(staff_client, Prompt, "answer", prompt, text="1b")

    assert response.context["foreseen"] == [
        f"{factories.QUESTION} Production",
        "What else? It stays open.",
    ]


@pytest.mark.proves("A7", "Q21")
def test_an_answer_on_behalf_closes_the_question_with_an_audit_row(staff_client, prompt):
    seen = f"{factories.QUESTION} Production"
    response = confirm(staff_client, Prompt, "answer", prompt, text="Production", foreseen=seen)

    closed = Prompt.objects.get()
    assert (closed.state, closed.resolved_by, closed.resolved_on) == ("answered", "boss", "admin")
    assert closed.answers == {"answer": ["Production"]}
    assert messages_of(response) == f"Question {prompt.pk}: Answered: Production"
    event = AuditEvent.objects.get()
    assert (event.action, event.actor, event.subject) == (
        "prompt.answered_on_behalf",
        "boss",
        f"prompt:{prompt.pk}",
    )


def test_an_answer_that_fits_nothing_is_refused_in_words(staff_client, prompt):
    response = confirm(staff_client, Prompt, "answer", prompt, text="9")

    html = response.content.decode()
    assert "There is no option 9" in html
    assert factories.QUESTION in html
    assert response.context["form"]["text"].value() == "9"
    assert f'name="_selected_action" value="{prompt.pk}"' in html
    assert Prompt.objects.get().state == "pending"
    assert not AuditEvent.objects.exists()


def test_an_empty_answer_is_asked_for_again(staff_client, prompt):
    response = confirm(staff_client, Prompt, "answer", prompt, text=" ")

    assert "This field is required" in response.content.decode()


@pytest.mark.proves("A7", "Q21")
@pytest.mark.parametrize(
    ("action", "given", "audit", "told"),
    [
        ("extend", {"minutes": "30"}, "prompt.extended", "open until 20"),
        ("expire", {}, "prompt.expired", "expired; the agent is told."),
        ("cancel", {}, "prompt.cancelled", "cancelled; the agent is told."),
        ("resend", {}, "prompt.resent", "shown again."),
    ],
)
def test_each_verb_is_confirmed_first_and_audited_after(
    staff_client, prompt, action, given, audit, told
):
    asked = act(staff_client, Prompt, action, prompt)
    assert "confirmed" in asked.content.decode()
    assert not AuditEvent.objects.exists()

    response = confirm(staff_client, Prompt, action, prompt, **given)

    assert messages_of(response).startswith(f"Question {prompt.pk}: {told}")
    assert AuditEvent.objects.get().action == audit


def test_of_many_questions_those_that_are_closed_are_named(staff_client, prompt):
    closed = factories.make_prompt(state="answered")

    response = confirm(staff_client, Prompt, "cancel", prompt, closed)

    assert f"Question {prompt.pk}: cancelled" in messages_of(response)
    assert f"Question {closed.pk}: The question is answered already." in messages_of(response)


def test_many_questions_are_told_of_in_one_line(staff_client, prompt):
    response = confirm(staff_client, Prompt, "cancel", prompt, factories.make_prompt())

    assert messages_of(response) == "Cancelled; the agent is told: 2 questions."


def test_what_is_confirmed_shows_the_question_that_the_person_saw(staff_client, prompt):
    html = act(staff_client, Prompt, "cancel", prompt).content.decode()

    assert f"question {prompt.pk} (pending)" in html
    assert "[ Staging ]" in html


def test_the_page_of_a_question_offers_its_verbs(staff_client, prompt):
    html = staff_client.get(page(Prompt, "change", prompt.pk)).content.decode()

    assert "Answer on behalf…" in html
    assert "Cancel…" in html


# --- Deliveries -----------------------------------------------------------------------------------


def test_the_page_of_an_owed_message_shows_each_part_with_its_tries(staff_client):
    owed = factories.make_obligation(content="Hello there")
    factories.make_attempt(owed.parts.get(), outcome=Outcome.UNKNOWN, detail="no answer came")

    html = staff_client.get(page(Obligation, "change", owed.pk)).content.decode()

    assert "no answer came" in html
    assert "may have arrived" in html
    assert "Hello there" in html


@pytest.mark.parametrize(
    ("action", "before", "after", "given"),
    [
        ("retry", "abandoned", "failed", {}),
        ("abandon", "failed", "abandoned", {"reason": "not wanted any more"}),
        ("mark_delivered", "abandoned", "delivered", {}),
        ("mark_delivered", "failed", "delivered", {}),
    ],
)
def test_staff_settle_what_is_owed(staff_client, action, before, after, given):
    owed = factories.make_obligation(state=before)

    response = confirm(staff_client, Obligation, action, owed, **given)

    assert messages_of(response).startswith(f"Delivery {owed.delivery_id[:12]}: ")
    assert Obligation.objects.get().state == after
    assert AuditEvent.objects.get().subject == f"delivery:{owed.delivery_id[:12]}"


def test_a_message_being_sent_is_left_alone(staff_client):
    owed = factories.make_obligation(state="attempting", owner="x", epoch=3)

    response = confirm(staff_client, Obligation, "mark_delivered", owed)

    assert "being sent at this moment" in messages_of(response)
    assert not AuditEvent.objects.exists()


# --- Turns ----------------------------------------------------------------------------------------


def test_stopping_a_turn_closes_its_question_and_tells_the_person(staff_client, prompt):
    turn = Turn.objects.get()

    confirm(staff_client, Turn, "stop", turn)

    assert Turn.objects.get().state == "stopped"
    assert Prompt.objects.get().state == "cancelled"
    notice = Obligation.objects.get(kind="notice")
    assert "Stopped by the operator" in notice.content
    assert AuditEvent.objects.get().action == "turn.stopped"


def test_a_turn_that_has_ended_is_not_stopped(staff_client):
    turn = factories.make_turn(state="finished")

    response = confirm(staff_client, Turn, "stop", turn)

    assert "has ended already" in messages_of(response)


def test_the_page_of_a_turn_leads_to_its_messages_questions_and_deliveries(staff_client, prompt):
    turn = Turn.objects.get()
    event = factories.make_inbound(turn)

    html = staff_client.get(page(Turn, "change", turn.pk)).content.decode()

    assert page(Prompt, "change", prompt.pk) in html
    assert page(Obligation, "change", prompt.obligation_id) in html
    assert page(type(event), "change", event.pk) in html


# --- Accounts and access --------------------------------------------------------------------------


@pytest.mark.proves("U2")
def test_an_account_is_made_with_a_credential_that_is_never_shown(staff_client):
    given = {
        "slug": "mybot",
        "platform": "telegram",
        "credential": TOKEN,
        "options": '{"proxy": "http://me:hush@host:3128", "poll_seconds": 5}',
    }

    response = staff_client.post(page(Account, "add"), given, follow=True)

    assert response.status_code == 200
    account = Account.objects.get()
    assert vault.unlock(account.secret) == TOKEN
    assert account.options["poll_seconds"] == "5"
    pages = [
        page(Account, "changelist"),
        page(Account, "change", account.pk),
        page(AuditEvent, "changelist"),
    ]
    html = "".join(staff_client.get(path).content.decode() for path in pages)
    assert TOKEN not in html
    assert account.secret not in html
    assert "hush" not in html
    assert AuditEvent.objects.get().action == "account.added"


def test_saving_what_the_page_shows_keeps_the_secrets(staff_client):
    account = factories.make_account("mybot", options={"proxy": "http://me:hush@host:3128"})
    before = vault.unlock(account.secret)
    shown = staff_client.get(page(Account, "change", account.pk)).context["adminform"].form
    assert "hush" not in str(shown.initial)

    staff_client.post(
        page(Account, "change", account.pk),
        {"credential": "", "options": shown["options"].value()},
    )

    account.refresh_from_db()
    assert vault.unlock(account.secret) == before
    assert account.options == {"proxy": "http://me:hush@host:3128"}


def test_a_new_credential_replaces_the_stored_one(staff_client):
    account = factories.make_account("mybot")

    staff_client.post(page(Account, "change", account.pk), {"credential": TOKEN, "options": "{}"})

    account.refresh_from_db()
    assert vault.unlock(account.secret) == TOKEN
    assert AuditEvent.objects.get().detail["credential"] == "new"


def add_account(client, **changes):
    given = {"slug": "mybot", "platform": "telegram", "credential": TOKEN, "options": "{}"}
    return client.post(page(Account, "add"), given | changes)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"credential": ""}, "The bot token is missing"),
        ({"credential": "abc"}, "does not look like one"),
        ({"options": '{"foo": "bar"}'}, "There is no option &#x27;foo&#x27; here"),
        ({"platform": "console", "credential": ""}, "There is one Control UI"),
        ({"slug": "my bot"}, "made of letters"),
    ],
)
def test_an_account_that_cannot_work_is_refused_on_the_page(staff_client, changes, complaint):
    response = add_account(staff_client, **changes)

    assert complaint in response.content.decode()
    assert not Account.objects.exists()


def test_a_credential_that_another_account_has_is_refused_on_the_page(staff_client):
    factories.make_account("sales", secret=vault.lock(TOKEN))

    response = add_account(staff_client)

    assert "the account sales has the same credential" in response.content.decode()


def test_only_a_stored_credential_is_said_to_be_kept(staff_client):
    account = factories.make_account("mybot")

    new = staff_client.get(page(Account, "add")).content.decode()
    changed = staff_client.get(page(Account, "change", account.pk)).content.decode()

    assert "the stored one is kept" not in new
    assert "the stored one is kept" in changed


def test_a_person_who_cannot_exist_is_refused_on_the_page(staff_client):
    response = staff_client.post(page(AllowEntry, "add"), {"platform": "telegram", "user_id": "ab"})

    assert "is a number such as" in response.content.decode()
    assert not AllowEntry.objects.exists()


def test_options_that_are_no_object_are_explained(staff_client):
    account = factories.make_account("mybot")

    response = staff_client.post(page(Account, "change", account.pk), {"options": "[1]"})

    assert "Write an object of names and texts" in response.content.decode()


def test_an_account_of_the_environment_is_not_edited_here(staff_client):
    account = factories.make_account("mybot", from_environment=True)

    assert staff_client.get(page(Account, "change", account.pk)).status_code == 200
    assert staff_client.post(page(Account, "change", account.pk), {}).status_code == 403


def test_accounts_are_disabled_and_enabled_with_audit_rows(staff_client):
    account = factories.make_account("mybot")

    confirm(staff_client, Account, "disable", account)
    assert not Account.objects.get().is_enabled
    confirm(staff_client, Account, "enable", account)

    assert Account.objects.get().is_enabled
    assert AuditEvent.objects.count() == 2


@pytest.mark.proves("A7")
def test_the_allowlist_is_kept_with_audit_rows(staff_client):
    given = {"platform": "telegram", "user_id": "4711", "note": "Grace"}
    staff_client.post(page(AllowEntry, "add"), given)
    entry = AllowEntry.objects.get()
    assert entry.created_by.get_username() == "boss"

    staff_client.post(page(AllowEntry, "change", entry.pk), given | {"note": "Grace H."})
    staff_client.post(page(AllowEntry, "delete", entry.pk), {"post": "yes"})

    actions = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["allow.added", "allow.changed", "allow.removed"]


def test_a_chosen_few_of_the_allowlist_are_removed_each_with_its_audit_row(staff_client):
    entries = [factories.make_allow_entry() for _ in range(3)]

    act(staff_client, AllowEntry, "delete_selected", *entries[:2], post="yes")

    assert AllowEntry.objects.count() == 1
    assert AuditEvent.objects.filter(action="allow.removed").count() == 2


def test_nobody_opens_a_whole_platform_by_leaving_fields_empty(staff_client):
    response = staff_client.post(page(AllowEntry, "add"), {"platform": "telegram"})

    assert "Name a person" in response.content.decode()
    assert not AllowEntry.objects.exists()


def test_the_same_entry_twice_is_refused_on_the_page(staff_client):
    factories.make_allow_entry(user_id="4711")

    response = staff_client.post(
        page(AllowEntry, "add"), {"platform": "telegram", "user_id": "4711"}
    )

    assert response.status_code == 200
    assert "already exists" in response.content.decode()
