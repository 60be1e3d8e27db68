"""What the verbs and pages of staff need from above, declared here and registered by the upper app.

The lower apps write no audit rows themselves and know no turns; the upper app says where a
decision is written down, and where the page of whatever a correlation names is found.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol


class Sink(Protocol):
    """Where decisions of staff are written down."""

    def __call__(
        self, action: str, *, actor: str, subject: str, now: datetime, **detail: Any
    ) -> None:
        """Write one decision down."""
        ...


_sinks: list[Sink] = []
_finders: list[Callable[[str], str]] = []


def register(sink: Sink, page_of: Callable[[str], str]) -> None:
    """Let decisions be written to `sink`, and pages of correlations be found by `page_of`."""
    if sink not in _sinks:
        _sinks.append(sink)
    if page_of not in _finders:
        _finders.append(page_of)


def note(action: str, *, actor: str, subject: str, now: datetime, **detail: Any) -> None:
    """Write down that `actor` did `action` to `subject`, in the caller's transaction.

    Args:
        action: A stable word: `prompt.cancelled`.
        actor: Who did it.
        subject: What it was done to, as the commands name it: `prompt:3`, `turn:12`.
        now: When.
        detail: Plain values that explain it; no message text.
    """
    for sink in _sinks:
        sink(action, actor=actor, subject=subject, now=now, **detail)


def page_of(correlation: str) -> str:
    """The path of the page for staff of what `correlation` names; empty if there is none."""
    return next((path for find in _finders if (path := find(correlation))), "")
