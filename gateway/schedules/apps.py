"""The app of scheduled jobs, background tasks and permitted targets."""

from django.apps import AppConfig


class SchedulesConfig(AppConfig):
    """Work that nobody waits for at a keyboard."""

    name = "gateway.schedules"
    label = "schedules"
    verbose_name = "Schedules and targets"
