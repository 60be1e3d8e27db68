"""The steps of the tables as conditional updates: no row goes where the table does not lead."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from delivery.models import Obligation, Part
from delivery.states import OBLIGATIONS, PARTS, Event, PartEvent


def move(rows: QuerySet[Obligation], event: Event, **changes: Any) -> int:
    """Let `event` happen to those of `rows` that the table allows it for; how many they were."""
    allowed = rows.filter(state__in=OBLIGATIONS.sources(event))
    return allowed.update(state=OBLIGATIONS.target(event), **changes)


def settle(
    rows: QuerySet[Obligation], event: Event, *, reason: str, now: datetime, **changes: Any
) -> int:
    """As `move`, for an event after which nothing is owed any more."""
    return move(rows, event, reason=reason[:200], settled_at=now, updated_at=now, **changes)


def move_parts(rows: QuerySet[Part], event: PartEvent, **changes: Any) -> int:
    """Let `event` happen to those of `rows` that the table allows it for; how many they were."""
    allowed = rows.filter(state__in=PARTS.sources(event))
    return allowed.update(state=PARTS.target(event), **changes)
