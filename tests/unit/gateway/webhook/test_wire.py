"""What a genuine request says: its id, its kind, its fields."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.platforms.webhook import wire
from gateway.platforms.webhook.errors import Unreadable
from gateway.platforms.webhook.schemes import Kind, Proof, Request, Rule
from gateway.platforms.webhook.wire import Sources

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def read(kind: Kind, payload=None, *, stamp: str = "", sources: Sources | None = None, **headers):
    named = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    request = Request(headers=named, body=body)
    return wire.read(Rule(kind=kind), sources or Sources(), request, Proof(stamp=stamp))


def test_github_names_the_delivery_the_event_and_its_action():
    event = read(
        Kind.GITHUB,
        {"action": "opened"},
        X_GitHub_Event="pull_request",
        X_GitHub_Delivery="72d3162e-cc78-11e3-81ab-4c9367dc0958",
    )

    assert (event.event_id[:8], event.name) == ("72d3162e", "pull_request.opened")


def test_gitlab_names_an_event_by_the_key_that_a_retry_keeps():
    both = read(Kind.GITLAB, {}, X_Gitlab_Event_UUID="b", Idempotency_Key="a")
    older = read(Kind.GITLAB, {}, X_Gitlab_Event_UUID="b", X_Gitlab_Event="Push Hook")

    assert (both.event_id, older.event_id, older.name) == ("a", "b", "Push Hook")


def test_slack_names_a_message_by_its_place_and_time():
    inner = {"type": "message", "channel": "C1", "ts": "1.2"}
    event = read(Kind.SLACK, {"team_id": "T1", "event_id": "Ev1", "event": inner})

    assert (event.event_id, event.name) == ("T1/C1/1.2", "message")


def test_slack_names_anything_else_by_its_own_id():
    event = read(Kind.SLACK, {"event_id": "Ev1", "event": {"type": "team_join"}})
    command = read(
        Kind.SLACK,
        b"command=%2Fdeploy&trigger_id=13.37&text=now",
        Content_Type="application/x-www-form-urlencoded",
    )

    assert (event.event_id, event.name) == ("Ev1", "team_join")
    assert (command.event_id, command.name) == ("13.37", "/deploy")


def test_other_senders_name_events_where_staff_say():
    sources = Sources(event_id=".data.id", event="X-Kind")
    event = read(Kind.HMAC, {"data": {"id": 7}}, sources=sources, X_Kind="alert")

    assert (event.event_id, event.name) == ("7", "alert")


def test_a_signed_time_stands_in_for_an_id_that_is_missing():
    assert read(Kind.HMAC, {}, stamp="abc").event_id == "signed:abc"
    assert read(Kind.HMAC, {}).event_id == ""


@given(st.text(min_size=1))
def test_an_id_of_any_kind_fits_its_column_and_two_ids_stay_two(text):
    short = wire.short(text)

    assert 0 < len(short) <= wire.LONGEST_ID
    assert short.isascii()
    assert wire.short(text + "x") != short


def test_a_form_is_read_as_its_fields_or_as_the_json_in_it():
    form = "application/x-www-form-urlencoded; charset=utf-8"

    assert read(Kind.BEARER, b"a=1&b=", Content_Type=form).payload == {"a": "1", "b": ""}
    assert read(Kind.BEARER, b"payload=%7B%22a%22%3A1%7D", Content_Type=form).payload == {"a": 1}


def test_plain_text_is_text():
    event = read(
        Kind.BEARER, "grün\ud800".encode("utf-8", "surrogatepass"), Content_Type="text/plain"
    )

    assert event.payload["text"].startswith("grün")


def test_nothing_at_all_is_an_event_without_fields():
    assert read(Kind.BEARER, b" ").payload == {}


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 50_000, b"NaN", b"9" * 5000])
def test_what_is_no_json_is_refused_in_words(body):
    with pytest.raises(Unreadable, match="should be JSON"):
        read(Kind.BEARER, body)


@given(JSON)
def test_any_json_is_read_by_every_scheme(payload):
    for kind in Kind:
        event = read(kind, payload)

        assert event.payload == payload
        assert event.challenge is None or kind is Kind.SLACK


@pytest.mark.parametrize(
    ("patterns", "name", "passes"),
    [
        ("", "anything", True),
        ("push", "push", True),
        ("push", "Push", True),
        ("push\n pull_request.*", "pull_request.opened", True),
        ("pull_request.*", "pull_request_review.submitted", False),
        ("push", "", False),
        ("*", "", True),
        ("a[bc]", "ab", True),
    ],
)
def test_a_filter_lets_through_what_it_names(patterns, name, passes):
    assert wire.wants(patterns, name) is passes


@given(JSON, st.text())
def test_nothing_but_json_is_ever_looked_into(payload, path):
    try:
        found = wire.look_up(path, payload)
    except LookupError:
        return

    assert json.dumps(found) in json.dumps(payload)
