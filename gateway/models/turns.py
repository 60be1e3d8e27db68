"""Turns and the tool calls inside them."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from typing_extensions import override

from gateway import keys
from gateway.messages import ChatType
from gateway.states import ACTIVE, OPEN, FailureKind, TurnState

ACTIVE_STATES = sorted(state.value for state in ACTIVE)
OPEN_STATES = sorted(state.value for state in OPEN)


class Turn(models.Model):
    """One execution: from a person's message to the answer owed."""

    conversation = models.ForeignKey(
        "gateway.Conversation", on_delete=models.CASCADE, related_name="turns"
    )
    session = models.ForeignKey("gateway.Session", on_delete=models.CASCADE, related_name="turns")
    state = models.CharField(
        max_length=12,
        choices=[(s.value, s.value) for s in TurnState],
        default=TurnState.QUEUED.value,
    )
    prompt = models.TextField(blank=True, help_text="What the person said.")
    sender_id = models.CharField(max_length=255)
    sender_name = models.CharField(max_length=255, blank=True)
    sender_alt = models.CharField(
        max_length=255, blank=True, help_text="The same person by the platform's stable id."
    )
    is_bots = models.BooleanField(default=False, help_text="A bot began it.")
    reply_to = models.CharField(max_length=255, blank=True)
    owner = models.CharField(max_length=200, blank=True)
    epoch = models.PositiveIntegerField(default=0, help_text="Grows with every claim.")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    deaths = models.PositiveSmallIntegerField(
        default=0, help_text="How often its worker died under it."
    )
    spoken = models.TextField(
        blank=True, help_text="What the agent said in this turn before its last answer."
    )
    segment = models.PositiveIntegerField(
        default=0, help_text="Grows with every question, so that each stretch has its own preview."
    )
    failure_kind = models.CharField(
        max_length=20,
        blank=True,
        choices=[(kind.value, kind.value) for kind in FailureKind],
        help_text="Why it failed, for what decides by it; empty if it did not.",
    )
    error = models.CharField(max_length=500, blank=True)
    detail = models.TextField(blank=True, help_text="For staff.")
    usage = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    woken_at = models.DateTimeField(help_text="When a worker was last told of it.")
    held_until = models.DateTimeField(
        null=True, blank=True, help_text="Its files are on their way, until then at most."
    )
    gathers_until = models.DateTimeField(
        null=True, blank=True, help_text="More of the same message may come, until then."
    )
    may_join = models.BooleanField(
        default=False, help_text="The turn that runs may take it in, at its next model call."
    )
    joined = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="taken_in",
        help_text="The turn that took it in.",
    )
    told_at = models.DateTimeField(
        null=True, blank=True, help_text="When the person was told that it waits, and for what."
    )
    updated_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            # The rule of the house: at most one active turn per conversation, whatever races.
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(state__in=ACTIVE_STATES),
                name="one_active_turn_a_conversation",
            ),
            # And per history, which two linked chats may share.
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(state__in=ACTIVE_STATES),
                name="one_active_turn_a_session",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[s.value for s in TurnState]), name="turn_state_known"
            ),
        ]
        indexes: ClassVar = [
            # Each names its one state: SQLite does not see that an index of several holds it.
            # running, running_turns: what some worker says it runs
            models.Index(
                fields=["lease_expires_at"],
                condition=Q(state=TurnState.RUNNING.value),
                name="turns_in_hand",
            ),
            # wake_overlooked: what a worker should have come for
            models.Index(
                fields=["woken_at"], condition=Q(state=TurnState.READY.value), name="turns_ready"
            ),
            models.Index(
                fields=["woken_at"], condition=Q(state=TurnState.QUEUED.value), name="turns_queued"
            ),
            # first_open_turn: what is next in one conversation
            models.Index(
                fields=["conversation", "id"],
                condition=Q(state__in=OPEN_STATES),
                name="open_turns_of_one",
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"turn {self.pk} ({self.state})"

    @property
    def correlation(self) -> str:
        """How lower apps name this turn."""
        return keys.correlation_of(self.pk)

    @property
    def anchor(self) -> str:
        """The message that an answer replies to; none where two people are by themselves."""
        return self.reply_to if self.conversation.chat_type != ChatType.DM else ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that name its person: theirs, and that of a chat with nobody else."""
        here = self.conversation.address
        private = (here.chat_id,) if here.is_private else ()
        return tuple(filter(None, (self.sender_id, self.sender_alt, *private)))

    @property
    def preview_key(self) -> str:
        """The live message of this stretch of the turn."""
        return f"t{self.pk}.{self.segment}"


class ToolState(models.TextChoices):
    """Where a tool call stands."""

    STARTED = "started", "started"
    WAITING = "waiting", "waits for a person"
    PERMITTED = "permitted", "approved, not yet run"
    DONE = "done", "has its result"


class ToolCall(models.Model):
    """One call of a tool by the model: begun is written before it runs, its result after."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="tool_calls")
    call_id = models.CharField(max_length=200)
    name = models.CharField(max_length=100)
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=9, choices=ToolState.choices, default=ToolState.STARTED)
    result = models.JSONField(null=True)
    epoch = models.PositiveIntegerField(default=0, help_text="The claim of the turn that began it.")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["turn", "call_id"], name="one_row_a_tool_call"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.name} ({self.state})"


class Note(models.Model):
    """Something the agent wrote down for later."""

    conversation = models.ForeignKey(
        "gateway.Conversation", on_delete=models.CASCADE, related_name="notes"
    )
    turn = models.ForeignKey(Turn, null=True, on_delete=models.SET_NULL)
    text = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["id"]

    @override
    def __str__(self) -> str:
        return self.text[:60]
