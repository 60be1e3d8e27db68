"""Turns and the tool calls inside them: read-only, but a turn can be stopped."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from typing_extensions import override

from clarify.models import Prompt
from delivery.models import Obligation
from delivery.pages import (
    NOTHING,
    Deed,
    ReadOnlyAdmin,
    ReadOnlyInline,
    age,
    lines,
    link,
    preformatted,
    snippet,
)
from gateway import staff
from gateway.errors import GatewayError
from gateway.models import InboundEvent, ToolCall, Turn
from gateway.models.turns import OPEN_STATES

STOP = Deed(
    title="Stop these turns?",
    past="stopped",
    warning="Their questions are closed, what they did stays done, and the person is told.",
    do=lambda row, _given, actor, now: staff.stop_turn(row, actor=actor, now=now),
    errors=(GatewayError,),
)


class OpenFilter(admin.SimpleListFilter):
    """Open, or ended."""

    title = "open"
    parameter_name = "open"

    @override
    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        """What can be chosen."""
        return [("yes", "open"), ("no", "ended")]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Turn]) -> QuerySet[Turn]:
        """The rows of the choice."""
        match self.value():
            case "yes":
                return queryset.filter(state__in=OPEN_STATES)
            case "no":
                return queryset.exclude(state__in=OPEN_STATES)
            case _:
                return queryset


class ToolCallInline(ReadOnlyInline[ToolCall, Turn]):
    """The tool calls of a turn."""

    model = ToolCall
    fields = ("name", "state", "arguments", "result", "started_at", "finished_at")
    readonly_fields = fields


class MessageInline(ReadOnlyInline[InboundEvent, Turn]):
    """The messages that a turn answers."""

    model = InboundEvent
    fields = ("received_at", "sender_id", "message_id", "said")
    readonly_fields = fields
    show_change_link = True

    @admin.display(description="text")
    def said(self, row: InboundEvent) -> SafeString:
        """All of it."""
        return preformatted(row.text)


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin[Turn]):
    """Executions: from a person's message to the answer owed."""

    list_display = ("id", "state", "whose", "sender_name", "age", "words", "trouble", "deaths")
    list_filter = (
        OpenFilter,
        "state",
        "failure_kind",
        "conversation__platform",
        "conversation__account",
    )
    search_fields = ("id__exact", "sender_id__exact", "conversation__chat_id__exact")
    search_help_text = "The number of a turn, or the id of a person or chat."
    date_hierarchy = "updated_at"
    ordering = ("-id",)
    list_select_related = ("conversation", "session")
    inlines = (MessageInline, ToolCallInline)
    actions = ("stop",)
    readonly_fields = ("whose", "history", "questions", "deliveries", "said", "spoken_so_far")
    fieldsets = (
        (
            None,
            {"fields": ("state", "whose", "history", "said", "failure_kind", "error", "detail")},
        ),
        (
            "What came of it",
            {"fields": ("questions", "deliveries", "spoken_so_far", "usage", "joined")},
        ),
        (
            "Who runs it",
            {
                "fields": ("owner", "epoch", "lease_expires_at", "deaths"),
            },
        ),
        (
            "When",
            {
                "fields": (
                    *("created_at", "started_at", "finished_at", "woken_at", "updated_at"),
                    *("held_until", "gathers_until", "told_at"),
                ),
            },
        ),
    )

    @admin.display(description="conversation")
    def whose(self, row: Turn) -> str | SafeString:
        """Where it takes place."""
        return link(row.conversation)

    @admin.display(description="session")
    def history(self, row: Turn) -> str | SafeString:
        """The run of history it belongs to."""
        return link(row.session, f"session {row.session.number}")

    @admin.display(description="age", ordering="created_at")
    def age(self, row: Turn) -> str:
        """How long ago it was queued."""
        return age(row.created_at)

    @admin.display(description="said")
    def words(self, row: Turn) -> str:
        """How the message begins."""
        return snippet(row.prompt, 60)

    @admin.display(description="said")
    def said(self, row: Turn) -> SafeString:
        """What the person said."""
        return preformatted(row.prompt)

    @admin.display(description="said by the agent so far")
    def spoken_so_far(self, row: Turn) -> SafeString:
        """What the agent said before its last answer."""
        return preformatted(row.spoken)

    @admin.display(description="error")
    def trouble(self, row: Turn) -> str:
        """What went wrong."""
        return snippet(row.error) or NOTHING

    @admin.display(description="questions")
    def questions(self, row: Turn) -> str | SafeString:
        """What it asked."""
        prompts = Prompt.objects.filter(correlation=row.correlation).order_by("id")
        return lines(link(prompt) for prompt in prompts)

    @admin.display(description="deliveries")
    def deliveries(self, row: Turn) -> str | SafeString:
        """What is or was owed for it."""
        owed = Obligation.objects.filter(correlation=row.correlation).order_by("id")
        return lines(link(obligation) for obligation in owed)

    @admin.action(description="Stop…", permissions=["operate"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Turn]) -> HttpResponse | None:
        """Stop it."""
        rows = queryset.select_related("conversation")
        return self.carry_out(request, rows, STOP, action="stop")


@admin.register(ToolCall)
class ToolCallAdmin(ReadOnlyAdmin[ToolCall]):
    """Every call of a tool."""

    list_display = ("name", "state", "in_turn", "started_at", "finished_at", "epoch")
    list_filter = ("state", "name")
    search_fields = ("turn__id__exact", "call_id__exact")
    search_help_text = "The number of a turn, or the id of a call."
    list_select_related = ("turn",)
    ordering = ("-id",)
    readonly_fields = ("in_turn",)

    @admin.display(description="turn")
    def in_turn(self, row: ToolCall) -> str | SafeString:
        """The turn it belongs to."""
        return link(row.turn)
