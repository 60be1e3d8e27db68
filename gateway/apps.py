"""The gateway app."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from typing_extensions import override


class GatewayConfig(AppConfig):
    """What comes in, who may speak, and whose turn it is."""

    name = "gateway"
    verbose_name = "Gateway"

    @override
    def ready(self) -> None:
        """Tell the lower apps what they need from here."""
        from clarify import ports as clarify_ports  # noqa: PLC0415 - models are loaded only now
        from delivery import auditing, registry  # noqa: PLC0415
        from gateway import audit, checks, crews, platforms, retention, turns  # noqa: PLC0415

        checks.register()
        post_migrate.connect(crews.after_migrating, dispatch_uid="gateway.crews")
        registry.register_finder(platforms.find_outlet)
        clarify_ports.register_listener(turns.on_prompt_resolved)
        auditing.register(audit.note, audit.page_of)
        retention.register_needs()
