"""What this app lets go of in time ([O2]): the only place where its rows are deleted by age."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import QuerySet

from delivery import ledger
from delivery.conf import delivery_settings
from delivery.forgetting import BATCHES, Rule, forget, register_need
from delivery.ledger import SETTLED
from delivery.models import DeadDestination, Obligation, Preview
from delivery.states import OPEN


def _old_previews(now: datetime) -> QuerySet[Preview]:
    return Preview.objects.filter(created_at__lt=now - delivery_settings().keep_previews)


def _long_closed(now: datetime) -> QuerySet[DeadDestination]:
    return DeadDestination.objects.filter(since__lt=now - delivery_settings().keep_closed_chats)


PREVIEWS = Rule(
    what="live messages", model=Preview, past=_old_previews, by="created_at", reads=("key",)
)
CLOSED_CHATS = Rule(what="closed chats", model=DeadDestination, past=_long_closed, by="since")
RULES = (SETTLED, PREVIEWS, CLOSED_CHATS)


def run(*, now: datetime, batches: int = BATCHES) -> dict[str, int]:
    """Let go of what was kept long enough.

    Args:
        now: The present.
        batches: How many small transactions each table may take.

    Returns:
        How many rows of each kind went, by what they are called; an empty table is left out.
    """
    gone = {SETTLED.what: ledger.prune(now=now, batches=batches)}
    gone |= {rule.what: forget(rule, now=now, batches=batches) for rule in (PREVIEWS, CLOSED_CHATS)}
    return {what: count for what, count in gone.items() if count}


def _to_be_replaced(rows: Sequence[Preview], now: datetime) -> Iterable[int | None]:
    """Those of `rows` that an owed message is to take the place of."""
    del now
    keys = {row.key: row.pk for row in rows}
    # Sorted out here: `preview_key` has no index, and what is owed is little.
    owed = Obligation.objects.filter(state__in=OPEN).exclude(preview_key="")
    return [keys[key] for key in owed.values_list("preview_key", flat=True) if key in keys]


register_need(Preview, _to_be_replaced)
