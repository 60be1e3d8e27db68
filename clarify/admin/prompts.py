"""Questions and approvals: which are open and why, what the person saw and said, what to do."""

from typing import Any, ClassVar, cast

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from clarify import approvals, listing, staff, standing
from clarify.admin import deeds
from clarify.admin.filters import (
    OPEN,
    AgeFilter,
    StateFilter,
    TroubleFilter,
    chosen_state,
)
from clarify.admin.panels import OF_APPROVAL, OF_BOTH, ONCE_DECIDED, Panels
from clarify.models import Prompt
from clarify.states import State
from delivery.pages import (
    NOTHING,
    ReadOnlyAdmin,
    age,
    snippet,
    span,
)

CLOSING = ("resolved_by", "resolved_by_staff", "resolved_on")
RULINGS = {"approve", "deny"}


class PromptList(ChangeList):
    """A page of questions, with what only the upper app knows of them."""

    @override
    def get_results(self, request: HttpRequest) -> None:
        """Read the page once, so that all of it can be looked up together."""
        super().get_results(request)
        self.result_list: Any = list(self.result_list)
        cast("PromptAdmin", self.model_admin).look_closer(self.result_list)


@admin.register(Prompt)
class PromptAdmin(Panels, ReadOnlyAdmin[Prompt]):
    """Questions and approvals put to people.

    What is known above this app is left open here: `heard`, `deciders`, `decided` and
    `look_closer` are filled in by the upper app, which registers its own page in place of this.
    """

    list_display = ("id", "trouble", "question", "who", "left", "age", "kind", "state")
    list_filter: ClassVar[Any] = (StateFilter, TroubleFilter, "kind", AgeFilter)
    ordering = listing.MOST_URGENT_FIRST
    search_fields = ("correlation__exact", "asker_id__exact", "asker_name", "token__exact")
    search_help_text = "The number of a turn, or the id or name of the person who was asked."
    actions = ("approve", "deny", "answer", "resend", "extend", "expire", "cancel")
    readonly_fields: ClassVar[Any] = (*OF_BOTH, *OF_APPROVAL)

    # --- Which, and in what order -------------------------------------------------------------

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Prompt]:
        """The questions with all that says why they are open, in a fixed number of queries."""
        return listing.with_standing(super().get_queryset(request))

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list that looks closer."""
        return PromptList

    @override
    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Open ones by how soon they end; others the latest first."""
        return listing.MOST_URGENT_FIRST if chosen_state(request) == OPEN else ("-id",)

    @override
    def get_list_display(self, request: HttpRequest) -> Any:
        """Of open ones how much time is left; of others how they ended."""
        needless = "state" if chosen_state(request) == OPEN else "left"
        return [name for name in self.list_display if name != needless]

    @override
    def get_object(self, *args: Any, **kwargs: Any) -> Prompt | None:
        """One question, as in the list."""
        row = super().get_object(*args, **kwargs)
        self.look_closer([row] if row else [])
        return row

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Prompt | None = None) -> Any:
        """What is to be decided at the top, what it was shown as and what was said beside it."""
        is_approval = obj is not None and obj.is_approval
        asked: tuple[str, ...] = OF_APPROVAL if is_approval else ("answered",)
        if obj is not None and obj.is_open:
            asked = tuple(name for name in asked if name not in ONCE_DECIDED)
        who: tuple[str, ...] = ("asker_id", "asker_name", "conversation_key")
        if not is_approval:
            who = ("asker_id", "asker_name", "anyone_may_answer", "conversation_key")
        ended = ("How it ended", {"fields": (*CLOSING, "reason")})
        inside = ("kind", "call_id", "token", "questions", "operation", "lane", "updated_at")
        return (
            (None, {"fields": ("why", "state", "how_long", "turn", *asked)}),
            (
                "What was seen, and what was said since",
                {"fields": (("shown", "heard"), "replies", "messages", "place")},
            ),
            ("Who was asked", {"fields": who}),
            *(() if obj is None or obj.is_open else (ended,)),
            ("Who decided what", {"fields": ("decided",)}),
            ("Inside", {"classes": ("collapse",), "fields": inside}),
        )

    # --- What only the upper app knows --------------------------------------------------------

    def look_closer(self, rows: list[Prompt]) -> None:
        """Set `barred` of the questions whose asker may not speak any more."""

    @admin.display(description="said in the chat since")
    def heard(self, row: Prompt) -> str | SafeString:
        """What came in after it, and what was decided about that."""
        del row
        return NOTHING

    @admin.display(description="who may approve it")
    def deciders(self, row: Prompt) -> str | SafeString:
        """Who may decide about an operation."""
        del row
        return NOTHING

    @admin.display(description="audit log")
    def decided(self, row: Prompt) -> str | SafeString:
        """What the audit log says about it."""
        del row
        return NOTHING

    # --- Columns ------------------------------------------------------------------------------

    @override
    def name_of(self, row: Prompt) -> str:
        """As people type its number."""
        return row.name

    @override
    def told(self, row: Prompt) -> SafeString:
        """Which it is, and what the person was asked; of an operation, exactly what will run."""
        if not row.is_approval:
            return format_html("{} {}", row, self.shown(row))
        return format_html("{}, {}: {} {}", row, self.risk(row), row.what.summary, self.detail(row))

    @admin.display(description="age", ordering="created_at")
    def age(self, row: Prompt) -> str:
        """How long ago it was asked."""
        return age(row.created_at)

    @admin.display(description="time left", ordering="expires_at")
    def left(self, row: Prompt) -> str:
        """How long it can still be answered."""
        if not row.is_open:
            return NOTHING
        seconds = int((row.expires_at - timezone.now()).total_seconds())
        return span(seconds) if seconds > 0 else "none"

    @admin.display(description="who was asked", ordering="asker_name")
    def who(self, row: Prompt) -> str:
        """The person's name and id."""
        return f"{row.asker_name} [{row.asker_id}]" if row.asker_name else row.asker_id

    @admin.display(description="question")
    def question(self, row: Prompt) -> str:
        """What was asked, in short."""
        risk = f"{self.risk(row)}: " if row.is_approval else ""
        return snippet(f"{risk}{row.gist}", 70)

    @admin.display(description="why it is open")
    def trouble(self, row: Prompt) -> str:
        """What it waits for, in short."""
        return snippet(self.why(row), 140)

    @admin.display(description="why it is open")
    def why(self, row: Prompt) -> str:
        """What it waits for; of a closed one, how it ended."""
        if row.is_open:
            return standing.why_open(row.standing, now=timezone.now())
        if row.is_approval:
            return approvals.ending(row.answers, State(row.state), by=row.resolved_by)
        by = f" by {row.resolved_by}" if row.resolved_by else ""
        reason = f": {row.reason}" if row.reason and row.reason != row.state else ""
        return f"It is closed: {row.state}{by}{reason}"

    # --- Deeds --------------------------------------------------------------------------------

    def has_rule_permission(self, request: HttpRequest) -> bool:
        """Whether the person may approve and deny operations, in their own name."""
        return request.user.has_perm(staff.MAY_RULE)

    @override
    def makes_sense(self, action: str, row: Prompt) -> bool:
        """What is closed stays so; an approval is given or refused, a question is answered."""
        fits = action != "answer" if row.is_approval else action not in RULINGS
        return row.is_open and fits

    @admin.action(description="Approve once…", permissions=["rule"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Let the operation run, in one's own name."""
        return self.carry_out(request, queryset, deeds.APPROVE, action="approve")

    @admin.action(description="Deny…", permissions=["rule"])
    def deny(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Do not let the operation run, in one's own name."""
        return self.carry_out(request, queryset, deeds.DENY, action="deny")

    @admin.action(description="Answer on behalf…", permissions=["operate"])
    def answer(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Answer for the person who was asked."""
        return self.carry_out(request, queryset, deeds.ANSWER, action="answer")

    @admin.action(description="Show again…", permissions=["operate"])
    def resend(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Show it again."""
        return self.carry_out(request, queryset, deeds.RESEND, action="resend")

    @admin.action(description="Extend…", permissions=["operate"])
    def extend(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Give more time."""
        return self.carry_out(request, queryset, deeds.EXTEND, action="extend")

    @admin.action(description="Expire…", permissions=["operate"])
    def expire(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Close it as if its time had run out."""
        return self.carry_out(request, queryset, deeds.EXPIRE, action="expire")

    @admin.action(description="Cancel…", permissions=["operate"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> HttpResponse | None:
        """Withdraw it."""
        return self.carry_out(request, queryset, deeds.CANCEL, action="cancel")
