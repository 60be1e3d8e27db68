"""Signatures of Standard Webhooks, made and compared. Pure.

What is signed is `{id}.{timestamp}.{body}` with HMAC-SHA256; the header holds any number of
`v1,<base64>`, one for each secret in use, so that a secret can be replaced without a gap.

Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
(read 2026-11): "Signature scheme", "Webhook headers (metadata)".
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable, Sequence

from gateway.platforms.webhook.errors import BadSecret

PREFIX = "whsec_"
SHORTEST, LONGEST = 24, 64  # bytes of a key, as the specification asks
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


def key_of(secret: str) -> bytes:
    """The key that a secret stands for.

    Args:
        secret: `whsec_` and base64, with or without padding; or the base64 alone.

    Raises:
        BadSecret: It is neither, or too short or too long.
    """
    try:
        written = secret.removeprefix(PREFIX)
        key = base64.b64decode(written + "=" * (-len(written) % 4), validate=True)
    except (binascii.Error, ValueError):
        message = (
            f"A secret of Standard Webhooks is {PREFIX} followed by base64, for example what"
            f" `echo {PREFIX}$(openssl rand -base64 32)` prints."
        )
        raise BadSecret(message) from None
    if not SHORTEST <= len(key) <= LONGEST:
        message = (
            f"A secret of Standard Webhooks holds {SHORTEST} to {LONGEST} bytes, and this one"
            f" {len(key)}. Make one: echo {PREFIX}$(openssl rand -base64 32)"
        )
        raise BadSecret(message)
    return key


def secret_of(key: bytes) -> str:
    """How a key is written down."""
    return PREFIX + base64.b64encode(key).decode("ascii")


def signature(key: bytes, message_id: str, timestamp: str, body: bytes) -> str:
    """The signature of one message, as it stands in the header."""
    content = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode('ascii')}"


def signed_headers(
    secrets: Iterable[str], message_id: str, timestamp: int, body: bytes
) -> dict[str, str]:
    """The headers that a message goes out with.

    Args:
        secrets: Those in use, the new one first while one is being replaced.
        message_id: The same for every try of the same message.
        timestamp: Seconds of the epoch at this try.
        body: Exactly the bytes that are sent.

    Raises:
        BadSecret: One of the secrets cannot be used.
    """
    moment = str(timestamp)
    signatures = [signature(key_of(one), message_id, moment, body) for one in secrets]
    return dict(zip(HEADERS, (message_id, moment, " ".join(signatures)), strict=True))


def is_one_of(expected: Sequence[str], given: Iterable[str]) -> bool:
    """Whether any of `given` is any of `expected`; how long that takes tells nothing of either.

    Texts are compared as bytes: the comparison in constant time refuses others than ASCII.
    """
    matches = [
        hmac.compare_digest(ours.encode(), theirs.encode("utf-8", "surrogatepass"))
        for theirs in given
        for ours in expected
    ]
    return any(matches)
