"""Signed requests of Slack's -> the payloads that `wire` reads, and what they are answered. Pure.

Source: https://docs.slack.dev/authentication/verifying-requests-from-slack, /apis/events-api
("url verification", "retries") and /interactivity (read 2026-08).
"""

import hashlib
import hmac
import json
from typing import Any
from urllib.parse import parse_qsl

from gateway.platforms.slack import conf, wire
from gateway.ports import AccountConfig, Answer, Request

NOT_AN_ACCOUNT = "This account hears by Socket Mode: set its option events to http."
UNSIGNED = "The request is not signed as Slack signs its requests."
STALE = "The request was signed more than five minutes ago, or this host's clock is wrong."
FORGED = "The signature does not fit: check the signing secret of the account."
UNREADABLE = "The request is signed, and cannot be read."
MOST_SKEW_SECONDS = 300
_JSON = "application/json"


def hear(config: AccountConfig, bot_id: str, request: Request) -> Answer:
    """What a request says, if it is Slack's, and what it is answered; see `gateway.ports`."""
    if conf.problems(config):
        return _refused(404, "The settings of this account are not complete.")
    options = conf.read(config)
    if options.events != conf.HTTP:
        return _refused(404, NOT_AN_ACCOUNT)
    problem = problem_with_signature(request, options.signing_secret)
    if problem:
        return _refused(401, problem)
    us = wire.Us(account=config.slug, user_id=bot_id, replies_in_threads=options.replies_in_threads)
    try:
        return _answered(request, us)
    except (ValueError, RecursionError):
        return _refused(400, UNREADABLE)


def problem_with_signature(request: Request, secret: str) -> str:
    """Why a request cannot be trusted; empty if it can."""
    stamp = request.headers.get("x-slack-request-timestamp", "")
    given = request.headers.get("x-slack-signature", "")
    if not (stamp.isascii() and stamp.isdecimal() and len(stamp) < 13 and given):
        return UNSIGNED
    if abs(request.at.timestamp() - int(stamp)) > MOST_SKEW_SECONDS:
        return STALE
    said = b"v0:" + stamp.encode() + b":" + request.body
    wanted = "v0=" + hmac.new(secret.encode(), said, hashlib.sha256).hexdigest()
    fits = hmac.compare_digest(wanted.encode(), given.encode("utf-8", "replace"))
    return "" if fits else FORGED


def _answered(request: Request, us: wire.Us) -> Answer:
    kind, payload = _payload(request)
    if payload.get("type") == "url_verification":
        return Answer(body=json.dumps({"challenge": str(payload.get("challenge") or "")}))
    if kind == wire.SLASH and payload.get("ssl_check"):
        return Answer()
    events = tuple(wire.normalise(kind, payload, us))
    answer = wire.answer_to(kind, payload)
    return Answer(body=json.dumps(answer) if answer else "", events=events)


def _payload(request: Request) -> tuple[str, dict[str, Any]]:
    """What kind of payload it is, and the payload.

    Raises:
        ValueError: It is none.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    text = request.body.decode()
    if content_type == _JSON:
        return wire.EVENTS, _object(text)
    fields = dict(parse_qsl(text, keep_blank_values=True))
    if "payload" in fields:
        return wire.INTERACTIVE, _object(fields["payload"])
    return wire.SLASH, fields


def _object(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("no object")  # noqa: TRY004 - to the caller all of these are one
    return found


def _refused(status: int, why: str) -> Answer:
    return Answer(status=status, body=why, content_type="text/plain")
