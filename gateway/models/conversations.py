"""Who talks where, and what was said."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from typing_extensions import override

from delivery.addresses import Address
from gateway.commissions import Commission


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
    parent_chat_id = models.CharField(
        max_length=255, blank=True, help_text="The chat whose settings it inherits."
    )
    title = models.CharField(max_length=200, blank=True)
    language = models.CharField(
        max_length=16, blank=True, help_text="In which we speak there, as far as it is known."
    )
    session = models.ForeignKey(
        "gateway.Session",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The current one; /new starts another.",
    )
    commission = models.JSONField(
        null=True,
        blank=True,
        help_text="Whom the work in it is done for, where nobody sits: of a job or a task.",
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
        return self.commissioned.answers or self.place

    @property
    def commissioned(self) -> Commission:
        """Whom its work is done for; an empty commission where people sit themselves."""
        return Commission.from_dict(self.commission) if self.commission else Commission()

    @property
    def asked_at(self) -> Address:
        """Where its people speak: where its work was asked for, if nobody sits in it."""
        return self.commissioned.origin or self.place

    @property
    def place(self) -> Address:
        """Where it takes place."""
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
    suspended_at = models.DateTimeField(
        null=True, blank=True, help_text="The next message begins another session."
    )
    suspended_by = models.CharField(max_length=255, blank=True, help_text="Who or what did that.")
    resumed_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was last taken up again with /resume."
    )
    title = models.CharField(max_length=200, blank=True, help_text="For finding it again.")
    model = models.CharField(max_length=200, blank=True, help_text="Chosen with /model.")

    class Meta:
        ordering: ClassVar = ["conversation_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["conversation", "number"], name="one_session_a_number"),
        ]
        indexes: ClassVar = [
            # retention: what ended long ago
            models.Index(
                fields=["ended_at"], condition=Q(ended_at__isnull=False), name="sessions_ended"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"session {self.number} of conversation {self.conversation_id}"


class TranscriptEntry(models.Model):
    """One model message of a session's history; rows are only added, and marked as taken back."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="transcript")
    position = models.PositiveIntegerField()
    turn = models.ForeignKey("gateway.Turn", null=True, on_delete=models.SET_NULL)
    message = models.JSONField(help_text="As the agent library writes it.")
    schema = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField()
    undone_at = models.DateTimeField(
        null=True, blank=True, help_text="Taken back with /undo or /retry; the agent reads it not."
    )

    class Meta:
        verbose_name_plural = "transcript entries"
        ordering: ClassVar = ["session_id", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["session", "position"], name="one_entry_a_position"),
        ]

    @override
    def __str__(self) -> str:
        return f"entry {self.position} of session {self.session_id}"
