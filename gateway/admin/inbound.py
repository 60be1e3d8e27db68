"""What came in, and what was decided about it and why ([P9]): read-only."""

from django.contrib import admin
from django.utils.safestring import SafeString

from clarify.models import Prompt
from delivery.pages import NOTHING, ReadOnlyAdmin, link, preformatted, snippet
from gateway.models import InboundEvent


@admin.register(InboundEvent)
class InboundEventAdmin(ReadOnlyAdmin[InboundEvent]):
    """Events of the platforms, each stored once."""

    list_display = (
        "received_at",
        "decision",
        "reason",
        "who",
        "words",
        "in_turn",
        "about",
    )
    list_filter = ("decision", "kind", "platform", "account", "chat_type")
    search_fields = ("message_id__exact", "event_id__exact", "chat_id__exact", "sender_id__exact")
    search_help_text = "The platform's id of a message, an event, a chat or a person."
    date_hierarchy = "received_at"
    ordering = ("-id",)
    list_select_related = ("turn", "conversation")
    readonly_fields = ("in_turn", "about", "whose", "said")
    fieldsets = (
        (None, {"fields": ("kind", "decision", "reason", "in_turn", "about", "whose")}),
        (
            "Who and where",
            {
                "fields": (
                    "sender_id",
                    "sender_name",
                    "platform",
                    "account",
                    "chat_type",
                    "chat_id",
                    "thread_id",
                    "scope_id",
                ),
            },
        ),
        ("What", {"fields": ("said", "attachments", "reply_to")}),
        ("Ids and times", {"fields": ("event_id", "message_id", "sent_at", "received_at")}),
    )

    @admin.display(description="sender", ordering="sender_id")
    def who(self, row: InboundEvent) -> str:
        """The sender's name and id."""
        return f"{row.sender_name} [{row.sender_id}]" if row.sender_name else row.sender_id

    @admin.display(description="text")
    def words(self, row: InboundEvent) -> str:
        """How it begins."""
        return snippet(row.text, 60)

    @admin.display(description="text")
    def said(self, row: InboundEvent) -> SafeString:
        """All of it."""
        return preformatted(row.text)

    @admin.display(description="turn")
    def in_turn(self, row: InboundEvent) -> str | SafeString:
        """The turn it began or joined."""
        return link(row.turn)

    @admin.display(description="question")
    def about(self, row: InboundEvent) -> str | SafeString:
        """The question it was about."""
        if row.prompt_id is None:
            return NOTHING
        return link(Prompt(pk=row.prompt_id), f"question {row.prompt_id}")

    @admin.display(description="conversation")
    def whose(self, row: InboundEvent) -> str | SafeString:
        """The conversation it belongs to."""
        return link(row.conversation)
