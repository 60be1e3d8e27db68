"""Accounts on platforms, and the processes that serve them."""

from typing import ClassVar

from django.db import models
from typing_extensions import override


class AccountState(models.TextChoices):
    """How the connection of an account stands ([P2])."""

    DISABLED = "disabled", "disabled"
    DISCONNECTED = "disconnected", "disconnected"
    CONNECTING = "connecting", "connecting"
    READY = "ready", "ready"
    DEGRADED = "degraded", "degraded"
    AUTH_FAILED = "auth_failed", "credential refused"


NAME_HELP = "An account's name is made of letters (a to z), digits, - and _, without spaces."


class Account(models.Model):
    """One bot identity on one platform."""

    slug = models.SlugField(
        "name",
        max_length=64,
        unique=True,
        help_text="Its name here; part of every conversation key.",
        error_messages={"invalid": NAME_HELP},
    )
    platform = models.CharField(max_length=32, help_text="Which platform, e.g. telegram.")
    is_enabled = models.BooleanField("enabled", default=True)
    secret = models.TextField(blank=True, editable=False, help_text="The credential, encrypted.")
    options = models.JSONField(default=dict, blank=True, help_text="The platform's own settings.")
    from_environment = models.BooleanField(
        "kept by the environment",
        default=False,
        editable=False,
        help_text="Taken over from there at every start, and changed there.",
    )
    state = models.CharField(
        max_length=16,
        choices=AccountState.choices,
        default=AccountState.DISCONNECTED,
        editable=False,
    )
    bot_id = models.CharField("bot's id", max_length=64, blank=True, editable=False)
    bot_name = models.CharField("bot's name", max_length=128, blank=True, editable=False)
    last_error = models.CharField(max_length=500, blank=True, editable=False)
    cursor = models.CharField(
        max_length=255,
        blank=True,
        editable=False,
        help_text="Where the stored events end; written with the events it confirms.",
    )
    last_event_at = models.DateTimeField("last event", null=True, blank=True, editable=False)
    state_changed_at = models.DateTimeField(
        "in this state since", null=True, blank=True, editable=False
    )

    class Meta:
        ordering: ClassVar = ["slug"]

    @override
    def __str__(self) -> str:
        return self.slug

    @property
    def lease_name(self) -> str:
        """The name of the lease whose holder serves this account."""
        return f"account:{self.slug}"


class ProcessBeat(models.Model):
    """A process of this installation, seen alive lately."""

    name = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=16, help_text="gateway, worker or beat.")
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "process"
        verbose_name_plural = "processes"

    @override
    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
