"""The app of the webhooks that come in."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Endpoints, and what came to them."""

    name = "gateway.webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"
