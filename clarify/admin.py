"""Pages for staff: questions put to people, why they are open, what was said to them ([Q21])."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from clarify import presenting, staff, standing
from clarify.errors import ClarifyError
from clarify.models import Prompt, Reply
from clarify.states import State
from delivery import auditing
from delivery.pages import (
    NOTHING,
    SURFACE,
    Deed,
    ReadOnlyAdmin,
    ReadOnlyInline,
    age,
    lines,
    link,
    path_link,
    preformatted,
    snippet,
)

ERRORS = (ClarifyError,)
CLOSING = ("resolved_by", "resolved_by_staff", "resolved_on")


class AnswerForm(forms.Form):
    """What the person would have typed."""

    text = forms.CharField(
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
        label="Answer",
        help_text="A number, a label or own words; for several questions: 1b 2a 3: own words.",
    )


class ExtendForm(forms.Form):
    """How much more time."""

    minutes = forms.IntegerField(
        min_value=1,
        max_value=int(staff.LONGEST_EXTENSION.total_seconds() // 60),
        initial=30,
        help_text="Counted from the deadline, or from now if that has passed.",
    )


def _answer(row: Prompt, given: dict[str, Any], actor: str, now: datetime) -> str:
    return staff.answer(row, given["text"], actor=actor, surface=SURFACE, now=now)


def _extend(row: Prompt, given: dict[str, Any], actor: str, now: datetime) -> str:
    more = timedelta(minutes=given["minutes"])
    until = timezone.localtime(staff.extend(row, by=more, actor=actor, now=now))
    return f"open until {until:%Y-%m-%d %H:%M:%S}"


ANSWER = Deed(
    title="Answer on behalf of the person who was asked?",
    warning="The agent goes on with this answer; the chat shows that staff gave it.",
    past="answered",
    do=_answer,
    errors=ERRORS,
    form=AnswerForm,
)
RESEND = Deed(
    title="Show these questions again?",
    past="shown again",
    warning="The earlier message then points to the new one.",
    do=lambda row, _given, actor, now: staff.resend(row, actor=actor, now=now),
    errors=ERRORS,
)
EXTEND = Deed(
    title="Give more time to answer?",
    past="extended",
    do=_extend,
    errors=ERRORS,
    form=ExtendForm,
)
EXPIRE = Deed(
    title="Close these questions as if their time had run out?",
    past="expired; the agent is told",
    warning="The agent goes on without an answer.",
    do=lambda row, _given, actor, now: staff.expire(row, actor=actor, surface=SURFACE, now=now),
    errors=ERRORS,
)
CANCEL = Deed(
    title="Withdraw these questions?",
    past="cancelled; the agent is told",
    warning="The agent goes on without an answer.",
    do=lambda row, _given, actor, now: staff.cancel(row, actor=actor, surface=SURFACE, now=now),
    errors=ERRORS,
)


class ReplyInline(ReadOnlyInline[Reply, Prompt]):
    """What was said to the question, and why it was not taken as an answer."""

    model = Reply
    fields = ("at", "by", "surface", "text", "outcome", "detail")
    readonly_fields = fields


@admin.register(Prompt)
class PromptAdmin(ReadOnlyAdmin[Prompt]):
    """Questions put to people."""

    list_display = ("id", "state", "age", "who", "question", "why", "delivery")
    list_filter = ("state", "kind", "has_buttons", "resolved_on")
    search_fields = ("correlation__exact", "asker_id__exact", "asker_name", "token__exact")
    search_help_text = "The number of a turn, or the id or name of the person who was asked."
    date_hierarchy = "updated_at"
    ordering = ("-id",)
    list_select_related = ("obligation",)
    inlines = (ReplyInline,)
    actions = ("answer", "resend", "extend", "expire", "cancel")
    readonly_fields = ("turn", "delivery", "shown", "answered", "why")
    fieldsets = (
        (None, {"fields": ("kind", "state", "why", "turn", "shown", "answered", "delivery")}),
        ("Who", {"fields": ("asker_id", "asker_name", "anyone_may_answer", "conversation_key")}),
        ("How it ended", {"fields": (*CLOSING, "reason", "resolved_at")}),
        ("When", {"fields": ("created_at", "expires_at", "updated_at")}),
        ("Inside", {"classes": ("collapse",), "fields": ("call_id", "token", "questions", "lane")}),
    )

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Prompt]:
        """The questions with all that says why they are open, in a fixed number of queries."""
        rows = super().get_queryset(request)
        return rows.select_related("obligation").prefetch_related("replies", "obligation__parts")

    @override
    def told(self, row: Prompt) -> SafeString:
        """Which it is, and what the person was asked."""
        return format_html("{} {}", row, self.shown(row))

    @admin.display(description="age", ordering="created_at")
    def age(self, row: Prompt) -> str:
        """How long ago it was asked."""
        return age(row.created_at)

    @admin.display(description="who was asked", ordering="asker_name")
    def who(self, row: Prompt) -> str:
        """The person's name and id."""
        return f"{row.asker_name} [{row.asker_id}]" if row.asker_name else row.asker_id

    @admin.display(description="question")
    def question(self, row: Prompt) -> str:
        """What was asked, in short."""
        return snippet(" / ".join(q.text for q in row.question_set.questions), 70)

    @admin.display(description="why stuck")
    def why(self, row: Prompt) -> str:
        """What it waits for."""
        if row.state != State.PENDING:
            return row.reason or NOTHING
        return standing.why_open(row.standing, now=timezone.now())

    @admin.display(description="turn")
    def turn(self, row: Prompt) -> str | SafeString:
        """The turn that waits for it."""
        return path_link(auditing.page_of(row.correlation), f"turn {row.correlation}")

    @admin.display(description="delivery")
    def delivery(self, row: Prompt) -> str | SafeString:
        """The message that shows it."""
        obligation = row.obligation
        return link(obligation, f"{obligation.state}" if obligation else "")

    @admin.display(description="what the person saw")
    def shown(self, row: Prompt) -> SafeString:
        """The text of its message; as it would be, while it has none."""
        if row.obligation is None:
            return preformatted(presenting.present(row.question_set, answered=row.given))
        rows = row.obligation.native_controls.rows
        buttons = [" ".join(f"[ {button.label} ]" for button in line) for line in rows]
        return preformatted("\n".join([row.obligation.content, *buttons]))

    @admin.display(description="answers so far")
    def answered(self, row: Prompt) -> str | SafeString:
        """Each question with its answer."""
        given = row.given
        return lines(
            f"{question.text} {', '.join(given[question.key]) or '(none of them)'}"
            for question in row.question_set.questions
            if question.key in given
        )

    @admin.action(description="Answer on behalf…", permissions=["operate"])
    def answer(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Answer for the person who was asked."""
        return self.carry_out(request, queryset, ANSWER, action="answer")

    @admin.action(description="Show again…", permissions=["operate"])
    def resend(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Show it again."""
        return self.carry_out(request, queryset, RESEND, action="resend")

    @admin.action(description="Extend…", permissions=["operate"])
    def extend(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Give more time."""
        return self.carry_out(request, queryset, EXTEND, action="extend")

    @admin.action(description="Expire…", permissions=["operate"])
    def expire(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Close it as if its time had run out."""
        return self.carry_out(request, queryset, EXPIRE, action="expire")

    @admin.action(description="Cancel…", permissions=["operate"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Withdraw it."""
        return self.carry_out(request, queryset, CANCEL, action="cancel")


@admin.register(Reply)
class ReplyAdmin(ReadOnlyAdmin[Reply]):
    """Everything that was said to questions."""

    list_display = ("at", "by", "surface", "outcome", "words", "detail", "whole")
    list_filter = ("outcome", "surface")
    search_fields = ("by__exact", "prompt__correlation__exact")
    search_help_text = "The id of whoever replied, or the number of a turn."
    list_select_related = ("prompt",)
    ordering = ("-id",)
    readonly_fields = ("whole",)

    @admin.display(description="text")
    def words(self, row: Reply) -> str:
        """How it begins."""
        return snippet(row.text)

    @admin.display(description="question")
    def whole(self, row: Reply) -> str | SafeString:
        """What it was said to."""
        return link(row.prompt)
