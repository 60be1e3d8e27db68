"""How the gateway behaves in a chat, and where unasked-for messages go."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from typing_extensions import override

from delivery.addresses import Address
from delivery.pages import ModelForm, ReadOnlyAdmin, StaffAdmin, snippet
from gateway import accounts, costs, staff
from gateway.conf import gateway_settings
from gateway.models import ChatPolicy, HomeChannel


class ChatForm(ModelForm[ChatPolicy]):
    """Settings of a place, as staff enter them."""

    class Meta:
        """What staff may enter."""

        model = ChatPolicy
        fields = (
            *("account", "chat_id", "thread_id", "note", "groups", "threads", "busy"),
            *("reset", "idle_minutes", "hour", "time_zone", "stop_suspends"),
            *("fresh_final_seconds", "model", "system_prompt"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "account" in self.fields:
            known = [(slug, slug) for slug in accounts.slugs()]
            self.fields["account"] = forms.ChoiceField(
                choices=[("", "every account"), *known], required=False
            )
        if "model" in self.fields:
            names = dict.fromkeys([costs.named(""), *gateway_settings().models])
            present = [self.instance.model] if self.instance.model else []
            self.fields["model"] = forms.ChoiceField(
                choices=[("", "the usual one"), *((name, name) for name in [*names, *present])],
                required=False,
                help_text="Those of HERMES_MODEL and HERMES_MODELS.",
            )


@admin.register(ChatPolicy)
class ChatPolicyAdmin(StaffAdmin[ChatPolicy]):
    """Settings of chats; a thread inherits from its chat, and a chat from its account."""

    form = ChatForm
    list_display = ("__str__", "busy", "groups", "threads", "reset", "model", "instructed", "note")
    list_filter = ("account", "busy", "reset")
    search_fields = ("chat_id__exact", "note")
    search_help_text = "A chat's id, or words of the note."
    ordering = ("account", "chat_id", "thread_id")
    fieldsets = (
        (
            "Where it holds",
            {
                "fields": ("account", "chat_id", "thread_id", "note"),
                "description": "What is left empty below is inherited: a thread has what is set for"
                " its chat, a chat what is set for its account.",
            },
        ),
        ("Who shares a history", {"fields": ("groups", "threads")}),
        ("While a turn runs", {"fields": ("busy", "stop_suspends")}),
        ("The answer", {"fields": ("fresh_final_seconds",)}),
        ("When a session ends", {"fields": ("reset", "idle_minutes", "hour", "time_zone")}),
        ("The agent there", {"fields": ("model", "system_prompt")}),
    )

    @admin.display(description="instructions")
    def instructed(self, row: ChatPolicy) -> str:
        """How the agent's instructions there begin."""
        return snippet(row.system_prompt, 40)

    @override
    def save_model(
        self, request: HttpRequest, obj: ChatPolicy, form: ModelForm[ChatPolicy], change: bool
    ) -> None:
        """Store it with its audit row."""
        staff.set_chat(obj, actor=str(request.user), now=timezone.now())

    @override
    def delete_model(self, request: HttpRequest, obj: ChatPolicy) -> None:
        """Remove it with its audit row."""
        staff.unset_chat(obj, actor=str(request.user), now=timezone.now())

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ChatPolicy]) -> None:
        """Remove each with its audit row."""
        for policy in queryset:
            self.delete_model(request, policy)


@admin.register(HomeChannel)
class HomeChannelAdmin(ReadOnlyAdmin[HomeChannel]):
    """Where results of scheduled jobs go; set with /sethome in the chat."""

    list_display = ("account", "place", "set_by", "set_at")
    ordering = ("account",)

    @admin.display(description="chat")
    def place(self, row: HomeChannel) -> str:
        """The chat, and the thread in it."""
        address = Address.from_dict(row.address)
        return f"{address.chat_id} / {address.thread_id}" if address.thread_id else address.chat_id
