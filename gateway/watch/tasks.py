"""Celery tasks of the watchdog."""

from celery import shared_task
from django.utils import timezone

from gateway.watch import rounds


@shared_task(name="watch.round")
def make_round(**_future: object) -> None:
    """Look at everything, and tell whom it concerns."""
    rounds.take(now=timezone.now())
