"""Signed webhooks come in: verified, in time, once, answered at once; their turn runs later."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from clarify.models import Prompt
from delivery.models import Obligation
from gateway import turns
from gateway.models import Conversation, Decision, InboundEvent, Turn
from gateway.platforms.webhook import templates
from gateway.webhooks import endpoints, receiving
from gateway.webhooks.models import Endpoint, Goal, Outcome, Receipt
from tests.factories import make_account
from tests.integration.sender import Sender, make_endpoint, problem

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.proves("W1")]


def finish(turn: Turn, words: str) -> None:
    """The agent has answered."""
    now = timezone.now()
    claimed = turns.claim(turn.conversation_id, "tests", now=now, capacity=100)
    assert claimed is not None
    assert claimed.pk == turn.pk
    turns.finish(claimed, words, [], {}, now=now)


def test_an_event_is_answered_before_its_turn_has_run():
    sender = Sender(make_endpoint(template="Look at {{ ref }}."))

    answer = sender.post({"type": "push", "ref": "main"}, event_id="msg_1")

    assert answer.status_code == 202
    assert answer.json() == {"status": "accepted", "id": "msg_1"}
    turn = Turn.objects.get()
    assert turn.state == "queued"
    assert turn.prompt == f"Look at ⟦main⟧.\n\n{templates.WARNING}"
    receipt = Receipt.objects.get()
    assert (receipt.event_id, receipt.event, receipt.outcome) == ("msg_1", "push", Outcome.TURN)
    assert receipt.turn == turn
    event = InboundEvent.objects.get()
    assert (event.decision, event.turn, event.text) == (Decision.TURN, turn, turn.prompt)


def test_the_same_event_again_is_acknowledged_and_begins_no_turn():
    sender = Sender(make_endpoint())
    sender.post({"n": 1}, event_id="msg_1")

    again = sender.post({"n": 1}, event_id="msg_1")

    assert again.status_code == 200
    assert again.json() == {"status": "duplicate", "id": "msg_1"}
    assert Turn.objects.count() == InboundEvent.objects.count() == 1


def test_equal_words_under_two_ids_are_two_events():
    sender = Sender(make_endpoint())

    sender.post({"n": 1}, event_id="msg_1")
    sender.post({"n": 1}, event_id="msg_2")

    assert Turn.objects.count() == 2


def test_one_id_at_two_endpoints_is_two_events():
    for name in ("one", "two"):
        Sender(make_endpoint(name)).post({"n": 1}, event_id="msg_1")

    assert Turn.objects.count() == 2


def test_a_receipt_that_is_gone_does_not_let_an_event_run_twice():
    sender = Sender(make_endpoint())
    sender.post({}, event_id="msg_1")
    receiving.forget(before=timezone.now() + timedelta(days=1))

    again = sender.post({}, event_id="msg_1")

    assert again.json()["status"] == "duplicate"
    assert Turn.objects.count() == 1


def test_an_event_that_could_not_be_stored_is_taken_when_it_comes_again(monkeypatch):
    sender = Sender(make_endpoint())

    def broken(*_args, **_kwargs):
        raise RuntimeError("the process dies here")

    with monkeypatch.context() as patch:
        patch.setattr(receiving.inbound, "store", broken)
        assert sender.post({}, event_id="msg_1").status_code == 500
    assert Receipt.objects.count() == Turn.objects.count() == Conversation.objects.count() == 0

    assert sender.post({}, event_id="msg_1").status_code == 202


def test_a_signed_time_without_an_id_makes_one_request_sent_twice_one_event():
    endpoint = make_endpoint(scheme="hmac", timestamp_from="X-Time", id_from="")
    sender = Sender(endpoint)
    request = sender.signed({"n": 1})

    first, second = sender.send(*request), sender.send(*request)

    assert (first.status_code, second.json()["status"]) == (202, "duplicate")
    late = sender.signed({"n": 1}, at=timezone.now() - timedelta(days=1))
    assert sender.send(*late).status_code == 401
    assert Turn.objects.count() == 1


def test_without_an_id_and_a_signed_time_each_request_is_an_event_of_its_own():
    sender = Sender(make_endpoint(scheme="bearer", id_from=""))

    answers = [sender.post({"n": 1}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert Turn.objects.count() == 2


def test_an_endpoint_may_demand_an_id():
    sender = Sender(make_endpoint(scheme="bearer", id_from=".data.id", needs_id=True))

    refused, taken = sender.post({}), sender.post({"data": {"id": 7}})

    assert refused.status_code == 400
    assert ".data.id" in problem(refused)["detail"]
    assert taken.json() == {"status": "accepted", "id": "7"}


# --- what is refused ------------------------------------------------------------------------------


def test_a_wrong_secret_is_refused_in_words_that_help_and_give_nothing_away():
    sender = Sender(make_endpoint())
    headers, body = sender.signed({"n": 1})
    headers["webhook-signature"] = "v1,AAAA"

    answer = sender.send(headers, body)

    told = problem(answer)
    assert (answer.status_code, told["status"]) == (401, 401)
    assert "exactly as it is sent" in told["detail"]
    right = sender.signed({"n": 1})[0]["webhook-signature"].removeprefix("v1,")
    assert right not in answer.content.decode()
    assert sender.secret not in answer.content.decode()
    endpoint = Endpoint.objects.get()
    assert endpoint.last_refusal.startswith("The signature is not right.")
    assert Receipt.objects.count() == InboundEvent.objects.count() == 0


def test_an_endpoint_that_is_disabled_answers_as_one_that_never_was():
    endpoint = make_endpoint()
    endpoints.switch(endpoint, is_enabled=False, actor="tests", now=timezone.now())
    sender = Sender(endpoint)

    disabled = sender.post({})
    endpoint.name = "nowhere"
    unknown = sender.post({})

    assert (disabled.status_code, disabled.content) == (404, unknown.content)


@pytest.mark.parametrize("method", ["get", "put", "delete", "head"])
def test_whoever_only_looks_sees_nothing(client, method):
    make_endpoint()

    answers = [getattr(client, method)(f"/hooks/{name}") for name in ("deploys", "nowhere")]

    assert [answer.status_code for answer in answers] == [405, 405]
    assert answers[0].headers["Allow"] == "POST"
    assert answers[0].content == answers[1].content


def test_a_body_is_taken_up_to_the_limit_and_not_a_byte_more():
    endpoint = make_endpoint(max_bytes=1000)
    sender = Sender(endpoint)
    fits = json.dumps({"text": "x" * 900}).encode().ljust(1000)

    taken, refused = sender.post(fits), sender.post(fits + b" ")

    assert (taken.status_code, refused.status_code) == (202, 413)
    assert "1000 bytes" in problem(refused)["detail"]


def test_a_length_of_thousands_of_digits_is_too_large_and_no_fault_of_ours(client):
    endpoint = make_endpoint()
    answer = client.post(
        f"/hooks/{endpoint.name}", b"{}", "application/json", CONTENT_LENGTH="9" * 5000
    )

    assert answer.status_code == 413


@pytest.mark.parametrize(
    "body", [b"{", b"\xff\xfe{}", b"[" * 100_000, b'{"a": NaN}', b"9" * 5000], ids=lambda b: b[:4]
)
def test_a_genuine_body_that_cannot_be_read_is_refused_in_words(body):
    answer = Sender(make_endpoint()).post(body)

    assert answer.status_code == 400
    assert problem(answer)["title"] == "The request cannot be read"
    assert Turn.objects.count() == 0


@pytest.mark.parametrize("payload", [[1, 2], "words", 7, None, True, {"type": "\x00\ud800"}])
def test_any_json_is_an_event(payload):
    answer = Sender(make_endpoint()).post(payload)

    assert answer.status_code == 202
    assert Turn.objects.get().prompt


def test_more_than_an_endpoint_takes_wait_and_repetitions_do_not_count():
    sender = Sender(make_endpoint(per_minute=2))
    sender.post({}, event_id="a")
    sender.post({}, event_id="b")

    refused, again = sender.post({}, event_id="c"), sender.post({}, event_id="b")

    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert "2 events a minute" in problem(refused)["detail"]
    assert again.json()["status"] == "duplicate"
    Receipt.objects.update(received_at=timezone.now() - timedelta(minutes=2))
    assert sender.post({}, event_id="c").status_code == 202


def test_a_secret_stored_with_another_key_is_no_fault_of_the_sender(settings):
    sender = Sender(make_endpoint())
    request = sender.signed({})
    settings.SECRET_KEY = "another key than when the endpoint was made"

    answer = sender.send(*request)

    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "10"


# --- which events, and what of them ---------------------------------------------------------------


def test_what_the_filter_leaves_out_is_acknowledged_and_kept_with_the_reason():
    sender = Sender(make_endpoint(scheme="github", events="push\npull_request.*"))

    ignored = sender.post({"action": "created"}, event="issue_comment")
    taken = sender.post({"action": "opened"}, event="pull_request")

    assert (ignored.status_code, ignored.json()["status"]) == (200, "ignored")
    assert taken.status_code == 202
    kept = InboundEvent.objects.get(decision=Decision.IGNORED)
    assert "issue_comment.created" in kept.reason
    assert Turn.objects.count() == 1


def test_a_challenge_is_answered_only_to_whoever_has_the_secret():
    secret = "8f742231b10e8888abcd99yyyzzz85a5"
    sender = Sender(make_endpoint(scheme="slack", secret=secret))
    question = {"type": "url_verification", "challenge": "abc", "token": "x"}

    answer = sender.post(question)
    forged = sender.post(question, secret="another-secret-entirely")

    assert answer.json() == {"challenge": "abc"}
    assert forged.status_code == 401
    assert Receipt.objects.count() == 0


def test_one_message_that_slack_tells_of_eleven_times_is_one_event():
    sender = Sender(make_endpoint(scheme="slack", secret="8f742231b10e8888abcd99yyyzzz85a5"))
    inner = {"type": "message", "channel": "C1", "ts": "1700000000.000100", "text": "hello"}

    for number in range(11):
        payload = {"type": "event_callback", "team_id": "T1", "event_id": f"Ev{number}"}
        assert sender.post({**payload, "event": inner}).status_code == 200

    assert Turn.objects.count() == 1


def test_the_first_event_of_github_only_asks_who_is_there():
    sender = Sender(make_endpoint(scheme="github"))

    answer = sender.post({"zen": "Keep it logically awesome."}, event="ping")

    assert answer.json() == {"challenge": "pong"}
    assert Turn.objects.count() == 0


def test_a_command_of_a_chat_in_an_event_is_no_command():
    sender = Sender(make_endpoint(template="{{ text }}"))

    sender.post({"text": "/stop"})

    assert InboundEvent.objects.get().decision == Decision.TURN
    assert Obligation.objects.count() == Prompt.objects.count() == 0


# --- secrets --------------------------------------------------------------------------------------


def test_while_a_secret_is_replaced_both_count_and_then_the_new_one_alone():
    endpoint = make_endpoint()
    sender = Sender(endpoint)
    stored = endpoints.rotate(endpoint, actor="tests", now=timezone.now())

    both = [sender.post({}, secret=one).status_code for one in (sender.secret, stored.secret)]
    Endpoint.objects.update(former_until=timezone.now() - timedelta(seconds=1))
    later = [sender.post({}, secret=one).status_code for one in (sender.secret, stored.secret)]

    assert both == [202, 202]
    assert later == [401, 202]


def test_secrets_are_encrypted_where_they_are_kept():
    endpoint = make_endpoint()
    secret = Sender(endpoint).secret

    assert secret not in endpoint.secret
    assert secret.removeprefix("whsec_") not in endpoint.secret


# --- where the answers go -------------------------------------------------------------------------


def test_answers_without_a_target_are_kept_where_staff_read_them():
    Sender(make_endpoint()).post({}, event_id="msg_1")
    turn = Turn.objects.get()

    finish(turn, "Done.")

    owed = Obligation.objects.get()
    assert (owed.platform, owed.account, owed.content) == ("console", "console", "Done.")


def test_answers_go_to_the_chat_that_staff_chose_and_say_where_they_come_from():
    make_account("telegram")
    endpoint = make_endpoint(goal=Goal.CHAT, account="telegram", chat_id="42")
    Sender(endpoint).post({})

    finish(Turn.objects.get(), "Done.")

    owed = Obligation.objects.get()
    assert (owed.platform, owed.account, owed.chat_id) == ("telegram", "telegram", "42")
    assert owed.content == "**deploys**\n\nDone."


def test_answers_go_to_a_receiver_of_webhooks_each_in_a_lane_of_its_own(receiver):
    endpoint = make_endpoint(goal=Goal.WEBHOOK, account=receiver.slug)
    sender = Sender(endpoint)
    for number in range(2):
        sender.post({}, event_id=f"msg_{number}")
    for turn in Turn.objects.order_by("pk"):
        finish(turn, "Done.")

    lanes = Obligation.objects.values_list("lane", flat=True)

    assert len(set(lanes)) == 2
    assert {owed.destination.thread_id for owed in Obligation.objects.all()} == {"msg_0", "msg_1"}


@pytest.fixture
def receiver(settings):
    """An account that webhooks are posted to."""
    return make_account("target", platform="webhook", options={"url": "https://example.org/in"})


def test_events_run_side_by_side_unless_they_share_a_history():
    apart, together = make_endpoint("apart"), make_endpoint("together", shares_history=True)
    for endpoint in (apart, together):
        sender = Sender(endpoint)
        for number in range(3):
            sender.post({}, event_id=f"msg_{number}")

    conversations = Conversation.objects.values_list("chat_id", flat=True)

    assert sorted(conversations) == ["apart"] * 3 + ["together"]


@pytest.mark.proves("T11")
def test_of_more_events_than_run_at_once_the_next_begin_as_soon_as_one_has_ended(
    settings, monkeypatch
):
    unattended = settings.GATEWAY["UNATTENDED"] | {"MAX_WEBHOOK": 2}
    settings.GATEWAY = settings.GATEWAY | {"UNATTENDED": unattended}
    sender = Sender(make_endpoint())
    for number in range(4):
        sender.post({}, event_id=f"msg_{number}")
    first, second, third, fourth = Turn.objects.order_by("pk")
    now = timezone.now()
    running = [
        turns.claim(t.conversation_id, "tests", now=now, capacity=100) for t in (first, second)
    ]
    assert turns.claim(third.conversation_id, "tests", now=now, capacity=100) is None
    woken: list[int] = []
    monkeypatch.setattr("gateway.queue.send_run_turns", woken.append)

    turns.finish(running[0], "Done.", [], {}, now=now)
    turns.make_way(running[0], now=now, capacity=100)

    assert woken == [third.conversation_id]
    assert turns.claim(third.conversation_id, "tests", now=now, capacity=100) == third
    assert turns.claim(fourth.conversation_id, "tests", now=now, capacity=100) is None
