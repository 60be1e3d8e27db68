"""Questions with what surrounds them: what the chat said since, who may approve, who acted."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from typing_extensions import override

from clarify.admin import filters, prompts
from clarify.models import Prompt
from delivery.pages import lines, link, moment, snippet, table
from gateway import explaining, platforms, prompting
from gateway.describing import asked_of, said_of
from gateway.models import AuditEvent, InboundEvent
from gateway.story import Asked

admin.site.unregister(Prompt)  # the page of the app that asks knows no messages and no access


class PlatformFilter(admin.SimpleListFilter):
    """Where it is shown."""

    title = "platform"
    parameter_name = "platform"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """What can be chosen."""
        return [(platform.kind, platform.title) for platform in platforms.installed().values()]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> QuerySet[Prompt]:
        """The rows of the choice."""
        value = self.value()
        return queryset.filter(address__platform=value) if value else queryset


@admin.register(Prompt)
class PromptAdmin(prompts.PromptAdmin):
    """Questions and approvals put to people."""

    list_filter: ClassVar[Any] = (
        filters.StateFilter,
        filters.TroubleFilter,
        "kind",
        PlatformFilter,
        filters.AgeFilter,
    )

    @override
    def look_closer(self, rows: list[Prompt]) -> None:
        """Whether those who were asked may still speak."""
        prompting.mark_barred(rows)

    @override
    @admin.display(description="said in the chat since")
    def heard(self, row: Prompt) -> str | SafeString:
        """What came in after it, and what was decided about that."""
        asked = asked_of(row, ())
        return table(
            ("at", "from", "said", "what became of it"),
            (
                (
                    link(event, moment(event.received_at)),
                    f"{event.sender_name or '?'} [{event.sender_id}]",
                    snippet(event.text, 300) or f"({event.kind})",
                    _what_became(event, row, asked),
                )
                for event in prompting.heard_since(row, now=timezone.now())
            ),
        )

    @override
    @admin.display(description="who may approve it")
    def deciders(self, row: Prompt) -> str | SafeString:
        """Who may decide about an operation."""
        return lines(prompting.deciders(row))

    @override
    @admin.display(description="audit log")
    def decided(self, row: Prompt) -> str | SafeString:
        """What the audit log says about it."""
        return table(
            ("at", "who", "did", "with"),
            (
                (link(event, moment(event.at)), event.actor, event.action, _detail(event))
                for event in prompting.decided_about(row)
            ),
        )


def _what_became(event: InboundEvent, row: Prompt, asked: Asked) -> str:
    """What was decided about a message, and why it did not answer the question if it did not."""
    decided = event.get_decision_display() or "was not decided"
    if event.prompt_id == row.pk:
        return decided
    reason = f" ({event.reason})" if event.reason else ""
    if event.kind != "message":
        return f"{decided}{reason}"
    if row.resolved_at and event.received_at > row.resolved_at:
        return f"{decided}{reason}, after it was closed"
    why = explaining.why_no_answer(said_of(event), asked)
    return f"{decided}{reason}; no answer: {why}"


def _detail(event: AuditEvent) -> str | SafeString:
    hidden = {"digest"}
    return lines(f"{key}: {value}" for key, value in event.detail.items() if key not in hidden)
