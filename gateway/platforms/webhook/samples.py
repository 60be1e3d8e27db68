"""Requests as a sender would make them, to try an endpoint and to show how it is done. Pure.

What `schemes` checks is made here by the same words, so that neither changes without the other.
"""

import json
import shlex
from datetime import datetime

from gateway.platforms.webhook import signing
from gateway.platforms.webhook.schemes import Kind, Request, Rule, digest
from gateway.platforms.webhook.wire import Sources

BODY = {"type": "test", "action": "", "text": "Is anybody there?", "data": {"number": 1}}


def request(
    rule: Rule,
    sources: Sources,
    secret: str,
    *,
    body: bytes,
    event: str,
    event_id: str,
    now: datetime,
) -> Request:
    """A request that the endpoint with that rule and secret takes.

    Args:
        rule: What the endpoint expects.
        sources: Where it looks for the id and the kind of event.
        secret: Its secret.
        body: JSON.
        event: The kind of event, where a header says it.
        event_id: Its id, where a header says it.
        now: When it is signed.
    """
    headers = {"Content-Type": "application/json", **_names(rule.kind, sources, event, event_id)}
    proof = _proof(rule, secret, event_id, str(int(now.timestamp())), body)
    known = {**headers, **proof}
    return Request(headers={name.lower(): value for name, value in known.items()}, body=body)


def _names(kind: Kind, sources: Sources, event: str, event_id: str) -> dict[str, str]:
    """The headers that name an event."""
    if kind is Kind.GITHUB:
        return {"X-GitHub-Event": event, "X-GitHub-Delivery": event_id}
    if kind is Kind.GITLAB:
        return {"X-Gitlab-Event": event, "Idempotency-Key": event_id}
    if kind not in {Kind.HMAC, Kind.BEARER}:
        return {}
    pairs = ((sources.event, event), (sources.event_id, event_id))
    return {name: value for name, value in pairs if name and not name.startswith(".")}


def _proof(rule: Rule, secret: str, event_id: str, moment: str, body: bytes) -> dict[str, str]:
    """The headers that prove who sends."""
    match rule.kind:
        case Kind.STANDARD:
            return signing.signed_headers([secret], event_id, int(moment), body)
        case Kind.GITHUB:
            return {"X-Hub-Signature-256": f"sha256={digest(rule, secret, body)}"}
        case Kind.GITLAB:
            return {"X-Gitlab-Token": secret}
        case Kind.SLACK:
            signed = digest(rule, secret, f"v0:{moment}:".encode() + body)
            return {"X-Slack-Request-Timestamp": moment, "X-Slack-Signature": f"v0={signed}"}
        case Kind.BEARER:
            return {"Authorization": f"Bearer {secret}"}
        case Kind.HMAC:
            content = f"{moment}.".encode() + body if rule.timestamp_from else body
            return _own_headers(rule, moment, digest(rule, secret, content))


def _own_headers(rule: Rule, moment: str, signature: str) -> dict[str, str]:
    label, signed = rule.timestamp_from, f"{rule.prefix}{signature}"
    if label.endswith("="):
        return {rule.signature_header: f"{label}{moment},{signed}"}
    return {rule.signature_header: signed} | ({label: moment} if label else {})


# --- the same for a shell -----------------------------------------------------------------------


def script(rule: Rule, sources: Sources, url: str) -> str:
    """A few lines for a shell that post one event; `SECRET` is set before.

    They need `curl` and `openssl` and nothing else.
    """
    body = json.dumps(BODY, separators=(",", ":"))
    lines = [f"BODY={shlex.quote(body)}", "ID=try-$(openssl rand -hex 8)", "NOW=$(date +%s)"]
    lines += _shell_signing(rule)
    names = _names(rule.kind, sources, "push" if rule.kind is Kind.GITHUB else "test", "$ID")
    headers = {"Content-Type": "application/json", **names, **_shell_headers(rule)}
    lines.append(f"curl -i {shlex.quote(url)} \\")
    lines += [f'  -H "{name}: {value}" \\' for name, value in headers.items()]
    lines.append('  --data-binary "$BODY"')
    return "\n".join(lines)


def _shell_signing(rule: Rule) -> list[str]:
    """The lines that set SIGNATURE, where one is needed."""
    if rule.kind in {Kind.GITLAB, Kind.BEARER}:
        return []
    if rule.kind is Kind.STANDARD:
        key = """KEY=$(printf %s "${SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')"""
        made = 'openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64'
        return [key, f'SIGNATURE=$(printf %s "$ID.$NOW.$BODY" | {made})']
    content = {Kind.GITHUB: "$BODY", Kind.SLACK: "v0:$NOW:$BODY"}.get(
        rule.kind, "$NOW.$BODY" if rule.timestamp_from else "$BODY"
    )
    is_base64 = rule.kind is Kind.HMAC and rule.encoding == "base64"
    written = "-binary | base64" if is_base64 else "-r | cut -d' ' -f1"
    return [f'SIGNATURE=$(printf %s "{content}" | openssl dgst -sha256 -hmac "$SECRET" {written})']


def _shell_headers(rule: Rule) -> dict[str, str]:
    match rule.kind:
        case Kind.STANDARD:
            values = ("$ID", "$NOW", "v1,$SIGNATURE")
            return dict(zip(signing.HEADERS, values, strict=True))
        case Kind.GITHUB:
            return {"X-Hub-Signature-256": "sha256=$SIGNATURE"}
        case Kind.GITLAB:
            return {"X-Gitlab-Token": "$SECRET"}
        case Kind.SLACK:
            return {"X-Slack-Request-Timestamp": "$NOW", "X-Slack-Signature": "v0=$SIGNATURE"}
        case Kind.BEARER:
            return {"Authorization": "Bearer $SECRET"}
        case Kind.HMAC:
            return _own_headers(rule, "$NOW", "$SIGNATURE")
