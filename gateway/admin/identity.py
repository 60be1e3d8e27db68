"""Who asks to be let in, who is one person on two platforms, and how accounts meet strangers."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from delivery.pages import Deed, ModelForm, ReadOnlyAdmin, ReadOnlyInline, StaffAdmin, age
from gateway import admission, audit
from gateway.errors import GatewayError
from gateway.identity import pairing
from gateway.identity.models import Link, LinkEnd, Pairing, StrangerPolicy
from gateway.identity.states import LinkState, PairingState
from gateway.models import Account
from gateway.roles import Role

ERRORS = (GatewayError,)


class CodeForm(forms.Form):
    """The code, and what the person becomes."""

    code = forms.CharField(
        max_length=40,
        help_text="As the person reads it to you. A name proves nothing: anybody may take one.",
    )
    role = forms.ChoiceField(
        choices=[(role.value, role.value) for role in Role], initial=Role.MEMBER.value
    )


def _approve(row: Pairing, given: dict[str, Any], actor: str, _now: Any) -> str:
    among = Pairing.objects.filter(pk=row.pk)
    role = Role(given["role"])
    admission.approve(given["code"], role=role, actor=actor, now=timezone.now(), among=among)
    return f"let in as {role}; they are told"


APPROVE = Deed(
    title="Let this person in?",
    past="let in",
    warning="They may speak to this bot in private from now on, and in no group.",
    do=_approve,
    errors=ERRORS,
    form=CodeForm,
    is_for_one=True,
    confirm="Let them in",
)
REFUSE = Deed(
    title="Let these requests come to nothing?",
    past="refused",
    warning="Nobody is told; they may ask again in an hour.",
    do=lambda row, _given, actor, now: admission.refuse(row, actor=actor, now=now),
    errors=ERRORS,
)
REVOKE = Deed(
    title="Take these pairings back?",
    past="revoked",
    warning="It counts at once: what waits for them ends, and their questions are withdrawn."
    " Nobody is told.",
    do=lambda row, _given, actor, now: admission.revoke(row, actor=actor, now=now),
    errors=ERRORS,
)
UNLINK = Deed(
    title="End these links?",
    past="ended",
    warning="Each identity has its own rights again; both sides are told.",
    do=lambda row, _given, actor, now: admission.unlink(row, actor=actor, now=now),
    errors=ERRORS,
)


SHARE = Deed(
    title="Let the private chats of these links go on with one history?",
    past="with one history",
    warning="What is said on one side is known on the other. Both sides are told.",
    do=lambda row, _given, actor, now: admission.share(row, shares=True, actor=actor, now=now),
    errors=ERRORS,
)
PART = Deed(
    title="Give the private chats of these links histories of their own?",
    past="apart",
    warning="The side where the history did not begin starts afresh. Both sides are told.",
    do=lambda row, _given, actor, now: admission.share(row, shares=False, actor=actor, now=now),
    errors=ERRORS,
)


@admin.register(Pairing)
class PairingAdmin(ReadOnlyAdmin[Pairing]):
    """Strangers who ask to be let in, and whom staff let in."""

    list_display = (
        *("person", "state", "account", "role", "asked", "until", "wrong_tries"),
        *("decided_by", "reason"),
    )
    list_filter = ("state", "account", "platform", "role")
    search_fields = ("user_id__exact", "user_name")
    search_help_text = "The id of a person, or a part of what they call themselves."
    ordering = ("-asked_at",)
    actions = ("approve", "refuse", "revoke")
    readonly_fields = ("person", "until")
    fieldsets = (
        (None, {"fields": ("person", "user_alt", "platform", "account", "state", "reason")}),
        ("May", {"fields": ("role", "approves_up_to", "decided_by", "decided_at")}),
        ("The code", {"fields": ("asked_at", "until", "seen_at", "wrong_tries", "codes_in_hour")}),
    )

    @override
    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Whoever is on the page was seen, and gives way last."""
        response = super().changelist_view(request, extra_context)
        now = timezone.now()
        pairing.mark_seen(pairing.waiting(now=now), now=now)
        return response

    @override
    def told(self, row: Pairing) -> SafeString:
        """Who it is, and how it stands."""
        return format_html("{}, {}, asked {} ago", row, row.state, age(row.asked_at))

    @override
    def makes_sense(self, action: str, row: Pairing) -> bool:
        """What waits is decided; what counts is taken back."""
        waits = row.state == PairingState.ASKED and row.expires_at > timezone.now()
        return row.state == PairingState.PAIRED if action == "revoke" else waits

    @admin.display(description="person", ordering="user_id")
    def person(self, row: Pairing) -> str:
        """What they call themselves, and their id."""
        return f"{row.user_name} [{row.user_id}]" if row.user_name else f"[{row.user_id}]"

    @admin.display(description="asked", ordering="asked_at")
    def asked(self, row: Pairing) -> str:
        """How long ago they were given a code."""
        return f"{age(row.asked_at)} ago"

    @admin.display(description="code counts", ordering="expires_at")
    def until(self, row: Pairing) -> str:
        """How long the code counts still."""
        left = int((row.expires_at - timezone.now()).total_seconds())
        if row.state != PairingState.ASKED:
            return "used" if row.state == PairingState.PAIRED else "no more"
        return f"for {left // 60 + 1} min" if left > 0 else "no more"

    @admin.action(description="Approve…", permissions=["operate"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Pairing]) -> HttpResponse | None:
        """Let somebody in by their code."""
        return self.carry_out(request, queryset, APPROVE, action="approve")

    @admin.action(description="Refuse…", permissions=["operate"])
    def refuse(self, request: HttpRequest, queryset: QuerySet[Pairing]) -> HttpResponse | None:
        """Let it come to nothing."""
        return self.carry_out(request, queryset, REFUSE, action="refuse")

    @admin.action(description="Revoke…", permissions=["operate"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Pairing]) -> HttpResponse | None:
        """Take it back."""
        return self.carry_out(request, queryset, REVOKE, action="revoke")


