"""The tick of the schedules: thin, safe to run twice and at the same time."""

from celery import shared_task
from django.utils import timezone

from gateway.schedules import sweeping


@shared_task(name="schedules.sweep")
def run_sweep(**_future: object) -> None:
    """Decide on every job that is due."""
    sweeping.sweep(now=timezone.now())
