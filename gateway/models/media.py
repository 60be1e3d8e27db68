"""Files that came in or are on their way out."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from typing_extensions import override


class Direction(models.TextChoices):
    """Which way a file goes."""

    IN = "in", "came in"
    OUT = "out", "goes out"


class MediaState(models.TextChoices):
    """Whether the bytes are there."""

    WANTED = "wanted", "is being fetched"
    KEPT = "kept", "is kept"
    MISSING = "missing", "could not be had"
    GONE = "gone", "was kept long enough"


class MediaFile(models.Model):
    """One file; the bytes lie in the media store under the number of this row."""

    direction = models.CharField(max_length=3, choices=Direction.choices)
    account = models.CharField(max_length=64)
    conversation = models.ForeignKey(
        "gateway.Conversation", null=True, on_delete=models.SET_NULL, related_name="media"
    )
    turn = models.ForeignKey(
        "gateway.Turn", null=True, on_delete=models.SET_NULL, related_name="media"
    )
    group_id = models.CharField(
        max_length=255, blank=True, help_text="The album it came in, as the platform names it."
    )
    kind = models.CharField(max_length=16, help_text="photo, document, voice, audio, video, …")
    remote_id = models.CharField(
        max_length=500, blank=True, help_text="The platform's handle to fetch it by."
    )
    label = models.CharField(
        max_length=300, blank=True, help_text="What stands for it in the prompt of its turn."
    )
    name = models.CharField(max_length=255, blank=True, help_text="What people call it.")
    mime_type = models.CharField(max_length=127, blank=True, help_text="By its first bytes.")
    size = models.PositiveBigIntegerField(default=0, help_text="In bytes; as told until it is had.")
    sha256 = models.CharField(max_length=64, blank=True)
    state = models.CharField(
        max_length=8, choices=MediaState.choices, default=MediaState.WANTED.value
    )
    reason = models.CharField(max_length=300, blank=True, help_text="Why it could not be had.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        verbose_name = "file"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=[s.value for s in MediaState]), name="media_state_known"
            ),
        ]
        indexes: ClassVar = [
            # expire: what was kept, or wanted, for long enough
            models.Index(
                fields=["expires_at"],
                condition=Q(state__in=["kept", "wanted"]),
                name="media_to_expire",
            ),
            # retention: what is not here any more; bare values, for SQLite proves nothing from `in`
            models.Index(
                fields=["expires_at"],
                condition=~Q(state="kept") & ~Q(state="wanted"),
                name="media_to_forget",
            ),
            # wanted: what an account has still to fetch
            models.Index(
                fields=["account", "id"], condition=Q(state="wanted"), name="media_wanted"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"file {self.pk} ({self.kind}, {self.state})"


class Upload(models.Model):
    """What a platform calls a file that it was given, so that it is not given it again."""

    account = models.CharField(max_length=64)
    form = models.CharField(max_length=16, help_text="photo, document, voice, audio, video")
    sha256 = models.CharField(max_length=64)
    remote_id = models.CharField(max_length=500)
    uploaded_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "form", "sha256"], name="one_row_an_upload"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.form} {self.sha256[:12]} on {self.account}"
