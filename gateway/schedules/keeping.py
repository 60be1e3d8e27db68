"""What of this app goes in time ([O2]): how long is the setting for turns."""

from datetime import datetime

from django.db.models import QuerySet

from delivery.forgetting import Rule
from gateway.conf import gateway_settings
from gateway.models.turns import OPEN_STATES
from gateway.schedules.models import BackgroundTask, Job, Recurrence, Run


def _runs(now: datetime) -> QuerySet[Run]:
    old = Run.objects.filter(at__lt=now - gateway_settings().retention.turns)
    return old.exclude(turn__state__in=OPEN_STATES)


def _tasks(now: datetime) -> QuerySet[BackgroundTask]:
    old = BackgroundTask.objects.filter(created_at__lt=now - gateway_settings().retention.turns)
    return old.exclude(turn__state__in=OPEN_STATES)


def _done(now: datetime) -> QuerySet[Job]:
    past = now - gateway_settings().retention.turns
    return Job.objects.filter(
        recurrence=Recurrence.ONCE, is_enabled=True, next_at=None, once_at__lt=past
    )


RULES = (
    Rule(what="runs of scheduled jobs", model=Run, past=_runs, by="at"),
    Rule(what="background tasks", model=BackgroundTask, past=_tasks, by="created_at"),
    Rule(
        what="jobs that were due once",
        model=Job,
        past=_done,
        by="once_at",
        after=frozenset({Run}),
    ),
)
