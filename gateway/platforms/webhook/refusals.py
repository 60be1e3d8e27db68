"""What a receiver's answer means for what is owed ([D10]). Pure.

A second copy of a message carries the same `webhook-id`, and receivers of Standard Webhooks drop
it by that. So an answer that leaves open whether the message was taken is simply tried again.

Source: the specification of Standard Webhooks (read 2026-11), "Deliverability and reliability":
any 2xx is success, 410 asks for no more, 429 and 502 to 504 ask to slow down, 3xx is a failure.
"""

import re
from collections.abc import Container, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from delivery.errors import (
    AuthenticationRefused,
    DestinationGone,
    NetworkDown,
    OutcomeUnknown,
    RateLimited,
    Refused,
    TransportError,
)

_SECONDS = re.compile(r"[0-9]{1,6}", re.ASCII)
LONGEST_WAIT = 3600.0  # seconds that a receiver may ask for; longer ones are looked at again
USUAL_WAIT = 15.0
SLOW_DOWN = {429, 503}
_MEANINGS: tuple[tuple[Container[int], type[TransportError], str], ...] = (
    ({410}, DestinationGone, "the receiver wants no more webhooks"),
    (
        {401, 403, 407},
        AuthenticationRefused,
        "the receiver does not take our signature: compare the signing secret",
    ),
    ({408, 409, 421, 423, 425}, NetworkDown, "the receiver cannot take it now"),
    (range(300, 400), Refused, "the receiver leads elsewhere: enter the address where it ends"),
    (range(400, 500), Refused, "the receiver does not take it"),
)


def error_for(status: int, headers: Mapping[str, str], now: datetime) -> TransportError | None:
    """What an answer says beside success.

    Args:
        status: The HTTP status.
        headers: By their names in lower case.
        now: The present, for a `Retry-After` that is a date.

    Returns:
        The error to raise; None when the message was taken.
    """
    if 200 <= status < 300:
        return None
    code = str(status)
    if status in SLOW_DOWN:
        wait = retry_after(headers.get("retry-after", ""), now)
        words = f"the receiver asks to wait (HTTP {status})"
        return RateLimited(words, retry_after=wait, code=code)
    if status >= 500 or status < 200:
        return OutcomeUnknown(f"the receiver failed over it (HTTP {status})", code=code)
    kind, words = next((kind, words) for statuses, kind, words in _MEANINGS if status in statuses)
    return kind(f"{words} (HTTP {status})", code=code)


def retry_after(value: str, now: datetime) -> float:
    """The seconds to wait that a `Retry-After` asks for, at most an hour."""
    if _SECONDS.fullmatch(value.strip()):
        return min(float(value), LONGEST_WAIT)
    try:
        until = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return USUAL_WAIT
    if until.tzinfo is None:
        return USUAL_WAIT
    return min(max((until - now).total_seconds(), 0.0), LONGEST_WAIT)
