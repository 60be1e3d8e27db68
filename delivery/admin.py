"""Pages for staff: every delivery, owed or settled, and every try. Read-only, with a few verbs."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from delivery import auditing, staff
from delivery.errors import DeliveryError
from delivery.models import (
    OPEN_STATES,
    Attempt,
    DeadDestination,
    Lease,
    Obligation,
    Part,
    Preview,
)
from delivery.pages import (
    NOTHING,
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


class OwedFilter(admin.SimpleListFilter):
    """Still owed, or settled."""

    title = "owed"
    parameter_name = "owed"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """What can be chosen."""
        return [("yes", "still owed"), ("no", "settled")]

    @override
    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Obligation]
    ) -> QuerySet[Obligation]:
        """The rows of the choice."""
        match self.value():
            case "yes":
                return queryset.filter(state__in=OPEN_STATES)
            case "no":
                return queryset.exclude(state__in=OPEN_STATES)
            case _:
                return queryset


def tried(attempt: Attempt) -> str:
    """One try in one line."""
    code = f" [{attempt.error_code}]" if attempt.error_code else ""
    marked = ", marked as a possible duplicate" if attempt.marked else ""
    detail = f": {attempt.detail}" if attempt.detail else ""
    return (
        f"{attempt.finished_at:%Y-%m-%d %H:%M:%S} try {attempt.number} ({attempt.operation}):"
        f" {attempt.get_outcome_display()}{code}{marked}{detail}"
    )


class PartInline(ReadOnlyInline[Part, Obligation]):
    """The platform messages of an owed message, each with its tries."""

    model = Part
    fields = ("number", "state", "message_id", "delivered_at", "text", "tries")
    readonly_fields = fields

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Part]:
        """The parts with their tries, in two queries."""
        rows = super().get_queryset(request).order_by("position")
        return rows.prefetch_related(Prefetch("tries", Attempt.objects.order_by("id")))

    @admin.display(description="part")
    def number(self, part: Part) -> str:
        """Counted as people count."""
        return str(part.position + 1)

    @admin.display(description="text")
    def text(self, part: Part) -> SafeString:
        """What is sent."""
        return preformatted(part.body.get("plain", ""))

    @admin.display(description="tries")
    def tries(self, part: Part) -> str | SafeString:
        """Every try, oldest first."""
        return lines(tried(attempt) for attempt in part.tries.all())


class AbandonForm(forms.Form):
    """Why a message is given up."""

    reason = forms.CharField(max_length=200, help_text="For whoever reads it later.")


def _abandon(row: Obligation, given: dict[str, Any], actor: str, now: datetime) -> None:
    staff.abandon(row, reason=given["reason"], actor=actor, now=now)


RETRY = Deed(
    title="Send these deliveries again?",
    past="owed again and due now",
    warning="What may have arrived is marked as a possible duplicate.",
    do=lambda row, _given, actor, now: staff.retry(row, actor=actor, now=now),
    errors=(DeliveryError,),
)
ABANDON = Deed(
    title="Give these deliveries up?",
    past="given up",
    warning="Nobody will get them, unless somebody sends them again.",
    do=_abandon,
    errors=(DeliveryError,),
    form=AbandonForm,
)
REOPEN = Deed(
    title="Send to these chats again?",
    past="open again; what was given up meanwhile can be retried",
    warning="If they are still closed to us, the next message says so.",
    do=lambda row, _given, actor, now: staff.reopen(row, actor=actor, now=now),
    errors=(DeliveryError,),
)
MARK_DELIVERED = Deed(
    title="Mark these as delivered?",
    past="marked as delivered",
    warning="Only if you have seen them in the chat: they will not be sent again.",
    do=lambda row, _given, actor, now: staff.mark_delivered(row, actor=actor, now=now),
    errors=(DeliveryError,),
)


@admin.register(Obligation)
class ObligationAdmin(ReadOnlyAdmin[Obligation]):
    """What is owed."""

    list_display = (
        "short_id",
        "kind",
        "state",
        "account",
        "chat_id",
        "age",
        "why",
        "words",
    )
    list_filter = (OwedFilter, "state", "kind", "platform", "account")
    search_fields = ("delivery_id__startswith", "chat_id__exact", "correlation__exact")
    search_help_text = "The beginning of a delivery id, a chat id, or the number of a turn."
    date_hierarchy = "updated_at"
    ordering = ("-id",)
    inlines = (PartInline,)
    actions = ("retry", "abandon", "mark_delivered")
    readonly_fields = ("turn", "edited")
    fieldsets = (
        (None, {"fields": ("delivery_id", "kind", "state", "reason", "last_error", "turn")}),
        ("Where to", {"fields": ("platform", "account", "chat_id", "reply_to", "lane", "edited")}),
        ("What", {"fields": ("content", "controls", "preview_key")}),
        (
            "Tries",
            {
                "fields": (
                    *("attempts", "recoveries", "next_attempt_at", "error_kind"),
                    *("owner", "epoch", "priority"),
                )
            },
        ),
        ("When", {"fields": ("created_at", "updated_at", "settled_at")}),
    )

    @admin.display(description="id", ordering="id")
    def short_id(self, row: Obligation) -> str:
        """As much of the id as the commands need."""
        return row.delivery_id[:12]

    @override
    def name_of(self, row: Obligation) -> str:
        """By as much of the id as the commands need."""
        return f"delivery {row.delivery_id[:12]}"

    @override
    def told(self, row: Obligation) -> SafeString:
        """Which it is, and what it says."""
        return format_html("{} {}", row, preformatted(snippet(row.content, 400)))

    @admin.display(description="age", ordering="created_at")
    def age(self, row: Obligation) -> str:
        """How long ago it was recorded."""
        return age(row.created_at)

    @admin.display(description="why")
    def why(self, row: Obligation) -> str:
        """Why it is not delivered."""
        return snippet(row.reason or row.last_error) or NOTHING

    @admin.display(description="turn")
    def turn(self, row: Obligation) -> str | SafeString:
        """The turn it is for."""
        if not row.correlation:
            return NOTHING
        return path_link(auditing.page_of(row.correlation), f"turn {row.correlation}")

    @admin.display(description="rewrites")
    def edited(self, row: Obligation) -> str | SafeString:
        """The message whose text it replaces."""
        return link(row.edits)

    @admin.display(description="text")
    def words(self, row: Obligation) -> str:
        """How it begins."""
        return snippet(row.content, 60)

    @admin.action(description="Send again…", permissions=["operate"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Obligation]) -> HttpResponse | None:
        """Owe it again."""
        return self.carry_out(request, queryset, RETRY, action="retry")

    @admin.action(description="Give up…", permissions=["operate"])
    def abandon(self, request: HttpRequest, queryset: QuerySet[Obligation]) -> HttpResponse | None:
        """Give it up."""
        return self.carry_out(request, queryset, ABANDON, action="abandon")

    @admin.action(description="Mark as delivered…", permissions=["operate"])
    def mark_delivered(
        self, request: HttpRequest, queryset: QuerySet[Obligation]
    ) -> HttpResponse | None:
        """Settle what was seen to arrive."""
        return self.carry_out(request, queryset, MARK_DELIVERED, action="mark_delivered")


@admin.register(Part)
class PartAdmin(ReadOnlyAdmin[Part]):
    """The platform messages of what is owed."""

    list_display = ("__str__", "state", "message_id", "attempts", "was_lost", "whole")
    list_filter = ("state", "was_lost")
    search_fields = ("message_id__exact", "obligation__delivery_id__startswith")
    search_help_text = "A message id of the platform, or the beginning of a delivery id."
    list_select_related = ("obligation",)
    ordering = ("-id",)
    readonly_fields = ("whole",)

    @admin.display(description="delivery")
    def whole(self, row: Part) -> str | SafeString:
        """What it is a part of."""
        return link(row.obligation)


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin[Attempt]):
    """Every try to send something."""

    list_display = ("finished_at", "outcome", "operation", "number", "marked", "detail", "whole")
    list_filter = ("outcome", "operation", "marked", "error_code")
    search_fields = ("part__obligation__delivery_id__startswith", "part__message_id__exact")
    search_help_text = "The beginning of a delivery id, or a message id of the platform."
    list_select_related = ("part__obligation",)
    ordering = ("-id",)
    readonly_fields = ("whole",)

    @admin.display(description="delivery")
    def whole(self, row: Attempt) -> str | SafeString:
        """What it was a try of."""
        return link(row.part.obligation)


@admin.register(Lease)
class LeaseAdmin(ReadOnlyAdmin[Lease]):
    """Which process may act for what."""

    list_display = ("name", "owner", "epoch", "expires_at")
    search_fields = ("name", "owner")


@admin.register(Preview)
class PreviewAdmin(ReadOnlyAdmin[Preview]):
    """Live messages of running turns."""

    list_display = ("key", "account", "created_at")
    list_filter = ("account",)
    search_fields = ("key__exact",)
    ordering = ("-id",)


@admin.register(DeadDestination)
class DeadDestinationAdmin(ReadOnlyAdmin[DeadDestination]):
    """Chats that are closed to us until they speak again."""

    list_display = ("chat_id", "platform", "account", "reason", "since")
    list_filter = ("platform", "account")
    search_fields = ("chat_id__exact",)
    ordering = ("-since",)
    actions = ("reopen",)

    @admin.action(description="Open again…", permissions=["operate"])
    def reopen(
        self, request: HttpRequest, queryset: QuerySet[DeadDestination]
    ) -> HttpResponse | None:
        """Send there again."""
        return self.carry_out(request, queryset, REOPEN, action="reopen")
