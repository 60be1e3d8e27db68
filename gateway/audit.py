"""The audit log: who decided what. Rows are only ever added, and repeated denials counted."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.urls import reverse

from gateway.models import AuditEvent

MOST_ALIKE = 50  # rows of one person within an hour that are looked through


def note(action: str, *, actor: str, subject: str, now: datetime, **detail: Any) -> None:
    """Add one row.

    Args:
        action: What was done, as a stable word: `access.denied`, `prompt.answered_on_behalf`.
        actor: Who did it.
        subject: What it was done to, as the commands name it: `prompt:3`, `turn:12`.
        now: When.
        detail: Plain values that explain it; no message text.
    """
    AuditEvent.objects.create(
        at=now, actor=actor[:255], action=action, subject=subject[:255], detail=detail
    )


def count(action: str, *, subject: str, within: timedelta, now: datetime, **detail: Any) -> bool:
    """Add one row for what `subject` was denied, or count it in the row of the same from before.

    A flood of what is denied fills no table: each row says how often, and when last.

    Args:
        action: As of `note`.
        subject: Who was denied something.
        within: How long one row counts, from its first denial on.
        now: When.
        detail: Plain values; what differs in one of them has a row of its own.

    Returns:
        Whether it is the first within that time.
    """
    lately = AuditEvent.objects.filter(
        action=action, subject=subject[:255], at__gt=now - within
    ).order_by("-id")
    same = next((row for row in lately[:MOST_ALIKE] if row.detail == detail), None)
    if same is None:
        note(action, actor=subject, subject=subject, now=now, **detail)
        return True
    AuditEvent.objects.filter(pk=same.pk).update(times=F("times") + 1, last_at=now)
    return False


def page_of(correlation: str) -> str:
    """The path of the page for staff of the turn that `correlation` names; empty for none."""
    return reverse("admin:gateway_turn_change", args=[correlation]) if correlation.isdigit() else ""
