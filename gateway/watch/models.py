"""What was found wrong, and for how long it was so."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from typing_extensions import override

from gateway.watch.sights import Layer, Severity


class Incident(models.Model):
    """A finding of the watchdog, from the look that first showed it until it stays away."""

    key = models.CharField(max_length=200, help_text="What it is about.")
    layer = models.CharField(max_length=9, choices=[(one.value, one.value) for one in Layer])
    severity = models.CharField(max_length=7, choices=[(one.value, one.value) for one in Severity])
    says = models.CharField("what is wrong", max_length=700)
    fix = models.CharField("what to do", max_length=500)
    since = models.DateTimeField(help_text="Since when it is so, as far as is known.")
    first_seen_at = models.DateTimeField()
    seen_at = models.DateTimeField("last seen")
    told = models.CharField(
        max_length=7, blank=True, help_text="How bad it was when the alert went out. Empty: none."
    )
    told_at = models.DateTimeField("alert at", null=True, blank=True)
    closed_at = models.DateTimeField("over at", null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["key"], condition=Q(closed_at__isnull=True), name="one_open_incident_a_key"
            ),
        ]
        indexes: ClassVar = [
            # retention: what was over long ago
            models.Index(
                fields=["closed_at"], condition=Q(closed_at__isnull=False), name="incidents_over"
            ),
            # alerting: how many alerts went out lately
            models.Index(
                fields=["told_at"], condition=Q(told_at__isnull=False), name="incidents_told"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.key} ({self.severity})"
