"""Endpoints and what came to them. A secret is shown once, on the page that follows its making."""

from datetime import timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from typing_extensions import override

from delivery.pages import (
    NOTHING,
    Deed,
    ModelForm,
    ReadOnlyAdmin,
    StaffAdmin,
    age,
    link,
    list_link,
    preformatted,
    snippet,
)
from gateway.errors import GatewayError
from gateway.platforms.webhook.schemes import Kind, problem_with_secret
from gateway.webhooks import endpoints, trying
from gateway.webhooks.models import NAME_HELP, Endpoint, Receipt

MEANS = (
    *("signature_header", "signature_prefix", "encoding", "timestamp_from"),
    *("id_from", "needs_id", "event_from"),
)
AIM = ("goal", "account", "chat_id", "thread_id", "shares_history")
BOUNDS = ("tolerance", "per_minute", "max_bytes")
SLACKS_OWN = "Empty: one is made. Slack has its own, which must be entered."


class EndpointForm(ModelForm[Endpoint]):
    """An endpoint as staff enter it."""

    own_secret = forms.CharField(
        label="sender's own secret",
        required=False,
        strip=True,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=f"If the sender has one already; it is encrypted and never shown. {SLACKS_OWN}",
    )

    class Meta:
        """What staff may enter."""

        model = Endpoint
        fields = ("name", "scheme", "events", "template", *AIM, *MEANS, *BOUNDS)
        error_messages: ClassVar = {"name": {"invalid": NAME_HELP}}

    @override
    def clean(self) -> dict[str, Any]:
        """The verbs that store it know the rules."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        facts = {name: value for name, value in cleaned.items() if name != "own_secret"}
        candidate = Endpoint(**{"scheme": self.instance.scheme, **facts})
        for name, words in endpoints.check(candidate).items():
            self.add_error(name, words)
        if not self.instance.pk:
            self._check_secret(candidate.kind, cleaned.get("own_secret", ""))
        return cleaned

    def _check_secret(self, kind: Kind, secret: str) -> None:
        if kind is Kind.SLACK and not secret:
            self.add_error("own_secret", "Copy the signing secret from the page of the Slack app.")
        elif secret and (problem := problem_with_secret(kind, secret)):
            self.add_error("own_secret", problem)


class RotateForm(forms.Form):
    """What a new secret is made of."""

    secret = forms.CharField(
        label="Sender's own secret",
        required=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=SLACKS_OWN,
    )
    grace = forms.IntegerField(
        label="Hours",
        min_value=0,
        max_value=24 * 30,
        initial=24,
        help_text="How long the present secret still counts. 0: not at all.",
    )


def _switch(is_enabled: bool) -> Any:
    def do(row: Endpoint, _given: dict[str, Any], actor: str, now: Any) -> None:
        endpoints.switch(row, is_enabled=is_enabled, actor=actor, now=now)

    return do


ENABLE = Deed(
    title="Enable these endpoints?",
    past="enabled; it takes events from now on",
    do=_switch(True),
    errors=(GatewayError,),
)
DISABLE = Deed(
    title="Disable these endpoints?",
    past="disabled; it takes no events",
    warning="Their senders get 404 until they are enabled again. What was taken goes on.",
    do=_switch(False),
    errors=(GatewayError,),
)
ROTATE = Deed(
    title="Give this endpoint another secret?",
    past="it has another secret",
    warning="The new secret is shown once, on the next page. Enter it at the sender.",
    do=lambda _row, _given, _actor, _now: None,  # `rotate` does it, and shows the secret
    errors=(GatewayError,),
    form=RotateForm,
    is_for_one=True,
)


@admin.register(Endpoint)
class EndpointAdmin(StaffAdmin[Endpoint]):
    """Endpoints: made, changed, rotated and switched here."""

    form = EndpointForm
    list_display = ("name", "scheme", "is_enabled", "aim", "came", "refused")
    list_filter = ("scheme", "is_enabled", "goal")
    search_fields = ("name", "account", "chat_id__exact")
    actions = ("enable", "disable", "rotate")
    STANDING = ("address", "is_enabled", "former_until", "came", "refusal", "example")

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Endpoint | None = None) -> Any:
        """What everybody sets first, then what only some need."""
        first = ("name", "scheme") if obj else ("name", "scheme", "own_secret")
        sets: list[Any] = [
            (None, {"fields": first}),
            ("Which events, and what the agent is told", {"fields": ("events", "template")}),
            ("Where the answers go", {"fields": AIM}),
            ("How the sender signs and names events", {"fields": MEANS}),
            ("Bounds", {"fields": BOUNDS}),
        ]
        return [*sets, ("How it stands", {"fields": self.STANDING})] if obj else sets

    @override
    def get_readonly_fields(
        self, request: HttpRequest, obj: Endpoint | None = None
    ) -> tuple[str, ...]:
        """Its name is in the address that the sender has, and its secret fits the scheme."""
        return ("name", "scheme", *self.STANDING) if obj else ()

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Endpoint | None = None) -> bool:
        """An endpoint is disabled, never deleted: what came to it is known by it."""
        return False

    @override
    def save_model(
        self, request: HttpRequest, obj: Endpoint, form: ModelForm[Endpoint], change: bool
    ) -> None:
        """Store it through the verb that makes the secret and writes the audit row."""
        actor, now = str(request.user), timezone.now()
        if change:
            endpoints.change(obj, actor=actor, now=now)
            return
        secret = form.cleaned_data["own_secret"]
        stored = endpoints.create(obj, secret=secret, actor=actor, now=now)
        obj.shown_once = "" if secret else stored.secret

    @override
    def response_add(
        self, request: HttpRequest, obj: Endpoint, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The secret that was made is shown now or never."""
        if obj.shown_once:
            return self._show_secret(request, obj, obj.shown_once)
        return super().response_add(request, obj, post_url_continue)

    def _show_secret(self, request: HttpRequest, row: Endpoint, secret: str) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": f"The secret of {row.name}",
            "opts": self.opts,
            "row": row,
            "address": endpoints.url_of(row),
            "secret": secret,
            "example": self._script(row),
        }
        # No redirect: what is shown after one would have to be kept in clear until then.
        page = TemplateResponse(request, "admin/webhook_secret.html", context)
        page.headers["Cache-Control"] = "no-store"
        return page

    @override
    def name_of(self, row: Endpoint) -> str:
        """By its name."""
        return f"endpoint {row.name}"

    @admin.display(description="answers go to")
    def aim(self, row: Endpoint) -> str:
        """Where its answers go."""
        place = " ".join(filter(None, (row.account, row.chat_id, row.thread_id)))
        return f"{row.get_goal_display()} {place}".strip()

    @admin.display(description="address")
    def address(self, row: Endpoint) -> str:
        """What the sender posts to."""
        return endpoints.url_of(row)

    @admin.display(description="last event")
    def came(self, row: Endpoint) -> str | SafeString:
        """When the last event came, with a link to all of them."""
        last = row.receipts.order_by("-received_at").first()
        words = f"{age(last.received_at)} ago" if last else ""
        return list_link(Receipt, words, endpoint__id__exact=row.pk) if last else NOTHING

    @admin.display(description="last refused")
    def refused(self, row: Endpoint) -> str:
        """When a request was refused last, and how the reason begins."""
        if row.last_refused_at is None:
            return NOTHING
        return f"{age(row.last_refused_at)} ago: {snippet(row.last_refusal, 40)}"

    @admin.display(description="last refusal")
    def refusal(self, row: Endpoint) -> str:
        """Why a request was refused last."""
        return (
            f"{age(row.last_refused_at)} ago: {row.last_refusal}" if row.last_refusal else NOTHING
        )

    @admin.display(description="to post to it")
    def example(self, row: Endpoint) -> SafeString:
        """A script for a shell, without the secret."""
        return preformatted(self._script(row))

    def _script(self, row: Endpoint) -> str:
        return trying.script(row)

    @admin.action(description="Enable…", permissions=["operate"])
    def enable(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> HttpResponse | None:
        """Let it take events."""
        return self.carry_out(request, queryset, ENABLE, action="enable")

    @admin.action(description="Disable…", permissions=["operate"])
    def disable(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> HttpResponse | None:
        """Let it take none."""
        return self.carry_out(request, queryset, DISABLE, action="disable")

    @admin.action(description="New secret…", permissions=["operate"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> HttpResponse | None:
        """Give it another secret, shown once."""
        form = RotateForm(request.POST if "confirmed" in request.POST else None)
        row = queryset.first()
        if queryset.count() != 1 or row is None or not form.is_valid():
            return self.carry_out(request, queryset, ROTATE, action="rotate")
        given = form.cleaned_data["secret"].strip()
        try:
            stored = endpoints.rotate(
                row,
                secret=given,
                grace=timedelta(hours=form.cleaned_data["grace"]),
                actor=str(request.user),
                now=timezone.now(),
            )
        except GatewayError as error:
            self.message_user(request, str(error), "ERROR")
            return None
        if given:
            self.message_user(request, f"Endpoint {row.name}: it has the secret you gave.")
            return None
        return self._show_secret(request, row, stored.secret)


@admin.register(Receipt)
class ReceiptAdmin(ReadOnlyAdmin[Receipt]):
    """Events that were taken."""

    list_display = ("received_at", "endpoint", "event", "outcome", "event_id", "in_turn")
    list_filter = ("outcome", "endpoint")
    search_fields = ("event_id__exact",)
    search_help_text = "The sender's id of an event."
    ordering = ("-id",)
    list_select_related = ("endpoint", "turn")
    fields = ("endpoint", "event_id", "event", "outcome", "in_turn", "size", "received_at")

    @admin.display(description="turn")
    def in_turn(self, row: Receipt) -> str | SafeString:
        """The turn it began."""
        return link(row.turn)
