"""Files that came in or went out, for staff: read-only, and without their bytes."""

from django.contrib import admin

from delivery.pages import ReadOnlyAdmin
from gateway.models import MediaFile, Upload


@admin.register(MediaFile)
class MediaFileAdmin(ReadOnlyAdmin[MediaFile]):
    """What is kept, for whom, and why a file is missing."""

    list_display = (
        "created_at",
        "direction",
        "kind",
        "name",
        "mime_type",
        "size",
        "state",
        "reason",
        "account",
    )
    list_filter = ("state", "direction", "kind", "account")
    search_fields = ("sha256__exact", "name")
    date_hierarchy = "created_at"
    ordering = ("-id",)


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin[Upload]):
    """What a platform calls the files that it was given."""

    list_display = ("uploaded_at", "account", "form", "sha256")
    list_filter = ("account", "form")
    ordering = ("-uploaded_at",)
