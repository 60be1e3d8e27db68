"""The audit log: who decided what. Rows are only ever added."""

from datetime import datetime
from typing import Any

from gateway.models import AuditEvent


def note(action: str, *, actor: str, subject: str, now: datetime, **detail: Any) -> None:
    """Add one row.

    Args:
        action: What was done, as a stable word: `access.denied`, `prompt.answered_on_behalf`.
        actor: Who did it.
        subject: What it was done to.
        now: When.
        detail: Plain values that explain it; no message text.
    """
    AuditEvent.objects.create(
        at=now, actor=actor[:255], action=action, subject=subject[:255], detail=detail
    )
