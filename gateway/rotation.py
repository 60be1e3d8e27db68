"""Another key for what is encrypted at rest ([X1]): everything stored is locked anew."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db.models import QuerySet

from gateway import audit, vault
from gateway.errors import BadSecret

# Every column that `vault.lock` fills, by the model's label.
LOCKED = (
    ("gateway.Account", "secret"),
    ("webhooks.Endpoint", "secret"),
    ("webhooks.Endpoint", "former_secret"),
)


@dataclass(frozen=True)
class Rotation:
    """What came of it.

    Attributes:
        changed: How many secrets are locked with the newest key now and were not before.
        unchanged: How many were already.
        unreadable: The rows whose secret none of the keys opens.
    """

    changed: int
    unchanged: int
    unreadable: tuple[str, ...]


def rotate(
    *,
    keys: Sequence[str] = (),
    actor: str,
    now: datetime,
    relock: Callable[[str, Sequence[str]], str] = vault.relock,
) -> Rotation:
    """Lock every stored secret with the newest key. It may be run again, and while all runs.

    Args:
        keys: The newest first; those in force by default.
        actor: Who asked for it.
        now: The present.
        relock: Locks one secret anew.
    """
    changed, unchanged, unreadable = 0, 0, []
    for rows, row, column in _stored():
        stored = getattr(row, column)
        try:
            locked = relock(stored, keys)
        except BadSecret:
            unreadable.append(f"{row._meta.verbose_name} {row}")  # noqa: SLF001 - it is public
            continue
        if locked == stored:
            unchanged += 1
            continue
        # Only if it is still what was read: a new one that was just entered must stay.
        changed += rows.filter(pk=row.pk, **{column: stored}).update(**{column: locked})
    audit.note(
        "key.rotated", actor=actor, subject="secrets", now=now, changed=changed,
        unreadable=len(unreadable),
    )  # fmt: skip
    return Rotation(changed, unchanged, tuple(unreadable))


def _stored() -> Iterator[tuple[QuerySet[Any], Any, str]]:
    for label, column in LOCKED:
        rows: QuerySet[Any] = QuerySet(apps.get_model(label))
        for row in rows.exclude(**{column: ""}).order_by("pk"):
            yield rows, row, column
