"""How senders prove who they are: documented examples, and nothing else that passes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from gateway.platforms.webhook import samples, schemes, signing
from gateway.platforms.webhook.errors import NotTaken, OutOfTime, Unsigned, WrongSignature
from gateway.platforms.webhook.schemes import Kind, Request, Rule, verify
from gateway.platforms.webhook.wire import Sources

pytestmark = pytest.mark.proves("W1")
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECRETS = dict.fromkeys(Kind, "a-secret-that-nobody-guesses") | {
    Kind.STANDARD: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
}
RULES = {
    **{kind.value: Rule(kind=kind) for kind in Kind},
    "hmac, timed": Rule(kind=Kind.HMAC, timestamp_from="X-Time", encoding="base64"),
    "hmac, in one header": Rule(kind=Kind.HMAC, timestamp_from="t=", prefix="v1="),
}


def sent(rule: Rule, body: bytes = b'{"a": 1}', *, at: datetime = NOW, secret: str = "") -> Request:
    """A request as its sender would make it."""
    return samples.request(
        rule,
        Sources(event_id="X-Request-Id"),
        secret or SECRETS[rule.kind],
        body=body,
        event="push",
        event_id="evt-1",
        now=at,
    )


def check(rule: Rule, request: Request, *secrets: str, now: datetime = NOW) -> schemes.Proof:
    return verify(rule, secrets or (SECRETS[rule.kind],), request, now)


# --- the examples of their documents --------------------------------------------------------------


def test_the_example_of_githubs_documentation_is_genuine():
    signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    headers = {"x-hub-signature-256": f"sha256={signature}"}

    assert check(
        Rule(kind=Kind.GITHUB),
        Request(headers=headers, body=b"Hello, World!"),
        "It's a Secret to Everybody",
    )


def test_the_example_of_slacks_documentation_is_genuine():
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
        b"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
        b"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
        b"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    headers = {"x-slack-request-timestamp": "1531420618", "x-slack-signature": signature}

    assert check(
        Rule(kind=Kind.SLACK),
        Request(headers=headers, body=body),
        "8f742231b10e8888abcd99yyyzzz85a5",
        now=datetime.fromtimestamp(1531420618, UTC),
    )


def test_the_example_of_standard_webhooks_is_genuine():
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }

    assert check(
        Rule(kind=Kind.STANDARD),
        Request(headers=headers, body=b'{"test": 2432232314}'),
        now=datetime.fromtimestamp(1614265330, UTC),
    )


@given(st.text(), st.binary(min_size=24, max_size=64))
def test_what_we_sign_another_implementation_takes(text, key):
    now = datetime.now(UTC)
    secret, body = signing.secret_of(key), text.encode("utf-8", "replace")

    headers = signing.signed_headers([secret], "msg_1", int(now.timestamp()), body)

    Webhook(secret).verify(body, headers, json_parse=False)


def test_what_another_implementation_signs_is_genuine():
    secret, body = SECRETS[Kind.STANDARD], '{"a": 1}'
    headers = {
        "svix-id": "msg_1",
        "svix-timestamp": str(int(NOW.timestamp())),
        "svix-signature": Webhook(secret).sign("msg_1", NOW, body),
    }

    assert check(Rule(kind=Kind.STANDARD), Request(headers=headers, body=body.encode()))


# --- nothing else passes --------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_what_a_sender_signs_is_genuine(rule):
    assert check(rule, sent(rule, b"\xff\xfe{}"))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("secrets", [[], [""], ["another-secret-entirely-1"]])
def test_another_secret_an_empty_one_and_none_prove_nothing(rule, secrets):
    if rule.kind is Kind.STANDARD and secrets and secrets[0]:
        secrets = [signing.secret_of(b"x" * 32)]
    with pytest.raises(WrongSignature):
        verify(rule, secrets, sent(rule), NOW)


@pytest.mark.parametrize("name", ["github", "slack", "hmac", "hmac, timed"])
def test_the_signature_of_an_empty_secret_proves_nothing(name):
    rule = RULES[name]
    made = samples._proof(rule, "", "evt-1", str(int(NOW.timestamp())), b"{}")
    forged = Request(headers={name.lower(): value for name, value in made.items()}, body=b"{}")

    with pytest.raises(WrongSignature):
        verify(rule, [""], forged, NOW)


SIGNS_THE_BODY = {
    name: rule for name, rule in RULES.items() if rule.kind not in {Kind.GITLAB, Kind.BEARER}
}


@pytest.mark.parametrize("rule", SIGNS_THE_BODY.values(), ids=SIGNS_THE_BODY)
@given(data=st.data())
def test_a_body_with_one_byte_changed_is_refused(rule, data):
    body = data.draw(st.binary(min_size=1, max_size=200))
    place = data.draw(st.integers(0, len(body) - 1))
    flip = data.draw(st.integers(1, 255))
    changed = body[:place] + bytes([body[place] ^ flip]) + body[place + 1 :]

    with pytest.raises(WrongSignature):
        check(rule, Request(headers=sent(rule, body).headers, body=changed))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@given(data=st.data())
def test_a_proof_with_one_character_changed_is_refused(rule, data):
    request = sent(rule)
    proving = {
        name
        for name in request.headers
        if "signature" in name or "timestamp" in name or name in _PROOFS
    }
    name = data.draw(st.sampled_from(sorted(proving)))
    value = request.headers[name]
    place = data.draw(st.integers(0, len(value) - 1))
    # In another case hexadecimal means the same, and so does the word Bearer.
    other = st.characters(min_codepoint=33, max_codepoint=126)
    letter = data.draw(other.filter(lambda c: c.lower() != value[place].lower()))
    changed = {**request.headers, name: value[:place] + letter + value[place + 1 :]}

    with pytest.raises(NotTaken):
        check(rule, Request(headers=changed, body=request.body))


_PROOFS = {"x-gitlab-token", "authorization", "x-time", "webhook-id"}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_request_without_its_headers_is_told_which_are_missing(rule):
    with pytest.raises(Unsigned, match="expects these headers"):
        check(rule, Request(headers={}, body=b"{}"))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@given(junk=st.dictionaries(st.sampled_from(sorted(_PROOFS)), st.text()), body=st.binary())
def test_whatever_comes_unsigned_is_refused_and_nothing_breaks(rule, junk, body):
    with pytest.raises(NotTaken):
        check(rule, Request(headers=junk, body=body))


# --- time and rotation ----------------------------------------------------------------------------

TIMED = {
    name: rule
    for name, rule in RULES.items()
    if rule.kind in {Kind.STANDARD, Kind.SLACK} or rule.timestamp_from
}


@pytest.mark.parametrize("rule", TIMED.values(), ids=TIMED)
@pytest.mark.parametrize("seconds", [-300, 300])
def test_a_signed_time_within_the_tolerance_is_fine(rule, seconds):
    assert check(rule, sent(rule, at=NOW + timedelta(seconds=seconds)))


@pytest.mark.parametrize("rule", TIMED.values(), ids=TIMED)
@pytest.mark.parametrize("seconds", [-301, 301, -86_400])
def test_a_genuine_request_out_of_time_is_told_our_clock(rule, seconds):
    with pytest.raises(OutOfTime, match=str(int(NOW.timestamp()))):
        check(rule, sent(rule, at=NOW + timedelta(seconds=seconds)))


@pytest.mark.parametrize("moment", ["1772366400{}", "1772366400.5", "-1", "1e9", "１７", "9" * 13])
def test_a_time_that_is_no_number_is_refused_though_it_is_signed(moment):
    rule = RULES["hmac, timed"]
    headers = {"x-time": moment}
    content = f"{moment}.".encode() + b"{}"
    headers["x-signature"] = schemes.digest(rule, SECRETS[Kind.HMAC], content)

    with pytest.raises(OutOfTime):
        check(rule, Request(headers=headers, body=b"{}"))


def test_of_several_signatures_and_secrets_one_of_each_is_enough():
    rule = RULES["hmac, in one header"]
    body = b"\xff\xfe{}"
    moment = int(NOW.timestamp())
    good = schemes.digest(rule, "the-newer-of-two-secrets", f"{moment}.".encode() + body)
    header = f"junk,v1=bad,t={moment}, v1={good},v0=other"

    assert check(
        rule,
        Request(headers={"x-signature": header}, body=body),
        "the-older-of-two-secrets",
        "the-newer-of-two-secrets",
    )


def test_a_standard_webhook_signed_with_two_secrets_passes_with_either():
    old, new = (signing.secret_of(letter * 32) for letter in (b"a", b"b"))
    headers = signing.signed_headers([new, old], "msg_1", int(NOW.timestamp()), b"{}")

    for secret in (old, new):
        assert check(Rule(kind=Kind.STANDARD), Request(headers=headers, body=b"{}"), secret)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("secret", ["", "tiny!", "whsec_%%%"])
def test_a_secret_that_cannot_serve_is_refused_in_words_that_do_not_quote_it(kind, secret):
    problem = schemes.problem_with_secret(kind, secret)

    assert problem
    assert not secret or secret not in problem


@pytest.mark.parametrize("kind", [Kind.GITLAB, Kind.BEARER])
def test_a_secret_that_no_header_carries_is_refused_where_it_is_sent(kind):
    assert schemes.problem_with_secret(kind, "with blanks in the middle of it")
    assert schemes.problem_with_secret(Kind.GITHUB, "It's a Secret to Everybody") == ""
