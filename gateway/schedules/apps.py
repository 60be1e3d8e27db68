"""The app of scheduled jobs, background tasks and permitted targets."""

from django.apps import AppConfig
from typing_extensions import override


class SchedulesConfig(AppConfig):
    """Work that nobody waits for at a keyboard."""

    name = "gateway.schedules"
    label = "schedules"
    verbose_name = "Schedules and targets"

    @override
    def ready(self) -> None:
        """Let what is long over go with the other rows that are."""
        from delivery import forgetting  # noqa: PLC0415 - models are loaded only now
        from gateway.schedules import keeping  # noqa: PLC0415

        for rule in keeping.RULES:
            forgetting.register_rule(rule)
