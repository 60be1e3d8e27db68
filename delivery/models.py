"""Tables of the delivery app.

Each has one writer: `ledger` (what is owed, its parts and tries), `leases`, `destinations` and
`preview_rows`.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from typing_extensions import override

from delivery.addresses import Address
from delivery.content import Controls, Rendered
from delivery.states import OPEN, PartState, State

OPEN_STATES = sorted(state.value for state in OPEN)


def choices(enum: type[State] | type[PartState]) -> list[tuple[str, str]]:
    """The members of `enum` as a field wants them."""
    return [(member.value, member.value) for member in enum]


class Lease(models.Model):
    """The right of one process to act for something, for a while, with a fencing number."""

    name = models.CharField(max_length=200, unique=True, help_text="What is owned.")
    owner = models.CharField(max_length=200, blank=True, help_text="The process that owns it.")
    epoch = models.PositiveBigIntegerField(
        default=0, help_text="Grows with every new owner; an older number may write nothing."
    )
    expires_at = models.DateTimeField(help_text="Until when, unless renewed.")

    @override
    def __str__(self) -> str:
        return f"{self.name} #{self.epoch}"


class Kind(models.TextChoices):
    """What sort of message is owed."""

    FINAL = "final", "final answer"
    PROMPT = "prompt", "question"
    APPROVAL = "approval", "approval"
    CONTROL = "control", "answer to a command"
    NOTICE = "notice", "notice"
    ERROR = "error", "error"
    CHANGE = "change", "change of a question"
    RETIRE = "retire", "closing of a question"
    CRON = "cron", "scheduled result"
    BACKGROUND = "background", "background result"
    MEDIA = "media", "media"
    CROSS = "cross", "message to another place"


class Obligation(models.Model):
    """One owed message, from the moment it is promised until it is delivered or abandoned."""

    delivery_id = models.CharField(
        max_length=64, unique=True, help_text="The same debt recorded twice gives the same row."
    )
    conversation_key = models.CharField(max_length=2500, blank=True, db_index=True)
    correlation = models.CharField(
        max_length=64, blank=True, db_index=True, help_text="Opaque: the turn or prompt it is for."
    )
    platform = models.CharField(max_length=32)
    account = models.CharField(max_length=64)
    chat_id = models.CharField(max_length=255)
    lane = models.CharField(max_length=2500, help_text="Messages of one lane go in order.")
    address = models.JSONField()
    reply_to = models.CharField(max_length=255, blank=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    priority = models.PositiveSmallIntegerField(default=1, help_text="0 goes before 1.")
    content = models.TextField(help_text="Canonical Markdown.")
    content_hash = models.CharField(max_length=64)
    controls = models.JSONField(default=dict, blank=True)
    preview_key = models.CharField(max_length=64, blank=True)
    fresh_after = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Seconds: a live message that is older is not changed into this one, which comes"
        " as a new message. Empty: it always is.",
    )
    edits = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="edited_by",
        help_text="The delivered message whose text this one replaces.",
    )
    state = models.CharField(max_length=12, choices=choices(State), default=State.PENDING.value)
    owner = models.CharField(max_length=200, blank=True)
    epoch = models.PositiveBigIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    recoveries = models.PositiveIntegerField(
        default=0, help_text="How often it was sent again because its fate was unknown."
    )
    next_attempt_at = models.DateTimeField()
    last_error = models.CharField(max_length=500, blank=True)
    error_kind = models.CharField(
        max_length=64, blank=True, help_text="Which of our errors the last one was, by its name."
    )
    reason = models.CharField(max_length=200, blank=True, help_text="Why it was abandoned.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(db_index=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "delivery"
        verbose_name_plural = "deliveries"
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            # claim_due: the oldest open message of each lane of one account
            models.Index(
                fields=["account", "id"], condition=Q(state__in=OPEN_STATES), name="owed_by_account"
            ),
            models.Index(
                fields=["lane", "id"], condition=Q(state__in=OPEN_STATES), name="owed_by_lane"
            ),
            # those that asked somebody something and reached nobody; a bare value, not `in`, for
            # SQLite proves nothing from a list
            models.Index(
                fields=["kind"], condition=Q(state=State.ABANDONED.value), name="given_up_by_kind"
            ),
            # housekeeping: settled rows past their keeping
            models.Index(
                fields=["settled_at"], condition=Q(settled_at__isnull=False), name="settled_rows"
            ),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=[s.value for s in State]), name="obligation_state_known"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"delivery {self.delivery_id[:12]} ({self.kind}, {self.state})"

    @property
    def destination(self) -> Address:
        """Where it goes."""
        return Address.from_dict(self.address)

    @property
    def native_controls(self) -> Controls:
        """Its buttons, if any."""
        return Controls.from_dict(self.controls)


class Part(models.Model):
    """One platform message of an obligation, rendered once and for all."""

    obligation = models.ForeignKey(Obligation, on_delete=models.CASCADE, related_name="parts")
    position = models.PositiveIntegerField()
    body = models.JSONField(help_text="The message in the platform's dialect.")
    idempotency_key = models.CharField(max_length=32)
    state = models.CharField(
        max_length=12, choices=choices(PartState), default=PartState.PENDING.value
    )
    was_lost = models.BooleanField(
        default=False, help_text="An earlier send may have arrived; a new one must say so."
    )
    losses = models.PositiveIntegerField(
        default=0, help_text="How often it was sent and nobody knows whether it arrived."
    )
    attempts = models.PositiveIntegerField(default=0)
    message_id = models.CharField(max_length=255, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["obligation_id", "position"]
        indexes: ClassVar = [
            # explain and quoting: whose message is this
            models.Index(
                fields=["message_id"], condition=~Q(message_id=""), name="parts_by_message"
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["obligation", "position"], name="one_part_a_position"),
            models.CheckConstraint(
                condition=Q(state__in=[s.value for s in PartState]), name="part_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state=PartState.DELIVERED.value) | ~Q(message_id=""),
                name="delivered_needs_message_id",
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"part {self.position + 1} of {self.obligation_id} ({self.state})"

    @property
    def rendered(self) -> Rendered:
        """The message in the platform's dialect."""
        return Rendered.from_dict(self.body)


