"""Celery tasks of the delivery app: upkeep only; sending is the gateway process's work."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from delivery import ledger, preview_rows


@shared_task(name="delivery.housekeeping")
def housekeeping(**_future: object) -> None:
    """Abandon what was owed for too long; delete what was settled long ago."""
    now = timezone.now()
    ledger.expire(now=now)
    ledger.prune(now=now)
    preview_rows.forget(now=now, age=timedelta(days=2))
