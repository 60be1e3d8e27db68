"""The commands: what they do, what they write down, and how they fail."""

import json

import pytest
from django.core.management import CommandError
from django.test import override_settings

from clarify import questions
from clarify.models import Prompt
from clarify.questions import Answerer
from delivery.models import Obligation
from delivery.states import PartState
from gateway import vault
from gateway.models import Account, AccountState, AllowEntry, AuditEvent, Turn
from tests import factories
from tests.integration.commanding import TOKEN, run
from tests.peers.telegram import TelegramPeer

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting():
    return factories.make_stuck_question()


# --- render ---------------------------------------------------------------------------------------


@pytest.mark.proves("D16")
def test_render_shows_what_telegram_is_sent(monkeypatch):
    parts = json.loads(
        run("render", "--platform", "telegram", stdin="**Hi**", monkeypatch=monkeypatch)
    )

    assert parts == [
        {"text": "Hi", "entities": [{"type": "bold", "offset": 0, "length": 2}], "length": 2}
    ]


@pytest.mark.proves("D16")
def test_render_keeps_to_a_smaller_limit(monkeypatch):
    out = run(
        "render",
        "--platform",
        "telegram",
        "--limit",
        "40",
        stdin="word " * 60,
        monkeypatch=monkeypatch,
    )

    parts = json.loads(out)
    assert len(parts) > 5
    assert max(part["length"] for part in parts) <= 40


@pytest.mark.proves("D16")
def test_render_knows_dialects_whose_platforms_are_not_installed(monkeypatch):
    out = run("render", "--platform", "slack", stdin="**Hi** & co", monkeypatch=monkeypatch)

    assert json.loads(out) == [{"text": "*Hi* &amp; co", "length": 13}]


def test_render_refuses_a_limit_too_small_for_marks(monkeypatch):
    with pytest.raises(CommandError, match="--limit must be from 128 to 2000 for discord"):
        run("render", "--platform", "discord", "--limit=100", stdin="x", monkeypatch=monkeypatch)


def test_render_names_the_platforms_there_are(monkeypatch):
    with pytest.raises(CommandError, match=r"no platform 'smoke'.*telegram"):
        run("render", "--platform", "smoke", stdin="x", monkeypatch=monkeypatch)


@pytest.mark.parametrize("limit", ["99999", "0", "-1", "3"])
def test_render_refuses_a_limit_that_the_platform_does_not_take(monkeypatch, limit):
    with pytest.raises(CommandError, match="--limit must be from"):
        run(
            "render",
            "--platform",
            "telegram",
            f"--limit={limit}",
            stdin="x",
            monkeypatch=monkeypatch,
        )


# --- accounts and access --------------------------------------------------------------------------


def add_account(monkeypatch, *more: str, secret: str = TOKEN) -> str:
    return run(
        "account",
        "add",
        "mybot",
        "telegram",
        "--secret-stdin",
        *more,
        stdin=f"{secret}\n",
        monkeypatch=monkeypatch,
    )


@pytest.mark.proves("I3")
def test_an_account_is_added_with_its_secret_encrypted_and_an_audit_row(monkeypatch):
    out = add_account(monkeypatch, "--option", "poll_seconds=5")

    account = Account.objects.get(slug="mybot")
    assert TOKEN not in account.secret + out
    assert vault.unlock(account.secret) == TOKEN
    assert account.options == {"poll_seconds": "5"}
    assert AuditEvent.objects.get().action == "account.added"
    assert TOKEN not in str(AuditEvent.objects.get().detail)


