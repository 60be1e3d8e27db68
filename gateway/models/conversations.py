"""Who talks where, and what was said."""

from typing import ClassVar

from django.db import models
from typing_extensions import override

from delivery.addresses import Address


class Conversation(models.Model):
    """Everything under one conversation key ([S2])."""

    key = models.CharField(max_length=2500, unique=True)
    platform = models.CharField(max_length=32)
    account = models.CharField(max_length=64)
    scope_id = models.CharField(max_length=255, blank=True)
    chat_type = models.CharField(max_length=16)
    chat_id = models.CharField(max_length=255)
    thread_id = models.CharField(max_length=255, blank=True)
    participant_id = models.CharField(max_length=255, blank=True)
    title = models.CharField(max_length=200, blank=True)
    session = models.ForeignKey(
        "gateway.Session",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The current one; /new starts another.",
    )
    created_at = models.DateTimeField()
    active_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering: ClassVar = ["-active_at"]
        indexes: ClassVar = [
            # move_chat, and the place that staff name by its chat
            models.Index(fields=["account", "chat_id"], name="conversations_by_chat"),
        ]

    @override
    def __str__(self) -> str:
        return self.title or self.key

    @property
    def address(self) -> Address:
        """Where its answers go."""
        return Address(
            platform=self.platform,
            account=self.account,
            scope_id=self.scope_id,
            chat_type=self.chat_type,
            chat_id=self.chat_id,
            thread_id=self.thread_id,
        )


class Session(models.Model):
    """One run of history under a conversation key."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="sessions"
    )
    number = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=32, blank=True)

    class Meta:
        ordering: ClassVar = ["conversation_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["conversation", "number"], name="one_session_a_number"),
        ]

    @override
    def __str__(self) -> str:
        return f"session {self.number} of conversation {self.conversation_id}"


class TranscriptEntry(models.Model):
    """One model message of a session's history; rows are only ever added."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="transcript")
    position = models.PositiveIntegerField()
    turn = models.ForeignKey("gateway.Turn", null=True, on_delete=models.SET_NULL)
    message = models.JSONField(help_text="As the agent library writes it.")
    schema = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "transcript entries"
        ordering: ClassVar = ["session_id", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["session", "position"], name="one_entry_a_position"),
        ]

    @override
    def __str__(self) -> str:
        return f"entry {self.position} of session {self.session_id}"
