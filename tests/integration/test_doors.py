"""What a platform tells over HTTP: proved, stored, then answered; done by whoever is connected."""

import json
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from delivery import hints
from gateway import vault
from gateway.deeds import AckPress, FetchFiles, ShowHeard, StartTyping, as_plain, from_plain
from gateway.models import InboundEvent
from gateway.platforms.slack import requests
from tests.factories import make_account, make_allow_entry
from tests.peers.slack import SIGNING_SECRET, TOKEN
from tests.peers.slack.mailbox import signed
from tests.unit.gateway.test_slack_wire import payload

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def told(monkeypatch) -> list[dict]:
    """What the process that serves the account is told to do."""
    heard: list[dict] = []

    def publish(group: str, kind: str, **more) -> None:
        if kind == "deed":
            heard.append(more["deed"])

    monkeypatch.setattr(hints, "publish", publish)
    return heard


@pytest.fixture
def account():
    make_allow_entry(platform="slack", user_id="U061F7AUR")
    return make_account(
        "slack",
        platform="slack",
        secret=vault.lock(f"{TOKEN} {SIGNING_SECRET}"),
        bot_id="U0BOT0001",
    )


def post(body: bytes, content_type: str = "application/json", slug: str = "slack", **changes):
    headers = signed(body, changes.pop("secret", SIGNING_SECRET), at=changes.pop("at", None))
    headers |= changes.pop("headers", {})
    return Client().post(f"/in/{slug}", body, content_type=content_type, headers=headers)


def event(name: str, **changes) -> bytes:
    """An event as if it had just happened."""
    told = payload(name) | changes
    told["event"] |= {"ts": f"{int(timezone.now().timestamp())}.000200"}
    return json.dumps(told).encode()


def form(**fields: str) -> bytes:
    return urlencode(fields).encode()


@pytest.mark.proves("P3")
def test_what_is_told_is_stored_before_it_is_answered(account, told):
    answer = post(event("dm"))

    assert answer.status_code == 200
    (row,) = InboundEvent.objects.all()
    assert (row.account, row.text, row.scope_id) == ("slack", "Hello & <welcome>", "T012AB3C4")
    assert [deed["kind"] for deed in told] == ["StartTyping"]


@pytest.mark.proves("P1", "P3")
def test_what_is_told_again_is_answered_and_stored_once(account, told):
    """B207: the same message also comes under other event ids."""
    first = json.loads(event("dm"))
    for number in range(11):
        again = json.dumps(first | {"event_id": f"Ev{number}"}).encode()
        headers = {"X-Slack-Retry-Num": str(number)}
        assert post(again, headers=headers).status_code == 200

    assert InboundEvent.objects.count() == 1
    assert len(told) == 1


def test_the_address_is_proved_to_slack(account):
    body = json.dumps({"type": "url_verification", "token": "x", "challenge": "3eZbrw1aBm"})
    answer = post(body.encode())

    assert answer.json() == {"challenge": "3eZbrw1aBm"}


def test_a_press_and_a_slash_command_come_as_forms(account, told):
    pressed = post(form(payload=json.dumps(payload("press"))), FORM)
    ordered = post(form(**payload("slash")), FORM)

    assert (pressed.status_code, pressed.content) == (200, b"")
    assert "has been heard" in ordered.json()["text"]
    assert [row.kind for row in InboundEvent.objects.order_by("id")] == ["press", "message"]
    assert [deed["kind"] for deed in told] == ["AckPress"]


@pytest.mark.proves("X1")
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"secret": "ff" * 16}, requests.FORGED),
        ({"headers": {"X-Slack-Signature": ""}}, requests.UNSIGNED),
        ({"headers": {"X-Slack-Signature": "v0=é"}}, requests.FORGED),
        ({"headers": {"X-Slack-Request-Timestamp": "soon"}}, requests.UNSIGNED),
        ({"at": 1_000_000_000}, requests.STALE),
    ],
)
def test_what_is_not_proved_to_be_slacks_is_refused(account, changes, why):
    answer = post(event("dm"), **changes)

    assert (answer.status_code, answer.content.decode()) == (401, why)
    assert not InboundEvent.objects.exists()


@pytest.mark.parametrize("minutes", [-6, 6])
def test_a_signature_holds_for_five_minutes(account, minutes):
    at = int((timezone.now() + timedelta(minutes=minutes)).timestamp())

    assert post(event("dm"), at=at).status_code == 401


@pytest.mark.parametrize("body", [b"[]", b"{", b"\xff", b"7"])
def test_what_is_signed_and_cannot_be_read_is_refused(account, body):
    assert post(body).status_code == 400


def test_nobody_listens_where_no_account_hears_that_way(account):
    make_account("bot")
    make_account(
        "deaf",
        platform="slack",
        secret=vault.lock(f"{TOKEN} {SIGNING_SECRET} xapp-1-A-1-abc"),
    )

    assert post(event("dm"), slug="bot").status_code == 404
    assert post(event("dm"), slug="nobody").status_code == 404
    assert post(event("dm"), slug="deaf").content.decode() == requests.NOT_AN_ACCOUNT
    assert Client().get("/in/slack").status_code == 405


def test_an_account_that_is_disabled_hears_nothing(account):
    type(account).objects.update(is_enabled=False)

    assert post(event("dm")).status_code == 404


def test_a_deed_is_handed_over_whole(account, told):
    post(form(payload=json.dumps(payload("press"))), FORM)
    (deed,) = (from_plain(json.loads(json.dumps(one))) for one in told)

    assert isinstance(deed, AckPress)
    assert deed.press.source.address.thread_id == "1767225600.000200"
    address = deed.press.source.address
    for other in (StartTyping(address, 7), ShowHeard(address, "9"), FetchFiles(8)):
        assert from_plain(as_plain(other)) == other