class Outcome(models.TextChoices):
    """How one try ended."""

    ACCEPTED = "accepted", "accepted"
    NOT_SENT = "not_sent", "not sent"
    UNKNOWN = "unknown", "may have arrived"
    REFUSED = "refused", "refused"


class Attempt(models.Model):
    """One try to send one part; rows are only ever added."""

    part = models.ForeignKey(Part, on_delete=models.CASCADE, related_name="tries")
    number = models.PositiveIntegerField()
    operation = models.CharField(max_length=8, default="send")
    owner = models.CharField(max_length=200)
    epoch = models.PositiveBigIntegerField()
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    marked = models.BooleanField(default=False, help_text="It said that it may be a duplicate.")
    error_code = models.CharField(max_length=64, blank=True)
    detail = models.CharField(max_length=500, blank=True)
    finished_at = models.DateTimeField()

    class Meta:
        verbose_name = "try"
        verbose_name_plural = "tries"
        ordering: ClassVar = ["id"]

    @override
    def __str__(self) -> str:
        return f"try {self.number}: {self.outcome}"


class Preview(models.Model):
    """The live message of one turn: known here so that the final can replace it after a crash."""

    key = models.CharField(max_length=64, unique=True)
    account = models.CharField(max_length=64)
    address = models.JSONField()
    message_ids = models.JSONField(default=list)
    created_at = models.DateTimeField()

    @override
    def __str__(self) -> str:
        return self.key


class DeadDestination(models.Model):
    """A chat that refused us for good, until it speaks again."""

    platform = models.CharField(max_length=32)
    account = models.CharField(max_length=64)
    chat_id = models.CharField(max_length=255)
    reason = models.CharField(max_length=300)
    since = models.DateTimeField()

    class Meta:
        verbose_name = "closed chat"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["platform", "account", "chat_id"], name="one_dead_row_a_chat"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.platform}:{self.chat_id}"