def test_changing_an_option_keeps_the_credential(monkeypatch):
    add_account(monkeypatch)

    run(
        "account",
        "add",
        "mybot",
        "telegram",
        "--keep-secret",
        "--option",
        "poll_seconds=9",
        monkeypatch=monkeypatch,
    )

    account = Account.objects.get(slug="mybot")
    assert (vault.unlock(account.secret), account.options) == (TOKEN, {"poll_seconds": "9"})


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("account", "add", "x", "smoke", "--secret-stdin"), "no platform 'smoke'"),
        (("account", "add", "not a slug", "telegram", "--secret-stdin"), "made of letters"),
        (("account", "add", "x", "telegram", "--secret-stdin", "--option", "z"), "NAME=VALUE"),
        (("account", "add", "x", "telegram", "--secret-stdin", "--option", "z=1"), "no option 'z'"),
        (("account", "add", "x", "telegram", "--keep-secret"), "The bot token is missing"),
        (("account", "add", "c2", "console", "--keep-secret"), "There is one Control UI"),
        (("allow", "add", "telegram", "abc"), "is a number such as 11111111, not 'abc'"),
        (("allow", "add", "telegram", "-100"), "is a number such as"),
        (("allow", "add", "console", "u1"), "Everybody with a login"),
        (("account", "test", "nobody"), "There is no account 'nobody'. There are: none."),
        (("allow", "add", "telegram"), "Name a person's id"),
        (("allow", "remove", "telegram", "5"), "manage.py allow list"),
        (("ledger", "retry", "abc"), "too short"),
        (("ledger", "retry", "abcdef"), "names no delivery"),
        (("prompts", "answer", "4", "x"), "There is no question 4"),
        (("send", "nobody", "1", "hello"), "There is no account"),
    ],
)
def test_a_mistake_is_named_with_what_to_do(words, complaint, monkeypatch):
    with pytest.raises(CommandError, match=complaint):
        run(*words, stdin=f"{TOKEN}\n", monkeypatch=monkeypatch)

    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize("secret", ["", "abc", "123456:ABC…", "your-token-here"])
def test_a_credential_that_cannot_be_one_is_refused_before_it_is_stored(monkeypatch, secret):
    with pytest.raises(CommandError, match="bot token"):
        add_account(monkeypatch, secret=secret)

    assert not Account.objects.exists()


def test_a_second_account_with_the_same_credential_is_refused(monkeypatch):
    factories.make_account("sales", secret=vault.lock(TOKEN))

    with pytest.raises(CommandError, match="the account sales has the same credential"):
        add_account(monkeypatch)

    run("account", "disable", "sales")
    add_account(monkeypatch)
    with pytest.raises(CommandError, match="the account mybot has the same credential"):
        run("account", "enable", "sales")


def test_an_account_of_the_environment_is_changed_there(monkeypatch):
    factories.make_account("mybot", from_environment=True)

    with pytest.raises(CommandError, match="stands in the environment"):
        add_account(monkeypatch)


def test_accounts_are_listed_without_secrets(monkeypatch):
    add_account(monkeypatch)

    out = run("account", "list")

    assert "mybot" in out
    assert TOKEN not in out


def test_an_account_is_disabled_and_enabled(monkeypatch):
    factories.make_account("mybot")

    run("account", "disable", "mybot")
    assert Account.objects.get().state == AccountState.DISABLED
    with pytest.raises(CommandError, match="mybot is disabled already"):
        run("account", "disable", "mybot")
    run("account", "enable", "mybot")

    assert Account.objects.get().is_enabled
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert actions == {"account.disabled", "account.enabled"}


@pytest.fixture
def bot_api():
    with TelegramPeer() as peer:
        yield peer


def test_a_good_credential_is_tried_for_real_and_says_who_it_is(bot_api):
    options = {"api_base_url": bot_api.url}
    factories.make_account("mybot", secret=vault.lock(bot_api.token), options=options)

    assert "the credential works" in run("account", "test", "mybot")


def test_a_refused_credential_is_named_without_being_shown(bot_api):
    options = {"api_base_url": bot_api.url}
    factories.make_account("mybot", secret=vault.lock(TOKEN), options=options)

    with pytest.raises(CommandError, match="AuthenticationRefused") as refusal:
        run("account", "test", "mybot")

    assert TOKEN not in str(refusal.value)


