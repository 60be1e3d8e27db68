"""The app of pairings and identity links."""

from django.apps import AppConfig


class IdentityConfig(AppConfig):
    """Who people are: let in by a code, and one person on two platforms."""

    name = "gateway.identity"
    label = "identity"
    verbose_name = "Pairing and links"
