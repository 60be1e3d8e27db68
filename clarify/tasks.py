"""Celery tasks of the clarify app: upkeep only; questions are asked and answered elsewhere."""

import logging

from celery import shared_task
from django.utils import timezone

from clarify import retention

logger = logging.getLogger(__name__)


@shared_task(name="clarify.housekeeping")
def housekeeping(**_future: object) -> None:
    """Delete what was closed long ago."""
    gone = retention.run(now=timezone.now())
    if gone:
        logger.info("Old rows were let go", extra={"gone": gone})
