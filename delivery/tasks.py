"""Celery tasks of the delivery app: upkeep only; sending is the gateway process's work."""

import logging

from celery import shared_task
from django.utils import timezone

from delivery import ledger, retention

logger = logging.getLogger(__name__)


@shared_task(name="delivery.housekeeping")
def housekeeping(**_future: object) -> None:
    """Abandon what was owed for too long; delete what was settled long ago."""
    now = timezone.now()
    ledger.expire(now=now)
    gone = retention.run(now=now)
    if gone:
        logger.info("Old rows were let go", extra={"gone": gone})
