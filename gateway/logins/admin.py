"""Failed logins, for staff: read-only, and no names."""

from django.contrib import admin

from delivery.pages import ReadOnlyAdmin
from gateway.logins.models import KnownPlace, LoginTry


@admin.register(LoginTry)
class LoginTryAdmin(ReadOnlyAdmin[LoginTry]):
    """How much guessing there is."""

    list_display = ("last_at", "count", "failures", "digest")
    list_filter = ("count",)
    ordering = ("-last_at",)


@admin.register(KnownPlace)
class KnownPlaceAdmin(ReadOnlyAdmin[KnownPlace]):
    """From how many places people log in."""

    list_display = ("last_at", "digest")
    ordering = ("-last_at",)