def test_a_platform_that_is_away_is_named(bot_api):
    options = {"api_base_url": "http://127.0.0.1:9"}
    factories.make_account("mybot", secret=vault.lock(TOKEN), options=options)

    with pytest.raises(CommandError, match="NetworkDown"):
        run("account", "test", "mybot")


def test_a_credential_that_looks_wrong_is_refused_before_any_call():
    factories.make_account("mybot", secret=vault.lock("rubbish"))

    with pytest.raises(CommandError, match=r"AuthenticationRefused.*does not look like one"):
        run("account", "test", "mybot")


def test_a_credential_of_another_installation_says_so():
    factories.make_account("mybot")

    with (
        override_settings(SECRET_KEY="another-key-than-the-one-before-0123456789"),
        pytest.raises(CommandError, match="HERMES_SECRET_KEY is another one"),
    ):
        run("account", "test", "mybot")


def test_the_allowlist_is_added_to_listed_and_removed_from():
    run("allow", "add", "telegram", "4711", "--note", "Grace")

    assert "4711" in run("allow", "list")
    with pytest.raises(CommandError, match="already exists"):
        run("allow", "add", "telegram", "4711")
    run("allow", "remove", "telegram", "4711")

    assert not AllowEntry.objects.exists()
    actions = list(AuditEvent.objects.order_by("pk").values_list("action", "subject"))
    assert actions == [("allow.added", "telegram: 4711"), ("allow.removed", "telegram: 4711")]


def test_an_entry_of_the_environment_is_removed_there():
    factories.make_allow_entry(user_id="1", from_environment=True)

    with pytest.raises(CommandError, match="TELEGRAM_ALLOWED_USERS"):
        run("allow", "remove", "telegram", "1")


# --- send and the ledger --------------------------------------------------------------------------


def test_send_owes_the_message_and_says_how_to_follow_it():
    factories.make_account("mybot")

    out = run("send", "mybot", "77", "Good **morning**")

    owed = Obligation.objects.get()
    assert (owed.state, owed.kind, owed.chat_id, owed.account) == (
        "pending",
        "cross",
        "77",
        "mybot",
    )
    assert f"manage.py explain {owed.delivery_id[:12]}" in out
    assert AuditEvent.objects.get().action == "message.sent"


def test_the_same_words_can_be_sent_twice():
    factories.make_account("mybot")

    run("send", "mybot", "77", "Hello")
    run("send", "mybot", "77", "Hello")

    assert Obligation.objects.count() == 2


@pytest.mark.proves("I3")
def test_an_abandoned_message_is_owed_again():
    owed = factories.make_obligation(state="abandoned", reason="chat is gone")
    assert "chat is gone" in run("ledger", "list", "--state", "abandoned")

    run("ledger", "retry", owed.delivery_id[:12])

    owed.refresh_from_db()
    assert owed.state == "failed"
    assert AuditEvent.objects.get().action == "delivery.retried"
    assert owed.delivery_id[:12] in run("ledger", "list")


def test_a_delivered_message_is_not_owed_again():
    owed = factories.settle(factories.make_obligation())

    with pytest.raises(CommandError, match="delivered already"):
        run("ledger", "retry", owed.delivery_id)

    assert not AuditEvent.objects.exists()


def test_an_owed_message_is_given_up_with_the_reason():
    owed = factories.make_obligation()

    run("ledger", "abandon", owed.delivery_id[:8], "--reason", "the wrong person")

    owed.refresh_from_db()
    assert (owed.state, owed.reason) == ("abandoned", "the wrong person")


def test_a_message_being_sent_is_not_given_up():
    owed = factories.make_obligation(state="attempting", owner="x", epoch=1)

    with pytest.raises(CommandError, match="being sent at this moment"):
        run("ledger", "abandon", owed.delivery_id[:8])


# --- questions ------------------------------------------------------------------------------------


def test_open_questions_are_listed_with_why_they_are_open(waiting):
    out = run("prompts", "list")

    assert factories.QUESTION in out
    assert "The last reply was not taken as an answer: There is no option 7." in out


