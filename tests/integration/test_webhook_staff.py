"""Endpoints as staff make, change, rotate and try them: by command and in the admin."""

import html
import json
import re

import pytest
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from delivery.models import DeadDestination
from gateway import instructions
from gateway.models import AuditEvent, Turn
from gateway.webhooks import endpoints
from gateway.webhooks.models import Endpoint, Goal, Receipt
from tests import factories
from tests.factories import make_account
from tests.integration.commanding import run
from tests.integration.paging import confirm
from tests.integration.sender import Sender, make_endpoint

pytestmark = [pytest.mark.django_db, pytest.mark.proves("W1")]
SIGNING = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SLACKS = "8f742231b10e8888abcd99yyyzzz85a5"


def shown_secret(told: str) -> str:
    return re.search(r"shown this once: (\S+)", told).group(1)


# --- by command -----------------------------------------------------------------------------------


def test_a_new_endpoint_says_where_it_listens_and_shows_its_secret_once():
    told = run("webhook", "create", "deploys", "--scheme", "github", "--event", "push")

    secret = shown_secret(told)
    assert "/hooks/deploys" in told
    endpoint = Endpoint.objects.get()
    assert endpoints.secrets_of(endpoint, timezone.now()) == [secret]
    assert endpoint.events == "push"
    for verb in (["list"], ["show", "deploys"], ["test", "deploys"]):
        assert secret not in run("webhook", *verb)
    assert AuditEvent.objects.get(action="webhook.added").subject == "webhook:deploys"


def test_a_secret_that_the_sender_has_is_read_and_not_shown(monkeypatch):
    told = run(
        *("webhook", "create", "team", "--scheme", "slack", "--secret-stdin"),
        stdin=f"{SLACKS}\n",
        monkeypatch=monkeypatch,
    )

    assert SLACKS not in told
    assert endpoints.secrets_of(Endpoint.objects.get(), timezone.now()) == [SLACKS]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["create", "a b"], "letters \\(a to z\\)"),
        (["create", "deploys", "--scheme", "slack"], "signing secret"),
        (["create", "deploys", "--to", "nowhere-known"], "Name the account"),
        (["create", "deploys", "--home", "telegram"], "has no home channel"),
        (["create", "deploys", "--chat", "telegram"], "--chat takes"),
        (["create", "deploys", "--option", "colour=red"], "--option takes"),
        (["create", "deploys", "--option", "per_minute=many"], "whole number"),
        (["create", "deploys", "--option", "tolerance=999999"], "less than or equal"),
        (["create", "deploys", "--template-file", "/nowhere/at/all"], "cannot be read"),
        (["show", "deploys"], "There is no endpoint"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(words, said):
    make_account("telegram")

    with pytest.raises(CommandError, match=said):
        run("webhook", *words)

    assert Endpoint.objects.count() == 0


def test_a_template_that_is_wrong_is_refused(tmp_path):
    file = tmp_path / "template"
    file.write_text("{{ a | upper }}")

    with pytest.raises(CommandError, match="is no field"):
        run("webhook", "create", "deploys", "--template-file", str(file))


def test_an_endpoint_can_be_changed_switched_and_given_another_secret():
    make_account("telegram")
    run("webhook", "create", "deploys")
    run("webhook", "change", "deploys", "--event", "a", "--event", "b", "--chat", "telegram", "42")
    run("webhook", "disable", "deploys")
    told = run("webhook", "rotate", "deploys", "--grace-hours", "0")

    endpoint = Endpoint.objects.get()
    assert endpoint.events == "a\nb"
    assert (endpoint.goal, endpoint.account, endpoint.chat_id) == (Goal.CHAT, "telegram", "42")
    assert not endpoint.is_enabled
    assert endpoints.secrets_of(endpoint, timezone.now()) == [shown_secret(told)]
    with pytest.raises(CommandError, match="disabled already"):
        run("webhook", "disable", "deploys")
    run("webhook", "enable", "deploys")
    assert set(AuditEvent.objects.values_list("action", flat=True)) == {
        "webhook.added",
        "webhook.changed",
        "webhook.disabled",
        "webhook.enabled",
        "webhook.rotated",
    }


@pytest.mark.parametrize("scheme", ["standard", "github", "gitlab", "hmac", "bearer"])
def test_trying_shows_the_prompt_and_stores_nothing_unless_it_is_run(scheme, tmp_path):
    run("webhook", "create", "deploys", "--scheme", scheme)
    body = tmp_path / "body.json"
    body.write_text(json.dumps({"what": "a try"}))

    told = run("webhook", "test", "deploys", "--body", str(body))
    assert "a try" in told
    assert Turn.objects.count() == Receipt.objects.count() == 0

    assert "Taken: accepted" in run("webhook", "test", "deploys", "--body", str(body), "--run")
    assert Turn.objects.count() == 1


def test_trying_says_what_the_filter_and_a_refusal_would_do(tmp_path):
    run("webhook", "create", "deploys", "--scheme", "github", "--event", "push")
    assert "begin no turn" in run("webhook", "test", "deploys", "--event", "star")
    body = tmp_path / "body"
    body.write_text("{")

    with pytest.raises(CommandError, match="would be refused: The request cannot be read"):
        run("webhook", "test", "deploys", "--body", str(body))


# --- in the admin ---------------------------------------------------------------------------------


@pytest.fixture
def boss(client):
    client.force_login(factories.make_staff())
    return client


def page(name: str, *args: object) -> str:
    return reverse(f"admin:webhooks_{name}", args=args)


def form(**changes: str) -> dict[str, str]:
    defaults = {
        "name": "deploys",
        "scheme": "github",
        "events": "push",
        "template": "{{ ref }}",
        "goal": "none",
        "signature_header": "X-Signature",
        "encoding": "hex",
        "tolerance": "300",
        "per_minute": "600",
        "max_bytes": "1048576",
    }
    return defaults | changes


def test_the_page_after_making_an_endpoint_shows_its_secret_and_no_other_page_does(boss):
    answer = boss.post(page("endpoint_add"), form())

    endpoint = Endpoint.objects.get()
    (secret,) = endpoints.secrets_of(endpoint, timezone.now())
    assert secret in answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]
    for other in (page("endpoint_changelist"), page("endpoint_change", endpoint.pk)):
        shown = boss.get(other)
        assert shown.status_code == 200
        assert secret not in shown.content.decode()
    assert secret not in str(dict(boss.session))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"template": "{{ a | b }}"}, "is no field"),
        ({"scheme": "slack"}, "Copy the signing secret"),
        ({"own_secret": "tiny"}, "could be guessed"),
        ({"goal": "home", "account": "nobody"}, "Name the account"),
        ({"name": "not a name"}, "without spaces"),
        ({"max_bytes": "1"}, "greater than or equal"),
    ],
)
def test_a_form_that_is_wrong_says_so_beside_the_field_and_keeps_what_was_typed(
    boss, changes, said
):
    answer = boss.post(page("endpoint_add"), form(**({"events": "kept as it was typed"} | changes)))

    shown = html.unescape(answer.content.decode())
    assert said in shown
    assert "kept as it was typed" in shown
    assert Endpoint.objects.count() == 0


