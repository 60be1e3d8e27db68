"""The clarify app."""

from django.apps import AppConfig


class ClarifyConfig(AppConfig):
    """Questions put to a person, and their answers."""

    name = "clarify"
    verbose_name = "Questions"
