"""Who may speak, and the record of who decided what."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from typing_extensions import override

from delivery.pages import NOTHING, ModelForm, ReadOnlyAdmin, StaffAdmin, lines, moment
from gateway import access, platforms, staff
from gateway.conf import gateway_settings
from gateway.errors import GatewayError
from gateway.models import AllowEntry, AuditEvent
from gateway.roles import Role

ROLES = {
    Role.VIEWER: "viewer: reads how things stand (/status, /help), and begins nothing",
    Role.MEMBER: "member: speaks, and approves what the agent does for them",
    Role.APPROVER: "approver: also approves what it does for others",
    Role.ADMIN: "admin: also lets others in, by /pair and the code they were given",
}
ROLE_HELP = (
    "Dangerous operations wait for an approval. A member gives it for what the agent does for"
    " themselves; an approver for everybody in the chats that this entry is about."
)


class AllowForm(ModelForm[AllowEntry]):
    """An entry as staff enter it: it must name a person or a chat."""

    class Meta:
        """What staff may enter."""

        model = AllowEntry
        fields = (
            *("platform", "user_id", "account", "scope_id", "chat_id"),
            *("role", "approves_up_to", "tools_up_to", "commands", "is_for_bot", "note"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "platform" in self.fields:
            kinds = [(p.kind, p.title) for p in platforms.installed().values()]
            self.fields["platform"] = forms.ChoiceField(choices=kinds)
        if "role" in self.fields:
            self.fields["role"] = forms.ChoiceField(
                choices=[(role.value, words) for role, words in ROLES.items()],
                initial=Role.MEMBER.value,
                required=False,
                help_text=ROLE_HELP,
            )
            self.fields["approves_up_to"].help_text = _up_to_help()

    def clean_commands(self) -> str:
        """Names of commands as people type them, in order, each once."""
        names = {name.removeprefix("/").lower() for name in self.cleaned_data["commands"].split()}
        return " ".join(sorted(names))

    def clean_role(self) -> str:
        """Whoever is given no role is a member."""
        return self.cleaned_data["role"] or Role.MEMBER.value

    @override
    def clean(self) -> dict[str, Any]:
        """Nobody opens a whole platform by leaving fields empty."""
        cleaned = super().clean() or {}
        if not cleaned.get("user_id") and not cleaned.get("chat_id"):
            message = "Name a person's id, or a chat to let everybody in it speak."
            raise ValidationError(message)
        platform = cleaned.get("platform") or self.instance.platform
        problem = access.problem_with_user_id(platform, cleaned.get("user_id", ""))
        if problem:
            self.add_error("user_id", problem)
        problem = access.problem_with_role(AllowEntry(**self._authority(cleaned)))
        if problem:
            self.add_error("role", problem)
        return cleaned

    def _authority(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        """What of the entry says what it lets a person do."""
        names = ("user_id", "role", "approves_up_to", "commands")
        texts = {name: cleaned.get(name, "") for name in names}
        return texts | {"is_for_bot": bool(cleaned.get("is_for_bot"))}


def _up_to_help() -> str:
    most = gateway_settings().members_approve
    members = f"{most} risk" if most is not None else "nothing"
    return (
        f"The highest risk of an operation that they may approve. Left empty: {members} for a"
        " member (HERMES_MEMBERS_APPROVE), critical for an approver."
    )


@admin.register(AllowEntry)
class AllowEntryAdmin(StaffAdmin[AllowEntry]):
    """The allowlist; entries of the environment are changed there."""

    form = AllowForm
    list_display = (
        *("who", "platform", "account", "chat_id", "role", "approves"),
        *("note", "created_by", "is_from_env"),
    )
    list_filter = ("platform", "role", "from_environment", "account")
    search_fields = ("user_id__exact", "chat_id__exact", "note")
    list_select_related = ("created_by",)
    date_hierarchy = "created_at"
    ordering = ("platform", "user_id")

    @admin.display(description="person", ordering="user_id")
    def who(self, row: AllowEntry) -> str:
        """The person's id."""
        return row.user_id or "everybody"

    @admin.display(description="may approve")
    def approves(self, row: AllowEntry) -> str:
        """Up to which risk, and for whom."""
        return access.approves(row)

    @admin.display(description="from the environment", boolean=True)
    def is_from_env(self, row: AllowEntry) -> bool:
        """Whether the environment keeps it."""
        return row.from_environment

    @override
    def has_change_permission(self, request: HttpRequest, obj: AllowEntry | None = None) -> bool:
        """What the environment keeps is changed there."""
        kept_elsewhere = obj is not None and obj.from_environment
        return not kept_elsewhere and super().has_change_permission(request, obj)

    @override
    def has_delete_permission(self, request: HttpRequest, obj: AllowEntry | None = None) -> bool:
        """What the environment keeps is removed there."""
        kept_elsewhere = obj is not None and obj.from_environment
        return not kept_elsewhere and super().has_delete_permission(request, obj)

    @override
    def save_model(
        self,
        request: HttpRequest,
        obj: AllowEntry,
        form: ModelForm[AllowEntry],
        change: bool,
    ) -> None:
        """Store it with its audit row."""
        if not change:
            obj.created_by_id = request.user.pk
        staff.allow(obj, actor=str(request.user), now=timezone.now())

    @override
    def delete_model(self, request: HttpRequest, obj: AllowEntry) -> None:
        """Remove it with its audit row."""
        staff.disallow(obj, actor=str(request.user), now=timezone.now())

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[AllowEntry]) -> None:
        """Remove each with its audit row; what the environment keeps stays."""
        for entry in queryset:
            try:
                self.delete_model(request, entry)
            except GatewayError as error:
                self.message_user(request, str(error), messages.ERROR)


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin[AuditEvent]):
    """Who decided what; nobody edits it."""

    list_display = ("at", "action", "actor", "subject", "details", "how_often")
    list_filter = ("action",)
    search_fields = ("actor", "subject")
    date_hierarchy = "at"
    ordering = ("-id",)

    @admin.display(description="times", ordering="times")
    def how_often(self, row: AuditEvent) -> str:
        """How often it came, if it is counted, and when last."""
        return f"{row.times}, lastly at {moment(row.last_at)}" if row.last_at else ""

    @admin.display(description="detail")
    def details(self, row: AuditEvent) -> str | SafeString:
        """What explains it."""
        return lines(f"{name}: {value}" for name, value in row.detail.items()) or NOTHING
