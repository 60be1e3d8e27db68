"""Tables of the clarify app. Only `questions` writes to them; of permits, `permits`."""

from itertools import takewhile
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from typing_extensions import override

from clarify import approvals, results, tongue
from clarify.approvals import Operation, Reach, Ruling
from clarify.schema import QuestionSet
from clarify.standing import Standing
from clarify.states import Effect, State
from clarify.stepping import Progress
from clarify.wording import Words
from delivery.addresses import Address
from delivery.states import MAYBE_SEEN


class PromptKind(models.TextChoices):
    """Which of the three faces a prompt has."""

    CLARIFY = "clarify", "clarify"
    ASK_USER = "ask_user", "ask_user"
    APPROVAL = "approval", "approval"


class Prompt(models.Model):
    """One to three questions put to one person by one tool call of one turn."""

    kind = models.CharField(max_length=8, choices=PromptKind.choices)
    correlation = models.CharField("turn", max_length=64, help_text="Opaque: the one that waits.")
    call_id = models.CharField(max_length=200, help_text="The tool call that asks.")
    conversation_key = models.CharField(max_length=2500, db_index=True)
    token = models.CharField(max_length=32, unique=True, help_text="What its buttons carry.")
    lane = models.CharField(max_length=2500)
    address = models.JSONField()
    reply_to = models.CharField(max_length=255, blank=True)
    asker_id = models.CharField(
        "id of who was asked", max_length=255, help_text="As their platform knows them."
    )
    asker_name = models.CharField("name of who was asked", max_length=255, blank=True)
    language = models.CharField(max_length=16, blank=True, help_text="Empty: the site's own.")
    anyone_may_answer = models.BooleanField(default=False)
    questions = models.JSONField(help_text="The questions as they were asked.")
    operation = models.JSONField(
        default=dict, blank=True, help_text="What is to be approved, as it was shown."
    )
    session = models.CharField(max_length=64, blank=True, help_text="Opaque: of the turn.")
    answers = models.JSONField(default=dict, blank=True, help_text="Answers so far, by key.")
    has_buttons = models.BooleanField("with buttons", default=False)
    progress = models.JSONField(
        default=dict, blank=True, help_text="Which question its buttons show, and what is ticked."
    )
    views = models.PositiveIntegerField(default=0, help_text="How often its buttons were changed.")
    obligation = models.ForeignKey(
        "delivery.Obligation",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        verbose_name="delivery",
        help_text="The message that shows it; none while an earlier question is open.",
    )
    state = models.CharField(
        max_length=16, choices=[(s.value, s.value) for s in State], default=State.PENDING.value
    )
    reason = models.CharField(max_length=200, blank=True)
    resolved_by = models.CharField("closed by", max_length=255, blank=True)
    resolved_on = models.CharField(
        "closed on", max_length=32, blank=True, help_text="The place it was closed from."
    )
    resolved_by_staff = models.BooleanField(
        "closed by staff",
        default=False,
        help_text="For somebody else: people in the chat read no name.",
    )
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(db_index=True)
    resolved_at = models.DateTimeField("closed at", null=True, blank=True)

    class Meta:
        verbose_name = "question"
        ordering: ClassVar = ["id"]
        permissions: ClassVar = [("approve_operation", "Can approve operations of any risk")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["correlation", "call_id"], name="one_prompt_a_tool_call"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[s.value for s in State]), name="prompt_state_known"
            ),
        ]
        indexes: ClassVar = [
            # expire_overdue: due ones only
            models.Index(
                fields=["expires_at"], condition=Q(state=State.PENDING.value), name="prompts_due"
            ),
            # quoted: which prompt a message of a lane shows
            models.Index(fields=["lane", "id"], name="prompts_by_lane"),
            # pending_for: what a message of this conversation may answer
            models.Index(
                fields=["conversation_key"],
                condition=Q(state=State.PENDING.value),
                name="prompts_open",
            ),
            # approvals_at: what a bare /approve or /deny may mean
            models.Index(
                fields=["lane"],
                condition=Q(state=State.PENDING.value, kind=PromptKind.APPROVAL.value),
                name="approvals_open",
            ),
        ]

    barred: str = ""
    """Why who was asked may not speak any more, where the upper app has looked it up."""

    @override
    def __str__(self) -> str:
        return f"{self.name} ({self.state})"

    @property
    def name(self) -> str:
        """As people and commands call it."""
        return f"{'approval' if self.is_approval else 'question'} {self.pk}"

    @property
    def gist(self) -> str:
        """What is asked, or what is to be approved, in one line."""
        if self.is_approval:
            return self.what.summary
        return " / ".join(question.text for question in self.question_set.questions)

    @property
    def question_set(self) -> QuestionSet:
        """The questions as values."""
        return QuestionSet.from_dict(self.questions)

    @property
    def words(self) -> Words:
        """What is said about it, in the language it was asked in."""
        return tongue.words(self.language)

    @property
    def is_open(self) -> bool:
        """Whether it may still be answered."""
        return self.state == State.PENDING

    @property
    def closed_by(self) -> str:
        """Who closed it, as people in the chat read it: staff who acted for others are not named.

        The name stands in `resolved_by` and in the audit log.
        """
        return self.words.staff if self.resolved_by_staff else self.resolved_by

    @property
    def given(self) -> dict[str, tuple[str, ...]]:
        """The answers so far."""
        return {key: tuple(values) for key, values in self.answers.items()}

    @property
    def is_approval(self) -> bool:
        """Whether an operation is to be approved, rather than questions answered."""
        return self.kind == PromptKind.APPROVAL

    @property
    def what(self) -> Operation:
        """The operation that is to be approved."""
        return Operation.from_dict(self.operation)

    @property
    def permits(self) -> bool:
        """Whether the operation was approved and may run."""
        is_answered = self.is_approval and self.state == State.ANSWERED
        return is_answered and Ruling.from_answers(self.answers).approved

    @property
    def so_far(self) -> Progress:
        """How far the person has come with its buttons."""
        return Progress.from_dict(self.progress, self.given)

    @property
    def destination(self) -> Address:
        """Where it is shown."""
        return Address.from_dict(self.address)

    @property
    def standing(self) -> Standing:
        """What an open question waits for; its replies and the parts of its message are read."""
        shown = self.obligation
        parts = list(shown.parts.all()) if shown else []
        arrivals = [part.delivered_at for part in parts if part.delivered_at]
        replies = self.replies_in_order
        last = replies[-1] if replies else None
        hinted = takewhile(lambda reply: reply.outcome == Effect.HINTED, reversed(replies))
        return Standing(
            expires_at=self.expires_at,
            asker=self.asker_name or self.asker_id,
            questions=len(self.question_set.questions),
            answered=len(self.answers),
            since=timezone.localtime(min(arrivals, default=self.created_at)),
            ahead=getattr(self, "ahead", None),  # as `listing.with_standing` looks it up
            shown=shown.state if shown else "",
            may_be_seen=any(part.state in MAYBE_SEEN for part in parts),
            shown_error=(shown.reason or shown.last_error) if shown else "",
            barred="" if self.anyone_may_answer else self.barred,
            hints=len(list(hinted)),
            reply_outcome=last.outcome if last else "",
            reply_detail=last.detail if last else "",
            is_approval=self.is_approval,
        )

    @property
    def replies_in_order(self) -> list["Reply"]:
        """What was said to it, oldest first."""
        return sorted(self.replies.all(), key=lambda reply: reply.pk)

    @property
    def tool_result(self) -> dict[str, Any]:
        """What the agent's tool call returns; of what was approved, nothing before it has run."""
        if self.is_approval:
            return approvals.denial(self.answers, State(self.state))
        return results.tool_result(
            self.kind, self.question_set, self.given, State(self.state), reason=self.reason
        )


