"""Lasting approvals: what they cover, who gave them, and their end."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from clarify.admin.deeds import REVOKE
from clarify.admin.filters import ForceFilter
from clarify.models import Permit
from clarify.risks import RiskLevel
from clarify.wording import ENGLISH
from delivery.pages import ReadOnlyAdmin, age, link, moment

REACHES = {"session": "this session", "always": "any session of the conversation"}


@admin.register(Permit)
class PermitAdmin(ReadOnlyAdmin[Permit]):
    """Operations that need no approval for a while, because somebody gave a lasting one."""

    list_display = ("covered", "standing", "whom", "risk", "given_by", "given", "uses", "used")
    list_filter = (ForceFilter, "level", "tool")
    search_fields = ("asker_id__exact", "given_by", "conversation_key__exact", "covers")
    search_help_text = "The id of a person, who gave it, a whole conversation key, what it covers."
    list_select_related = ("prompt",)
    ordering = ("-id",)
    actions = ("revoke",)
    readonly_fields = ("standing", "risk", "how_far", "asked")
    fieldsets = (
        (None, {"fields": ("standing", "tool", "covers", "risk", "how_far")}),
        ("For whom", {"fields": ("asker_id", "conversation_key", "session")}),
        ("Given", {"fields": ("given_by", "given_at", "expires_at", "asked")}),
        ("Used", {"fields": ("uses", "used_at")}),
        ("Revoked", {"fields": ("revoked_by", "revoked_at")}),
        ("Inside", {"classes": ("collapse",), "fields": ("lasting_key",)}),
    )

    @override
    def told(self, row: Permit) -> SafeString:
        """What it covers, for whom, and how it stands."""
        return format_html(
            "{}, for {}, given by {}; {}", row, row.asker_id, row.given_by, self.standing(row)
        )

    @override
    def makes_sense(self, action: str, row: Permit) -> bool:
        """One that has ended is not revoked."""
        return _is_in_force(row)

    @admin.display(description="covers", ordering="tool")
    def covered(self, row: Permit) -> str:
        """The tool, and what of it."""
        return str(row)

    @admin.display(description="in force", ordering="expires_at")
    def standing(self, row: Permit) -> str:
        """Whether it counts, and how long still; or since when not."""
        if row.revoked_at is not None:
            return f"revoked by {row.revoked_by}, {age(row.revoked_at)} ago"
        if not _is_in_force(row):
            return f"ended {age(row.expires_at)} ago"
        return f"until {moment(row.expires_at)}"

    @admin.display(description="for whom", ordering="asker_id")
    def whom(self, row: Permit) -> str:
        """Whose turns it counts for, and where."""
        name = row.prompt.asker_name if row.prompt else ""
        who = f"{name} [{row.asker_id}]" if name else row.asker_id
        return f"{who}, in {REACHES[row.reach]}"

    @admin.display(description="risk", ordering="level")
    def risk(self, row: Permit) -> str:
        """How much harm such an operation can do."""
        return ENGLISH.levels[RiskLevel(row.level)]

    @admin.display(description="given", ordering="given_at")
    def given(self, row: Permit) -> str:
        """How long ago it was given."""
        return f"{age(row.given_at)} ago"

    @admin.display(description="last used", ordering="used_at")
    def used(self, row: Permit) -> str:
        """How long ago it spared somebody a question."""
        return f"{age(row.used_at)} ago" if row.used_at else "never"

    @admin.display(description="reach")
    def how_far(self, row: Permit) -> str:
        """How far it goes."""
        return REACHES[row.reach]

    @admin.display(description="given with")
    def asked(self, row: Permit) -> str | SafeString:
        """The approval that it was given with."""
        return link(row.prompt)

    @admin.action(description="Revoke…", permissions=["operate"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Permit]) -> HttpResponse | None:
        """End it."""
        return self.carry_out(request, queryset, REVOKE, action="revoke")


def _is_in_force(row: Permit) -> bool:
    return row.revoked_at is None and row.expires_at > timezone.now()
