"""The delivery app."""

from django.apps import AppConfig


class DeliveryConfig(AppConfig):
    """What is owed, and the proof that it left."""

    name = "delivery"
    verbose_name = "Delivery"