def test_a_new_secret_is_asked_for_and_shown_once(boss):
    endpoint = make_endpoint()
    (former,) = endpoints.secrets_of(endpoint, timezone.now())

    answer = confirm(boss, Endpoint, "rotate", endpoint, grace="24", secret="")

    endpoint.refresh_from_db()
    new, old = endpoints.secrets_of(endpoint, timezone.now())
    assert old == former
    assert new in answer.content.decode()


def test_endpoints_are_switched_and_changed_there_and_never_deleted(boss):
    endpoint = make_endpoint()
    confirm(boss, Endpoint, "disable", endpoint)
    boss.post(page("endpoint_change", endpoint.pk), form(template="{{ a }}"))

    endpoint.refresh_from_db()
    assert (endpoint.is_enabled, endpoint.template) == (False, "{{ a }}")
    assert boss.post(page("endpoint_delete", endpoint.pk)).status_code == 403


def test_what_came_can_be_read_there_with_what_became_of_it(boss):
    endpoint = make_endpoint()
    Sender(endpoint).post({"type": "<script>alert(1)</script>"}, event_id="msg_1")

    shown = boss.get(page("receipt_changelist")).content.decode()
    assert "msg_1" in shown
    assert "<script>alert(1)" not in shown
    assert boss.get(page("receipt_change", Receipt.objects.get().pk)).status_code == 200
    assert "1 " in boss.get(page("endpoint_changelist")).content.decode()


def test_whoever_may_only_look_cannot_make_or_rotate(client):
    reader = factories.make_staff("reader", is_superuser=False)
    client.force_login(reader)
    endpoint = make_endpoint()

    assert client.post(page("endpoint_add"), form()).status_code == 403
    assert client.get(page("endpoint_change", endpoint.pk)).status_code == 403


# --- the turn -------------------------------------------------------------------------------------


def test_a_turn_that_an_event_began_can_ask_nobody():
    Sender(make_endpoint()).post({})
    turn = Turn.objects.get()

    tools = instructions.tools_for(turn)

    assert tools
    assert not tools & {"clarify", "ask_user"}
    assert "nobody can be asked" in instructions.for_turn(instructions.context_of(turn))


# --- out ------------------------------------------------------------------------------------------


@pytest.mark.proves("D10")
def test_a_receiver_that_wanted_no_more_is_sent_to_again_when_staff_say_so(boss):
    closed = DeadDestination.objects.create(
        platform="webhook", account="out", chat_id="deploys", reason="410", since=timezone.now()
    )

    answer = confirm(boss, DeadDestination, "reopen", closed)

    assert "open again" in answer.content.decode()
    assert DeadDestination.objects.count() == 0
    assert AuditEvent.objects.get(action="chat.reopened").subject == "chat:out:deploys"


@pytest.mark.parametrize(
    ("options", "given", "said"),
    [
        ([], SIGNING, "option url is missing"),
        (["url=http://example.org/in"], SIGNING, "must begin with https://"),
        (["url=https://10.0.0.7/in"], SIGNING, "private network"),
        (["url=https://example.org/in"], "nonsense!", "is whsec_ followed by base64"),
        (["url=https://example.org/in", "colour=red"], SIGNING, "no option 'colour'"),
    ],
)
def test_a_receiver_that_cannot_work_is_not_stored(monkeypatch, options, given, said):
    flags = [word for option in options for word in ("--option", option)]

    with pytest.raises(CommandError, match=said):
        run(
            *("account", "add", "out", "webhook", "--secret-stdin", *flags),
            stdin=f"{given}\n",
            monkeypatch=monkeypatch,
        )
