"""How senders prove that a request is theirs: six schemes, checked over the raw body. Pure.

Sources, read 2026-11:
Standard Webhooks: https://www.standardwebhooks.com and its specification;
GitHub: docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries;
GitLab: docs.gitlab.com/user/project/integrations/webhooks, "Delivery headers";
Slack: docs.slack.dev/authentication/verifying-requests-from-slack.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.platforms.webhook import signing
from gateway.platforms.webhook.errors import BadSecret, OutOfTime, Unsigned, WrongSignature

_MOMENT = re.compile(r"[0-9]{1,12}", re.ASCII)
SHORTEST_SECRET = 16  # characters; one that is guessed is worth nothing


class Kind(StrEnum):
    """Which proof an endpoint expects."""

    STANDARD = "standard"  # Standard Webhooks, also as Svix spells its headers
    GITHUB = "github"
    GITLAB = "gitlab"
    SLACK = "slack"
    HMAC = "hmac"  # any other signature with a shared secret, as configured
    BEARER = "bearer"  # a token, the same with every request


TITLES: Mapping[Kind, str] = {
    Kind.STANDARD: "Standard Webhooks",
    Kind.GITHUB: "GitHub",
    Kind.GITLAB: "GitLab",
    Kind.SLACK: "Slack",
    Kind.HMAC: "HMAC in a header",
    Kind.BEARER: "bearer token",
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """What came over the wire.

    Attributes:
        headers: By their names in lower case.
        body: The bytes as they were sent; nothing else is ever signed or checked.
    """

    headers: Mapping[str, str]
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header; empty where it is missing."""
        return self.headers.get(name.lower(), "")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What an endpoint expects.

    Attributes:
        kind: The scheme.
        tolerance: How far the signed time may lie from ours, in seconds.
        signature_header: `hmac`: where the signature stands.
        prefix: `hmac`: what stands before each signature, such as `sha256=`; words of the header
            that begin otherwise are passed over.
        encoding: `hmac`: `hex` or `base64`.
        timestamp_from: `hmac`: the header with the time that is signed along, in seconds of the
            epoch; a label that ends in "=", such as `t=`, stands in the signature's own header;
            empty where no time is signed. What is signed is then `{time}.{body}`.
    """

    kind: Kind
    tolerance: int = 300
    signature_header: str = "X-Signature"
    prefix: str = ""
    encoding: str = "hex"
    timestamp_from: str = ""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """That a request is genuine.

    Attributes:
        stamp: The same only for what was signed with the same time and the same body, which is one
            request sent twice; empty where the scheme signs no time, or where it demands an id.
    """

    stamp: str = ""


def verify(rule: Rule, secrets: Sequence[str], request: Request, now: datetime) -> Proof:
    """Check that a request is genuine and was signed lately.

    Args:
        rule: What is expected.
        secrets: Those in use; one of them is enough. None, or an empty one, proves nothing.
        request: What came.
        now: The present.

    Raises:
        Unsigned: A header is missing or has no value that could prove anything.
        WrongSignature: No signature is right.
        OutOfTime: One is right, and its time is not.
    """
    usable = [secret for secret in secrets if secret]
    return _CHECKS[rule.kind](rule, usable, request, now)


def problem_with_secret(kind: Kind, secret: str) -> str:
    """Why `secret` cannot be used with a scheme; empty if it can."""
    if kind is Kind.STANDARD:
        try:
            signing.key_of(secret)
        except BadSecret as error:
            return str(error)
        return ""
    if len(secret) < SHORTEST_SECRET:
        return f"The secret is shorter than {SHORTEST_SECRET} characters, and could be guessed."
    is_sent = kind in {Kind.GITLAB, Kind.BEARER}
    if is_sent and (not secret.isascii() or not secret.isprintable() or " " in secret):
        return "The secret holds blanks or characters beyond ASCII, which headers do not carry."
    return ""


def digest(rule: Rule, secret: str, content: bytes) -> str:
    """The signature of `content`, written as `rule` has it."""
    is_base64 = rule.kind is Kind.HMAC and rule.encoding == "base64"
    made = hmac.new(secret.encode(), content, hashlib.sha256).digest()
    return base64.b64encode(made).decode("ascii") if is_base64 else made.hex()


def expects(rule: Rule) -> str:
    """Which headers a request needs, in words; this is no secret."""
    if rule.kind is Kind.HMAC:
        is_header = rule.timestamp_from and not rule.timestamp_from.endswith("=")
        names = [rule.signature_header, *([rule.timestamp_from] if is_header else [])]
        return ", ".join(names)
    return {
        Kind.STANDARD: ", ".join(signing.HEADERS),
        Kind.GITHUB: "X-Hub-Signature-256",
        Kind.GITLAB: "X-Gitlab-Token",
        Kind.SLACK: "X-Slack-Request-Timestamp, X-Slack-Signature",
        Kind.BEARER: "Authorization: Bearer and the token",
    }[rule.kind]


def _standard(rule: Rule, secrets: Sequence[str], request: Request, now: datetime) -> Proof:
    names = signing.HEADERS
    if not request.header(names[0]):  # the same scheme by the name it had before
        names = ("svix-id", "svix-timestamp", "svix-signature")
    message_id, moment, given = (request.header(name) for name in names)
    _need(rule, message_id, moment, given)
    expected = [
        signing.signature(signing.key_of(secret), message_id, moment, request.body)
        for secret in secrets
    ]
    _compare(expected, given.split())
    _in_time(rule, moment, now)
    return Proof()


def _github(rule: Rule, secrets: Sequence[str], request: Request, now: datetime) -> Proof:
    del now  # GitHub signs no time
    given = request.header("X-Hub-Signature-256")
    _need(rule, given)
    _compare([f"sha256={digest(rule, secret, request.body)}" for secret in secrets], [given])
    return Proof()


def _slack(rule: Rule, secrets: Sequence[str], request: Request, now: datetime) -> Proof:
    moment, given = request.header("X-Slack-Request-Timestamp"), request.header("X-Slack-Signature")
    _need(rule, moment, given)
    content = f"v0:{moment}:".encode() + request.body
    _compare([f"v0={digest(rule, secret, content)}" for secret in secrets], [given])
    _in_time(rule, moment, now)
    return Proof(stamp=_stamp(content))


def _gitlab(rule: Rule, secrets: Sequence[str], request: Request, now: datetime) -> Proof:
    del now
    given = request.header("X-Gitlab-Token")
    _need(rule, given)
    _compare(secrets, [given])
    return Proof()


def _bearer(rule: Rule, secrets: Sequence[str], request: Request, now: datetime) -> Proof:
    del now
    scheme, _, token = request.header("Authorization").partition(" ")
    _need(rule, token.strip() if scheme.lower() == "bearer" else "")
    _compare(secrets, [token.strip()])
    return Proof()


def _hmac(rule: Rule, secrets: Sequence[str], request: Request, now: datetime) -> Proof:
    words = re.split(r"[\s,]+", request.header(rule.signature_header))
    given = [word.removeprefix(rule.prefix) for word in words if word.startswith(rule.prefix)]
    if rule.encoding == "hex":
        given = [word.lower() for word in given]
    _need(rule, *(given or [""]))
    moment, content = "", request.body
    if rule.timestamp_from:
        moment = _moment(rule, request, words)
        _need(rule, moment)
        content = f"{moment}.".encode() + request.body
    _compare([digest(rule, secret, content) for secret in secrets], given)
    if not rule.timestamp_from:
        return Proof()
    _in_time(rule, moment, now)
    return Proof(stamp=_stamp(content))


def _stamp(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _moment(rule: Rule, request: Request, words: Sequence[str]) -> str:
    label = rule.timestamp_from
    if not label.endswith("="):
        return request.header(label)
    return next((word.removeprefix(label) for word in words if word.startswith(label)), "")


_CHECKS: Mapping[Kind, Callable[[Rule, Sequence[str], Request, datetime], Proof]] = {
    Kind.STANDARD: _standard,
    Kind.GITHUB: _github,
    Kind.GITLAB: _gitlab,
    Kind.SLACK: _slack,
    Kind.HMAC: _hmac,
    Kind.BEARER: _bearer,
}


def _need(rule: Rule, *values: str) -> None:
    if not all(values):
        message = f"This endpoint expects these headers: {expects(rule)}."
        raise Unsigned(message)


def _compare(expected: Sequence[str], given: Sequence[str]) -> None:
    if not signing.is_one_of(expected, given):
        message = (
            "Compare the secret here and at the sender, character by character, and sign the body"
            " exactly as it is sent: not parsed and written anew, and before any proxy changes it."
        )
        raise WrongSignature(message)


def _in_time(rule: Rule, moment: str, now: datetime) -> None:
    is_number = _MOMENT.fullmatch(moment) is not None
    if not is_number or abs(now.timestamp() - int(moment)) > rule.tolerance:
        message = (
            f"The signed time may lie {rule.tolerance} seconds from ours, which is"
            f" {int(now.timestamp())}. Set the sender's clock; sign every try with its own time, in"
            " whole seconds of the epoch."
        )
        raise OutOfTime(message)
