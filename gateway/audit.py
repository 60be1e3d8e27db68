"""The audit log: who decided what. Rows are only ever added."""

from datetime import datetime
from typing import Any

from django.urls import reverse

from gateway.models import AuditEvent


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


def page_of(correlation: str) -> str:
    """The path of the page for staff of the turn that `correlation` names; empty for none."""
    return reverse("admin:gateway_turn_change", args=[correlation]) if correlation.isdigit() else ""
