"""Findings that last, for staff: read-only."""

from django.contrib import admin

from delivery.pages import ReadOnlyAdmin
from gateway.watch.models import Incident


@admin.register(Incident)
class IncidentAdmin(ReadOnlyAdmin[Incident]):
    """What is and was wrong, and for how long."""

    list_display = ("since", "severity", "layer", "says", "fix", "told_at", "closed_at")
    list_filter = ("severity", "layer")
    search_fields = ("key", "says")
    date_hierarchy = "first_seen_at"
    ordering = ("-id",)
