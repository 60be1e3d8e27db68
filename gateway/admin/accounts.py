"""Accounts and the processes that serve them. A credential goes in and is never shown."""

from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from typing_extensions import override

from delivery.pages import NOTHING, Deed, ModelForm, ReadOnlyAdmin, StaffAdmin, age, snippet
from gateway import accounts, platforms, staff
from gateway.errors import GatewayError
from gateway.models import Account, ProcessBeat
from gateway.models.accounts import NAME_HELP


class AccountForm(ModelForm[Account]):
    """An account as staff enter it; the stored credential never comes back to the page."""

    platform = forms.ChoiceField(choices=())
    credential = forms.CharField(
        required=False,
        strip=True,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text="It is encrypted and never shown again.",
    )
    options = forms.JSONField(
        required=False,
        initial=dict,
        help_text=(
            'The platform\'s own settings as JSON: {"proxy": "socks5://host:1080"}. A value shown'
            f" as {accounts.MASK} is kept as it is stored."
        ),
    )

    class Meta:
        """What staff may enter."""

        model = Account
        fields = ("slug", "platform", "options")
        error_messages: ClassVar = {"slug": {"invalid": NAME_HELP}}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "platform" in self.fields:
            kinds = [(p.kind, p.title) for p in platforms.installed().values()]
            self.fields["platform"] = forms.ChoiceField(choices=kinds)
        if self.instance.pk:
            self.initial["options"] = accounts.shown(self.instance.options)
            if "credential" in self.fields:
                kept = "Left empty, the stored one is kept."
                self.fields["credential"].help_text += f" {kept}"

    def clean_options(self) -> dict[str, str]:
        """Options are names with texts."""
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            message = 'Write an object of names and texts: {"proxy": "socks5://host:1080"}'
            raise ValidationError(message)
        return {str(name): str(value) for name, value in options.items() if value not in ("", None)}

    @override
    def clean(self) -> dict[str, Any]:
        """The verb that stores it knows the rules."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            accounts.prepare(
                cleaned.get("slug") or self.instance.slug,
                cleaned.get("platform") or self.instance.platform,
                secret=cleaned["credential"],
                options=cleaned["options"],
            )
        except GatewayError as error:
            raise ValidationError(str(error)) from error
        return cleaned


ENABLE = Deed(
    title="Enable these accounts?",
    past="enabled; a gateway process connects it within seconds",
    warning="A gateway process connects them within seconds.",
    do=lambda row, _given, actor, now: staff.enable_account(row, actor=actor, now=now),
    errors=(GatewayError,),
)
DISABLE = Deed(
    title="Disable these accounts?",
    past="disabled; what it owes waits",
    warning="Nothing comes in and nothing goes out until they are enabled again.",
    do=lambda row, _given, actor, now: staff.disable_account(row, actor=actor, now=now),
    errors=(GatewayError,),
)


@admin.register(Account)
class AccountAdmin(StaffAdmin[Account]):
    """Accounts: made and changed here, or kept by the environment."""

    form = AccountForm
    list_display = ("slug", "platform", "is_enabled", "state", "bot_name", "since", "error")
    list_filter = ("platform", "is_enabled", "state")
    search_fields = ("slug", "bot_name", "bot_id__exact")
    actions = ("enable", "disable")
    STANDING = ("state", "bot_name", "bot_id", "last_error", "last_event_at", "state_changed_at")

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Account | None = None) -> Any:
        """What is entered, and below it how the connection stands."""
        entered: tuple[str, ...] = ("slug", "platform", "credential", "options")
        if obj is None:
            return ((None, {"fields": entered}),)
        if not self.has_change_permission(request, obj):
            entered = ("slug", "platform", "shown_options")
        return (
            (None, {"fields": entered}),
            ("Connection", {"fields": ("is_enabled", *self.STANDING, "from_environment")}),
        )

    @override
    def get_readonly_fields(
        self, request: HttpRequest, obj: Account | None = None
    ) -> tuple[str, ...]:
        """The name is part of every conversation key: it never changes."""
        if obj is None:
            return ()
        fixed = ("is_enabled", *self.STANDING, "from_environment", "shown_options")
        return ("slug", "platform", *fixed)

    @override
    def has_change_permission(self, request: HttpRequest, obj: Account | None = None) -> bool:
        """What the environment keeps is changed there."""
        kept_elsewhere = obj is not None and obj.from_environment
        return not kept_elsewhere and super().has_change_permission(request, obj)

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Account | None = None) -> bool:
        """An account is disabled, never deleted: conversations go by its name."""
        return False

    @override
    def save_model(
        self, request: HttpRequest, obj: Account, form: ModelForm[Account], change: bool
    ) -> None:
        """Store it through the verb that encrypts the credential and writes the audit row."""
        facts = staff.AccountFacts(
            slug=obj.slug,
            platform=obj.platform,
            secret=form.cleaned_data["credential"],
            options=form.cleaned_data["options"],
        )
        saved = staff.save_account(facts, actor=str(request.user), now=timezone.now())
        obj.pk = saved.pk

    @override
    def name_of(self, row: Account) -> str:
        """By its name."""
        return f"account {row.slug}"

    @admin.display(description="since", ordering="state_changed_at")
    def since(self, row: Account) -> str:
        """How long it has been in that state."""
        return age(row.state_changed_at)

    @admin.display(description="last error")
    def error(self, row: Account) -> str:
        """What went wrong last."""
        return snippet(row.last_error) or NOTHING

    @admin.display(description="options")
    def shown_options(self, row: Account) -> str:
        """The platform's own settings, without secrets."""
        return ", ".join(f"{k}={v}" for k, v in accounts.shown(row.options).items()) or NOTHING

    @admin.action(description="Enable…", permissions=["operate"])
    def enable(self, request: HttpRequest, queryset: QuerySet[Account]) -> HttpResponse | None:
        """Let a process serve it."""
        return self.carry_out(request, queryset, ENABLE, action="enable")

    @admin.action(description="Disable…", permissions=["operate"])
    def disable(self, request: HttpRequest, queryset: QuerySet[Account]) -> HttpResponse | None:
        """Let no process serve it."""
        return self.carry_out(request, queryset, DISABLE, action="disable")


@admin.register(ProcessBeat)
class ProcessBeatAdmin(ReadOnlyAdmin[ProcessBeat]):
    """Processes seen lately."""

    list_display = ("name", "kind", "started_at", "seen_at", "seen")
    list_filter = ("kind",)
    ordering = ("-seen_at",)

    @admin.display(description="seen")
    def seen(self, row: ProcessBeat) -> str:
        """How long ago it was seen."""
        at: datetime = row.seen_at
        return f"{age(at)} ago"