class EndInline(ReadOnlyInline[LinkEnd, Link]):
    """The two identities, with the message that proved each."""

    model = LinkEnd
    fields = (
        *("is_first", "platform", "account", "scope_id", "user_id", "user_name"),
        *("message_id", "proved_at"),
    )
    readonly_fields = fields


@admin.register(Link)
class LinkAdmin(ReadOnlyAdmin[Link]):
    """One person who is two identities, as they proved from both sides."""

    list_display = ("people", "state", "shares", "asked_at", "linked_at", "ended_at", "ended_by")
    list_filter = ("state", "shares", "ends__platform")
    search_fields = ("ends__user_id__exact", "ends__user_name")
    search_help_text = "The id of a person on either side."
    ordering = ("-pk",)
    inlines = (EndInline,)
    actions = ("unlink", "share", "part")
    fields = (
        *("state", "shares", "asked_at", "expires_at", "linked_at"),
        *("ended_at", "ended_by"),
    )

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Link]:
        """With both ends."""
        return super().get_queryset(request).prefetch_related("ends")

    @override
    def makes_sense(self, action: str, row: Link) -> bool:
        """What has ended is not ended again."""
        differs = {"share": not row.shares, "part": row.shares}
        return row.state == LinkState.LINKED and differs.get(action, True)

    @admin.display(description="who")
    def people(self, row: Link) -> str:
        """Both identities."""
        return str(row)

    @admin.action(description="End…", permissions=["operate"])
    def unlink(self, request: HttpRequest, queryset: QuerySet[Link]) -> HttpResponse | None:
        """End it."""
        return self.carry_out(request, queryset, UNLINK, action="unlink")

    @admin.action(description="One history…", permissions=["operate"])
    def share(self, request: HttpRequest, queryset: QuerySet[Link]) -> HttpResponse | None:
        """Let both go on with one history."""
        return self.carry_out(request, queryset, SHARE, action="share")

    @admin.action(description="Histories apart…", permissions=["operate"])
    def part(self, request: HttpRequest, queryset: QuerySet[Link]) -> HttpResponse | None:
        """Let each go on with its own."""
        return self.carry_out(request, queryset, PART, action="part")


class PolicyForm(ModelForm[StrangerPolicy]):
    """A rule for one of the accounts that there are."""

    class Meta:
        """What staff may enter."""

        model = StrangerPolicy
        fields = ("account", "pairing", "most_waiting")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "account" in self.fields:
            slugs = Account.objects.order_by("slug").values_list("slug", flat=True)
            self.fields["account"] = forms.ChoiceField(choices=[(slug, slug) for slug in slugs])
        if "most_waiting" in self.fields:
            self.fields["most_waiting"].widget.attrs["min"] = 1


@admin.register(StrangerPolicy)
class StrangerPolicyAdmin(StaffAdmin[StrangerPolicy]):
    """Whether strangers who write to an account in private are given a code."""

    form = PolicyForm
    list_display = ("account", "pairing", "most_waiting")
    ordering = ("account",)

    @override
    def save_model(
        self,
        request: HttpRequest,
        obj: StrangerPolicy,
        form: ModelForm[StrangerPolicy],
        change: bool,
    ) -> None:
        """Store it with its audit row."""
        super().save_model(request, obj, form, change)
        self._note(request, obj, "pairing.rule_set")

    @override
    def delete_model(self, request: HttpRequest, obj: StrangerPolicy) -> None:
        """Remove it with its audit row."""
        self._note(request, obj, "pairing.rule_removed")
        super().delete_model(request, obj)

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[StrangerPolicy]) -> None:
        """Remove each with its audit row."""
        for row in queryset:
            self.delete_model(request, row)

    def _note(self, request: HttpRequest, row: StrangerPolicy, action: str) -> None:
        audit.note(
            action,
            actor=str(request.user),
            subject=f"account:{row.account}",
            now=timezone.now(),
            pairing=row.pairing,
            most_waiting=row.most_waiting,
        )
