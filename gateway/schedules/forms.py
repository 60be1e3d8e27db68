"""Jobs and permitted targets as staff enter them."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from typing_extensions import override

from delivery.pages import NOTHING, ModelForm
from gateway import accounts
from gateway.errors import GatewayError
from gateway.schedules import jobs, targets
from gateway.schedules.models import Goal, Job, Place, Recurrence


class JobForm(ModelForm[Job]):
    """A job as staff enter it: its schedule must be one that can be kept."""

    class Meta:
        """What staff may enter."""

        model = Job
        fields = (
            *("name", "prompt", "model", "recurrence", "expression", "time_zone"),
            *("every_seconds", "once_at", "goal", "account", "place"),
            *("missed", "overlap", "keeps_history", "is_enabled"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "account" in self.fields:
            slugs = [(account.slug, account.slug) for account in accounts.enabled()]
            self.fields["account"] = forms.ChoiceField(
                choices=[("", NOTHING), *slugs],
                required=False,
                help_text="Whose home channel, if the result goes to one.",
            )
        if "time_zone" in self.fields and not self.instance.pk:
            self.fields["time_zone"].initial = timezone.get_default_timezone_name()
        if "goal" in self.fields and not self.instance.origin:
            kept = [choice for choice in Goal.choices if choice[0] != Goal.ORIGIN]
            self.fields["goal"] = forms.ChoiceField(choices=kept, initial=Goal.NOWHERE)

    @override
    def clean(self) -> dict[str, Any]:
        """What cannot be kept is refused with the reason."""
        cleaned = super().clean() or {}
        needed = {Recurrence.EVERY: "every_seconds", Recurrence.ONCE: "once_at"}
        missing = needed.get(cleaned.get("recurrence", ""), "expression")
        if not cleaned.get(missing):
            self.add_error(missing, "This says when, for the schedule that was chosen.")
            return cleaned
        if cleaned.get("goal") == Goal.PLACE and not cleaned.get("place"):
            self.add_error("place", "Choose the target that the result goes to.")
            return cleaned
        self._try(cleaned)
        return cleaned

    def _try(self, cleaned: dict[str, Any]) -> None:
        tried = Job(
            **{name: cleaned[name] for name in self.Meta.fields if name in cleaned},
            origin=self.instance.origin,
            owner_id=self.instance.owner_id,
            owner_platform=self.instance.owner_platform,
            created_at=timezone.now(),
        )
        try:
            jobs.check(tried, now=timezone.now())
        except GatewayError as error:
            raise ValidationError(str(error)) from error


class PlaceForm(ModelForm[Place]):
    """A permitted target as staff enter it."""

    class Meta:
        """What staff may enter."""

        model = Place
        fields = (
            *("name", "account", "chat_id", "chat_type", "scope_id", "thread_id"),
            *("only_for", "is_enabled", "note"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "account" in self.fields:
            slugs = [(account.slug, account.slug) for account in accounts.enabled()]
            self.fields["account"] = forms.ChoiceField(choices=slugs)

    def clean_name(self) -> str:
        """It is said in small letters."""
        name: str = self.cleaned_data["name"].lower()
        return name

    @override
    def clean(self) -> dict[str, Any]:
        """What could never be sent to is refused with the reason."""
        cleaned = super().clean() or {}
        if {"name", "account"} <= set(cleaned):
            tried = Place(name=cleaned["name"], account=cleaned["account"])
            problem = targets.problem_with(tried)
            if problem:
                raise ValidationError(problem)
        return cleaned
