"""The clarify app."""

from django.apps import AppConfig
from typing_extensions import override


class ClarifyConfig(AppConfig):
    """Questions put to a person, and their answers."""

    name = "clarify"
    verbose_name = "Questions"

    @override
    def ready(self) -> None:
        """Tell the app below what of its rows is needed here."""
        from clarify import retention  # noqa: PLC0415 - models are loaded only now

        retention.register_needs()
