"""The app of the watchdog."""

from django.apps import AppConfig
from typing_extensions import override


class WatchConfig(AppConfig):
    """What is wrong, since when, and what to do."""

    name = "gateway.watch"
    label = "watch"
    verbose_name = "Health"

    @override
    def ready(self) -> None:
        """Let what is long over go with the other rows that are."""
        from delivery import forgetting  # noqa: PLC0415 - models are loaded only now
        from gateway.watch import incidents  # noqa: PLC0415

        forgetting.register_rule(incidents.OVER)
