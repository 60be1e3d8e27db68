"""What was denied, and to whom: one row for each hour, person and place, however often ([A7])."""

from datetime import datetime, timedelta

from gateway import audit
from gateway.messages import Source

TOLD_EVERY = timedelta(hours=1)


def note(source: Source, what: str, *, reason: str, now: datetime) -> bool:
    """Write a denial down.

    Args:
        source: Who was denied something, and where.
        what: `message`, `press`, `command`, or another word for what it was.
        reason: Why, for staff.
        now: When.

    Returns:
        Whether it is the first of that kind there within the hour: who may be told is told then.
    """
    return audit.count(
        "access.denied",
        subject=person(source),
        within=TOLD_EVERY,
        now=now,
        account=source.account,
        chat=source.chat_id,
        what=what,
        reason=reason,
    )


def person(source: Source) -> str:
    """What the audit log calls the sender of `source`."""
    return f"{source.platform}:{source.user_id}"