def test_an_answer_on_behalf_lets_the_turn_go_on(waiting):
    _, turn, prompt = waiting

    run("prompts", "answer", str(prompt.pk), "2")

    prompt.refresh_from_db()
    assert (prompt.state, prompt.answers) == ("answered", {"answer": ["Production"]})
    assert prompt.resolved_on == "command line"
    assert Turn.objects.get(pk=turn.pk).state == "ready"
    assert AuditEvent.objects.get().action == "prompt.answered_on_behalf"


def test_an_answer_that_fits_nothing_changes_nothing(waiting):
    prompt = waiting[2]

    with pytest.raises(CommandError, match="There is no option 9"):
        run("prompts", "answer", str(prompt.pk), "9")

    assert Prompt.objects.get(pk=prompt.pk).state == "pending"
    assert prompt.replies.count() == 1
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(("verb", "state"), [("cancel", "cancelled"), ("expire", "expired")])
def test_a_question_is_closed_by_staff(waiting, verb, state):
    _, turn, prompt = waiting

    run("prompts", verb, str(prompt.pk))

    assert Prompt.objects.get(pk=prompt.pk).state == state
    assert Turn.objects.get(pk=turn.pk).state == "ready"
    with pytest.raises(CommandError, match=f"The question is {state} already"):
        run("prompts", verb, str(prompt.pk))
    assert AuditEvent.objects.get().action == f"prompt.{state}"


def test_closing_a_question_keeps_what_was_answered_of_it():
    prompt = factories.make_prompt(question_set=factories.several_questions())
    answerer = Answerer(id=prompt.asker_id, name="Ada", surface="telegram")
    questions.answer_text(prompt, "1b", answerer, now=factories.ago())

    run("prompts", "cancel", str(prompt.pk))

    assert Prompt.objects.get(pk=prompt.pk).answers == {"place": ["Production"]}


def test_more_time_is_counted_from_the_deadline(waiting):
    prompt = waiting[2]

    run("prompts", "extend", str(prompt.pk), "30")

    later = Prompt.objects.get(pk=prompt.pk).expires_at - prompt.expires_at
    assert later.total_seconds() == 30 * 60


def test_a_delivered_question_is_shown_again_and_the_old_message_points_to_it(waiting):
    prompt = waiting[2]
    first = prompt.obligation

    run("prompts", "resend", str(prompt.pk))

    prompt.refresh_from_db()
    assert prompt.obligation_id != first.pk
    assert prompt.obligation.state == "pending"
    pointer = Obligation.objects.get(edits=first)
    assert (pointer.content, pointer.kind) == ("This question is asked again below.", "retire")
    assert pointer.pk < prompt.obligation_id


def test_the_question_asked_again_is_the_one_that_is_closed(waiting):
    prompt = waiting[2]
    run("prompts", "resend", str(prompt.pk))
    prompt.refresh_from_db()
    factories.settle(prompt.obligation)

    run("prompts", "answer", str(prompt.pk), "1")

    assert Obligation.objects.filter(edits=prompt.obligation, kind="retire").count() == 1


def test_a_question_that_is_still_owed_is_not_shown_twice():
    prompt = factories.make_prompt(delivered=False)

    with pytest.raises(CommandError, match="about to be sent anyway"):
        run("prompts", "resend", str(prompt.pk))

    assert Obligation.objects.count() == 1


def test_a_question_waiting_for_its_retry_is_tried_at_once():
    prompt = factories.make_prompt(delivered=False)
    Obligation.objects.update(state="failed", next_attempt_at=factories.ago(minutes=-10))

    run("prompts", "resend", str(prompt.pk))

    assert Obligation.objects.get().next_attempt_at < factories.ago(minutes=-1)


def test_lost_parts_count_as_perhaps_seen(waiting):
    prompt = factories.make_prompt(delivered=False)
    prompt.obligation.parts.update(state=PartState.LOST)

    prompt = Prompt.objects.prefetch_related("obligation__parts").get(pk=prompt.pk)
    assert prompt.standing.may_be_seen
