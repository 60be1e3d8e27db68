"""Everything that was said to questions."""

from django.contrib import admin
from django.utils.safestring import SafeString

from clarify.models import Reply
from delivery.pages import ReadOnlyAdmin, link, snippet


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
