"""What a request says, once it is known to be genuine: its id, its kind and its fields. Pure.

Sources, read 2026-11: docs.github.com/webhooks/webhook-events-and-payloads, "Delivery headers";
docs.gitlab.com/user/project/integrations/webhooks, "Delivery headers";
docs.slack.dev/apis/events-api, "Events API request structure", and `url_verification`.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl

from gateway.messages import clean
from gateway.platforms.webhook.errors import Unreadable
from gateway.platforms.webhook.schemes import Kind, Proof, Request, Rule

LONGEST_ID = 180
_PLAIN_ID = re.compile(r"[!-~]+")
_DEEPEST = "It is nested too deeply."


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where an endpoint finds what names an event.

    Each is a header's name, or a path in the body that begins with a dot: `.data.id`. Those
    schemes that have their own places for it do not need it.

    Attributes:
        event_id: What is the same for every try of one event.
        event: What kind of event it is.
    """

    event_id: str = ""
    event: str = ""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One genuine event.

    Attributes:
        event_id: The sender's id of it, at most 180 characters; empty where it has none.
        name: What kind it is, as the endpoint's filter names it; may be empty.
        payload: The body's fields: JSON, the fields of a form, or `{"text": …}`.
        challenge: What the sender wants back to see that somebody listens; None for an event.
    """

    event_id: str
    name: str
    payload: Any
    challenge: str | None = None


def read(rule: Rule, sources: Sources, request: Request, proof: Proof) -> Event:
    """Understand a genuine request.

    Raises:
        Unreadable: The body is not what its Content-Type says.
    """
    payload = fields(request)
    event_id = _event_id(rule.kind, sources, request, payload)
    return Event(
        event_id=short(event_id or (f"signed:{proof.stamp}" if proof.stamp else "")),
        name=clean(_name(rule.kind, sources, request, payload))[:120],
        payload=payload,
        challenge=_challenge(rule.kind, request, payload),
    )


def fields(request: Request) -> Any:
    """The fields of a body.

    A form whose field `payload` holds JSON is that JSON, as GitHub and Slack send it.

    Raises:
        Unreadable: It is not what its Content-Type says.
    """
    kind = request.header("Content-Type").partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        text = request.body.decode("utf-8", "replace")
        form = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=2000))
        return _json(form["payload"].encode()) if "payload" in form else form
    if kind.startswith("text/"):
        return {"text": request.body.decode("utf-8", "replace")}
    return _json(request.body) if request.body.strip() else {}


def wants(patterns: str, name: str) -> bool:
    """Whether a filter lets an event through.

    Args:
        patterns: One a line, `*` standing for anything: `push`, `pull_request.*`; none lets
            everything through.
        name: The event's.
    """
    lines = [line.strip() for line in patterns.splitlines() if line.strip()]
    return not lines or any(fnmatchcase(name.lower(), line.lower()) for line in lines)


def look_up(path: str, payload: Any) -> Any:
    """What stands at a path of names and numbers, such as `commits.0.message`.

    Only what JSON is made of is looked into, by its own keys.

    Raises:
        LookupError: Nothing stands there.
    """
    found = payload
    for step in path.split("."):
        if isinstance(found, dict):
            found = found[step]
        elif isinstance(found, list) and step.isascii() and step.isdecimal() and len(step) < 7:
            found = found[int(step)]
        else:
            raise LookupError(path)
    return found


def short(event_id: str) -> str:
    """An id that columns and keys can hold; one that is too long or odd becomes its hash."""
    if not event_id or (len(event_id) <= LONGEST_ID and _PLAIN_ID.fullmatch(event_id)):
        return event_id
    return f"sha256:{hashlib.sha256(event_id.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        reason = _DEEPEST
    except UnicodeDecodeError:
        reason = "It is not UTF-8."
    except ValueError as error:
        reason = f"{error}."
    message = (
        f"The body should be JSON and is not. {reason} Send JSON, a form, or text with the"
        " Content-Type that says so."
    )
    raise Unreadable(message)


def _no_constant(name: str) -> Any:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _event_id(kind: Kind, sources: Sources, request: Request, payload: Any) -> str:
    if kind is Kind.STANDARD:
        return request.header("webhook-id") or request.header("svix-id")
    if kind is Kind.GITHUB:
        return request.header("X-GitHub-Delivery")
    if kind is Kind.GITLAB:  # the key stays the same for a retry; older servers have the other
        return request.header("Idempotency-Key") or request.header("X-Gitlab-Event-UUID")
    if kind is Kind.SLACK:
        return _slack_id(payload)
    return _at(sources.event_id, request, payload)


def _slack_id(payload: Any) -> str:
    """Slack's id of a message, or else of the event: one message may come as several events.

    Commands and interactions have a `trigger_id`, which is new with each of them.
    """
    event = _found("event", payload)
    if isinstance(event, dict) and event.get("type") in {"message", "app_mention"}:
        place, moment = event.get("channel"), event.get("ts")
        if isinstance(place, str) and isinstance(moment, str):
            return f"{_at('.team_id', None, payload)}/{place}/{moment}"
    return _at(".event_id", None, payload) or _at(".trigger_id", None, payload)


def _name(kind: Kind, sources: Sources, request: Request, payload: Any) -> str:
    if kind is Kind.GITHUB:
        action = _at(".action", request, payload)
        name = request.header("X-GitHub-Event")
        return f"{name}.{action}" if action else name
    if kind is Kind.GITLAB:
        return request.header("X-Gitlab-Event")
    if kind is Kind.SLACK:
        inner = _at(".event.type", request, payload)
        return inner or _at(".command", request, payload) or _at(".type", request, payload)
    if kind is Kind.STANDARD:
        return _at(sources.event or ".type", request, payload)
    return _at(sources.event, request, payload)


def _challenge(kind: Kind, request: Request, payload: Any) -> str | None:
    if kind is Kind.SLACK and _at(".type", request, payload) == "url_verification":
        return _at(".challenge", request, payload)
    if kind is Kind.GITHUB and request.header("X-GitHub-Event") == "ping":
        return "pong"
    return None


def _at(source: str, request: Request | None, payload: Any) -> str:
    """What stands at a source, as text; nothing that is no plain value is text."""
    if not source.startswith("."):
        return request.header(source) if source and request is not None else ""
    found = _found(source[1:], payload)
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""


def _found(path: str, payload: Any) -> Any:
    try:
        return look_up(path, payload)
    except LookupError:
        return None


def headers_of(pairs: Mapping[str, str]) -> dict[str, str]:
    """Headers by their names in lower case."""
    return {name.lower(): value for name, value in pairs.items()}
