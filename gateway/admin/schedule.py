"""The clock of the installation: what beat runs by itself, and when it last did. Read-only."""

import django_celery_beat.admin  # noqa: F401 - its pages are registered, so that they can be replaced
from django.contrib import admin
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)

from delivery.pages import ReadOnlyAdmin

# The schedule stands in the settings and is written anew at every start of beat: an edit by hand
# would be lost, or would stop the upkeep that everything else counts on.
admin.site.unregister(
    [ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule]
)


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(ReadOnlyAdmin[PeriodicTask]):
    """What beat runs."""

    list_display = ("name", "task", "scheduler", "enabled", "last_run_at", "total_run_count")
    list_filter = ("enabled",)
    list_select_related = ("interval", "crontab", "solar", "clocked")
    ordering = ("name",)
    fields = ("name", "task", "enabled", "queue", "last_run_at", "total_run_count", "date_changed")
