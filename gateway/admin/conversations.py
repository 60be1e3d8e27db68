"""Who talks where, and what was said: read-only, but a session can be suspended."""

import json

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from delivery.models import Obligation
from delivery.pages import Deed, ReadOnlyAdmin, age, link, list_link, preformatted, snippet
from gateway import costs, prices, staff
from gateway.conf import gateway_settings
from gateway.errors import GatewayError
from gateway.models import Conversation, Note, Session, TranscriptEntry, Turn

SUSPEND = Deed(
    title="Suspend these sessions?",
    past="suspended",
    warning="What is open in their conversations is stopped. The next message there begins a new"
    " session; the history is kept, and /resume goes back to it.",
    do=lambda row, _given, actor, now: staff.suspend_session(row, actor=actor, now=now),
    errors=(GatewayError,),
)


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin[Conversation]):
    """Everything under one conversation key."""

    list_display = ("title", "platform", "account", "chat_type", "chat_id", "active", "current")
    list_filter = ("platform", "account", "chat_type")
    search_fields = ("chat_id__exact", "participant_id__exact", "title", "key__exact")
    search_help_text = "A chat's or person's id, a title, or a whole conversation key."
    date_hierarchy = "active_at"
    ordering = ("-active_at",)
    list_select_related = ("session",)
    readonly_fields = ("current", "turns", "owed")

    @admin.display(description="active", ordering="active_at")
    def active(self, row: Conversation) -> str:
        """How long ago somebody spoke."""
        return f"{age(row.active_at)} ago"

    @admin.display(description="session")
    def current(self, row: Conversation) -> str | SafeString:
        """The current run of history."""
        return link(row.session, f"session {row.session.number}" if row.session else "")

    @admin.display(description="turns")
    def turns(self, row: Conversation) -> SafeString:
        """All of its turns."""
        return list_link(Turn, "all turns", conversation__id__exact=row.pk)

    @admin.display(description="deliveries")
    def owed(self, row: Conversation) -> SafeString:
        """All that is or was owed to the chat."""
        return list_link(Obligation, "all deliveries to this chat", q=row.chat_id)


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin[Session]):
    """Runs of history."""

    list_display = ("__str__", "whose", "title", "started_at", "ended_at", "end_reason", "stopped")
    actions = ("suspend",)
    list_filter = ("end_reason",)
    search_fields = ("conversation__chat_id__exact",)
    search_help_text = "A chat's id."
    list_select_related = ("conversation",)
    ordering = ("-id",)
    readonly_fields = ("whose", "transcript", "cost")

    @admin.display(description="suspended", boolean=True)
    def stopped(self, row: Session) -> bool:
        """Whether the next message begins another."""
        return row.suspended_at is not None

    @admin.display(description="cost")
    def cost(self, row: Session) -> str:
        """What its turns have cost so far."""
        bill = costs.of_session(row)
        tokens = f"{bill.usage.input_tokens:,} tokens read, {bill.usage.output_tokens:,} written"
        if not bill.money:
            return tokens
        about = "" if bill.is_whole else "at least "
        return f"{tokens}; {about}{prices.shown(bill.money)} {gateway_settings().currency}"

    @admin.action(description="Suspend…", permissions=["operate"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[Session]) -> HttpResponse | None:
        """Let the next message begin another."""
        rows = queryset.select_related("conversation")
        return self.carry_out(request, rows, SUSPEND, action="suspend")

    @admin.display(description="conversation")
    def whose(self, row: Session) -> str | SafeString:
        """Whose history it is."""
        return link(row.conversation)

    @admin.display(description="transcript")
    def transcript(self, row: Session) -> SafeString:
        """All that was said in it."""
        return list_link(TranscriptEntry, "all entries", session__id__exact=row.pk)


@admin.register(TranscriptEntry)
class TranscriptEntryAdmin(ReadOnlyAdmin[TranscriptEntry]):
    """Model messages, as the agent library writes them."""

    list_display = ("__str__", "position", "whose", "in_turn", "words", "created_at")
    search_fields = ("session__id__exact", "turn__id__exact")
    search_help_text = "The number of a session or of a turn."
    list_select_related = ("session", "turn")
    ordering = ("-id",)
    fields = ("whose", "in_turn", "position", "schema", "created_at", "written")
    readonly_fields = ("whose", "in_turn", "written")

    @admin.display(description="session")
    def whose(self, row: TranscriptEntry) -> str | SafeString:
        """The run of history it belongs to."""
        return link(row.session)

    @admin.display(description="turn")
    def in_turn(self, row: TranscriptEntry) -> str | SafeString:
        """The turn it was said in."""
        return link(row.turn)

    @admin.display(description="message")
    def words(self, row: TranscriptEntry) -> str:
        """How it begins."""
        return snippet(json.dumps(row.message, ensure_ascii=False), 100)

    @admin.display(description="message")
    def written(self, row: TranscriptEntry) -> SafeString:
        """All of it."""
        return preformatted(json.dumps(row.message, ensure_ascii=False, indent=2))


@admin.register(Note)
class NoteAdmin(ReadOnlyAdmin[Note]):
    """What the agent wrote down for later."""

    list_display = ("__str__", "whose", "in_turn", "created_at")
    search_fields = ("text", "conversation__chat_id__exact")
    list_select_related = ("conversation", "turn")
    date_hierarchy = "created_at"
    ordering = ("-id",)
    readonly_fields = ("whose", "in_turn")

    @admin.display(description="conversation")
    def whose(self, row: Note) -> str | SafeString:
        """Whose note it is."""
        return link(row.conversation)

    @admin.display(description="turn")
    def in_turn(self, row: Note) -> str | SafeString:
        """The turn it was written in."""
        return link(row.turn)
