"""Celery tasks of the webhooks: thin, safe to run twice."""

from celery import shared_task
from django.utils import timezone

from gateway.conf import gateway_settings
from gateway.webhooks import receiving


@shared_task(name="webhooks.housekeeping")
def run_housekeeping(**_future: object) -> None:
    """Drop the receipts that no sender asks for any more."""
    receiving.forget(before=timezone.now() - gateway_settings().webhooks.keep)