class Permit(models.Model):
    """A lasting approval: the same operation needs none again, for a while."""

    conversation_key = models.CharField(max_length=2500, db_index=True)
    session = models.CharField(
        max_length=64, blank=True, help_text="Only in this one. Empty: in any of the conversation."
    )
    asker_id = models.CharField(
        "for whom", max_length=255, help_text="Whose turns it counts for, by their platform's id."
    )
    tool = models.CharField(max_length=100)
    lasting_key = models.CharField(max_length=100)
    covers = models.CharField(max_length=500, blank=True)
    level = models.CharField("risk", max_length=8)
    prompt = models.ForeignKey(
        Prompt, null=True, on_delete=models.SET_NULL, related_name="permits_given"
    )
    given_by = models.CharField(max_length=255)
    given_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.CharField(max_length=255, blank=True)
    uses = models.PositiveIntegerField(default=0)
    used_at = models.DateTimeField("last used", null=True, blank=True)

    class Meta:
        verbose_name = "lasting approval"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            # permits.covering: before every dangerous call
            models.Index(fields=["tool", "lasting_key", "expires_at"], name="permits_by_operation"),
            # retention: what ran out long ago
            models.Index(fields=["expires_at"], name="permits_by_end"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.tool}: {self.covers}"

    @property
    def reach(self) -> Reach:
        """How far it goes."""
        return Reach.SESSION if self.session else Reach.ALWAYS


class Reply(models.Model):
    """What somebody said to a prompt, and what became of it; rows are only ever added."""

    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, related_name="replies")
    by = models.CharField(max_length=255)
    surface = models.CharField(max_length=32)
    text = models.TextField(blank=True)
    outcome = models.CharField(max_length=32)
    detail = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["id"]
        verbose_name_plural = "replies"

    @override
    def __str__(self) -> str:
        return self.outcome
