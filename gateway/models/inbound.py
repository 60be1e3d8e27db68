"""What came in, and what was decided about it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from typing_extensions import override


class Decision(models.TextChoices):
    """What became of an event ([P9]: every decision leaves a row)."""

    TURN = "turn", "began or joined a turn"
    ANSWER = "answer", "answered a question"
    HINT = "hint", "was about a question, but did not answer it"
    COMMAND = "command", "was a command"
    DENIED = "denied", "was not allowed"
    IGNORED = "ignored", "was not for us"
    CLOSED = "closed", "answered a question that is closed"
    EDITED = "edited", "changed a message that waits"
    POISON = "poison", "could not be handled"


class InboundEvent(models.Model):
    """One event of a platform, stored once, with what was decided and why."""

    account = models.CharField(max_length=64)
    event_id = models.CharField(max_length=255, help_text="The platform's id of the event.")
    message_key = models.CharField(  # noqa: DJ001 - null: a unique key only where there is one
        max_length=600,
        null=True,
        blank=True,
        help_text="Chat and message id, for messages.",
    )
    kind = models.CharField(max_length=16)
    platform = models.CharField(max_length=32, blank=True)
    chat_id = models.CharField(max_length=255, blank=True)
    thread_id = models.CharField(max_length=255, blank=True)
    chat_type = models.CharField(max_length=16, blank=True)
    scope_id = models.CharField(max_length=255, blank=True)
    sender_id = models.CharField(max_length=255, blank=True)
    sender_name = models.CharField(max_length=255, blank=True)
    message_id = models.CharField(max_length=255, blank=True)
    reply_to = models.CharField(max_length=255, blank=True)
    text = models.TextField(blank=True)
    attachments = models.JSONField(default=list, blank=True)
    decision = models.CharField(max_length=12, choices=Decision.choices, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    conversation = models.ForeignKey(
        "gateway.Conversation",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="inbound",
    )
    turn = models.ForeignKey(
        "gateway.Turn", null=True, blank=True, on_delete=models.SET_NULL, related_name="messages"
    )
    prompt_id = models.BigIntegerField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "incoming event"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "event_id"], name="one_row_an_event"),
            models.UniqueConstraint(
                fields=["account", "message_key"],
                condition=Q(message_key__isnull=False),
                name="one_row_a_message",
            ),
        ]
        indexes: ClassVar = [
            # explain, quoting and edits: which event brought this message
            models.Index(fields=["message_id", "account"], name="inbound_by_message"),
            models.Index(
                fields=["prompt_id"],
                condition=Q(prompt_id__isnull=False),
                name="inbound_by_prompt",
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.kind} {self.event_id} ({self.decision})"
