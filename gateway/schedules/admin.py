"""Pages for staff: jobs with their history, background tasks, and where may be sent to."""

from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import Max, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from typing_extensions import override

from delivery.models import Obligation
from delivery.pages import (
    NOTHING,
    Deed,
    ModelForm,
    ReadOnlyAdmin,
    ReadOnlyInline,
    StaffAdmin,
    age,
    lines,
    link,
    moment,
    preformatted,
    snippet,
)
from gateway.errors import GatewayError
from gateway.schedules import jobs, targets, words
from gateway.schedules.forms import JobForm, PlaceForm
from gateway.schedules.jobs import By
from gateway.schedules.models import BackgroundTask, Job, Place, Run


def _run(job: Job, _given: dict[str, Any], actor: str, now: datetime) -> None:
    jobs.run_now(job, By(actor), now=now)


def _pause(job: Job, _given: dict[str, Any], actor: str, now: datetime) -> None:
    jobs.pause(job, By(actor), now=now)


def _resume(job: Job, _given: dict[str, Any], actor: str, now: datetime) -> None:
    jobs.resume(job, By(actor), now=now)


RUN = Deed(
    title="Run these jobs now?",
    past="runs now",
    warning="When they come due by themselves stays as it was.",
    do=_run,
    errors=(GatewayError,),
)
PAUSE = Deed(
    title="Pause these jobs?",
    past="paused",
    warning="They come due no more until they are resumed. A run under way goes on.",
    do=_pause,
    errors=(GatewayError,),
)
RESUME = Deed(
    title="Resume these jobs?",
    past="resumed",
    warning="They come due from now on; what was missed meanwhile stays left out.",
    do=_resume,
    errors=(GatewayError,),
)


class RunInline(ReadOnlyInline[Run, Job]):
    """The instants of a job, with what became of them."""

    model = Run
    fields = ("instant", "how", "by_hand", "work", "at")
    readonly_fields = fields
    ordering = ("-id",)

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        """With what their pages name."""
        return super().get_queryset(request).select_related("turn")

    @admin.display(description="what became of it")
    def how(self, row: Run) -> str:
        """How it went."""
        return words.outcome(row)

    @admin.display(description="turn")
    def work(self, row: Run) -> str | SafeString:
        """The work itself."""
        return link(row.turn)


@admin.register(Job)
class JobAdmin(StaffAdmin[Job]):
    """What the agent does by itself at certain times."""

    form = JobForm
    list_display = ("name", "when", "upcoming", "result_goes", "whose", "last_run", "is_enabled")
    list_filter = ("is_enabled", "recurrence", "goal", "owner_platform")
    search_fields = ("id__exact", "name", "owner_id__exact")
    search_help_text = "The number or name of a job, or the id of its owner."
    list_select_related = ("place", "conversation")
    ordering = ("-id",)
    actions = ("run", "pause", "resume")
    inlines = (RunInline,)
    readonly_fields = ("upcoming", "problem", "whose", "asked_where", "history", "created_at")
    fieldsets = (
        (None, {"fields": ("name", "prompt", "model", "is_enabled", "upcoming", "problem")}),
        (
            "When",
            {
                "fields": (
                    *("recurrence", "expression", "time_zone", "every_seconds", "once_at"),
                    *("missed", "overlap"),
                ),
                "description": "A time that the clocks leave out comes due right after the gap; one"
                " that they show twice, at the first.",
            },
        ),
        ("Where the result goes", {"fields": ("goal", "account", "place", "keeps_history")}),
        ("Whose it is", {"fields": ("whose", "asked_where", "history", "created_at")}),
    )

    @admin.display(description="when")
    def when(self, row: Job) -> str:
        """Its schedule."""
        return words.schedule(row, zone=timezone.get_default_timezone_name()).replace("`", "")

    @admin.display(description="next run", ordering="next_at")
    def upcoming(self, row: Job) -> str:
        """When it comes due, by its own clocks and in UTC."""
        if row.next_at is None:
            return NOTHING if row._state.adding else words.upcoming(row, zone="UTC")  # noqa: SLF001 - Django documents it
        zone = words.zone_for(row, timezone.get_default_timezone_name())
        own, plain = words.instant(row.next_at, zone), words.instant(row.next_at, "UTC")
        return own if own == plain else f"{own}, {plain}"

    @admin.display(description="result goes")
    def result_goes(self, row: Job) -> str:
        """Where."""
        return words.goal(row)

    @admin.display(description="owner")
    def whose(self, row: Job) -> str:
        """Who asked for it."""
        return f"{row.owner_name or row.owner_id} ({row.owner_platform})" if row.person else "staff"

    @admin.display(description="asked for in")
    def asked_where(self, row: Job) -> str:
        """Where."""
        at = row.asked_at
        return f"{at.platform} {at.account}, chat {at.chat_id}" if at else NOTHING

    @admin.display(description="history")
    def history(self, row: Job) -> str | SafeString:
        """What was said in its runs."""
        return link(row.conversation, "what was said in its runs") if row.conversation else NOTHING

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        """With the last run of each."""
        last = Run.objects.values("job").annotate(last=Max("pk")).values("last").order_by()
        latest = Run.objects.filter(pk__in=last).select_related("turn")
        return (
            super()
            .get_queryset(request)
            .prefetch_related(Prefetch("runs", queryset=latest, to_attr="latest"))
        )

    @admin.display(description="last run")
    def last_run(self, row: Job) -> str:
        """When it ran last, and how that went."""
        latest: list[Run] = getattr(row, "latest", [])
        return "".join(f"{moment(run.instant)}: {words.outcome(run)}" for run in latest) or NOTHING

    @admin.action(description="Run now…", permissions=["operate"])
    def run(self, request: HttpRequest, queryset: QuerySet[Job]) -> HttpResponse | None:
        """Run it."""
        return self.carry_out(request, queryset, RUN, action="run")

    @admin.action(description="Pause…", permissions=["operate"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Job]) -> HttpResponse | None:
        """Pause it."""
        return self.carry_out(request, queryset, PAUSE, action="pause")

    @admin.action(description="Resume…", permissions=["operate"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Job]) -> HttpResponse | None:
        """Resume it."""
        return self.carry_out(request, queryset, RESUME, action="resume")

    @override
    def makes_sense(self, action: str, row: Job) -> bool:
        """Only what it is not already."""
        return {"pause": row.is_enabled, "resume": not row.is_enabled}.get(action, True)

    @override
    def save_model(
        self, request: HttpRequest, obj: Job, form: ModelForm[Job], change: bool
    ) -> None:
        """Store it; when it comes due follows from its schedule."""
        jobs.store(obj, By(str(request.user)), now=timezone.now())

    @override
    def delete_model(self, request: HttpRequest, obj: Job) -> None:
        """Remove it with its audit row."""
        jobs.remove(obj, By(str(request.user)), now=timezone.now())

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        """Remove each with its audit row."""
        for job in queryset:
            self.delete_model(request, job)


@admin.register(BackgroundTask)
class BackgroundTaskAdmin(ReadOnlyAdmin[BackgroundTask]):
    """What people had done beside their conversations; its turn's page can stop a task."""

    list_display = ("number", "state", "whose", "said", "work", "age")
    list_filter = ("owner_platform", "turn__state")
    search_fields = ("id__exact", "owner_id__exact")
    search_help_text = "The number of a task, or the id of its owner."
    list_select_related = ("turn", "conversation")
    ordering = ("-id",)
    fields = ("state", "whose", "work", "history", "answers", "asked", "created_at")
    readonly_fields = fields

    @admin.display(description="task", ordering="id")
    def number(self, row: BackgroundTask) -> str:
        """Its number, by which its owner stops it."""
        return str(row.pk)

    @admin.display(description="state")
    def state(self, row: BackgroundTask) -> str:
        """How it stands."""
        return words.task_state(row)

    @admin.display(description="owner")
    def whose(self, row: BackgroundTask) -> str:
        """Who asked for it."""
        return f"{row.owner_name or row.owner_id} ({row.owner_platform})"

    @admin.display(description="asked")
    def said(self, row: BackgroundTask) -> str:
        """How it begins."""
        return snippet(row.prompt, 60)

    @admin.display(description="asked")
    def asked(self, row: BackgroundTask) -> SafeString:
        """All of it."""
        return preformatted(row.prompt)

    @admin.display(description="turn")
    def work(self, row: BackgroundTask) -> str | SafeString:
        """The work itself."""
        return link(row.turn)

    @admin.display(description="history")
    def history(self, row: BackgroundTask) -> str | SafeString:
        """What was said in it."""
        return link(row.conversation, "what was said in it") if row.conversation else NOTHING

    @admin.display(description="deliveries")
    def answers(self, row: BackgroundTask) -> str | SafeString:
        """What is or was owed for it."""
        if row.turn is None:
            return NOTHING
        owed = Obligation.objects.filter(correlation=row.turn.correlation).order_by("id")
        return lines(link(obligation) for obligation in owed)

    @admin.display(description="age", ordering="created_at")
    def age(self, row: BackgroundTask) -> str:
        """How long ago it was asked for."""
        return age(row.created_at)


@admin.register(Place)
class PlaceAdmin(StaffAdmin[Place]):
    """Where people's jobs and the agent may send to, by name."""

    form = PlaceForm
    list_display = ("name", "account", "chat_id", "thread_id", "who", "is_enabled", "note")
    list_filter = ("is_enabled", "account")
    search_fields = ("name", "chat_id__exact", "note")
    ordering = ("name",)

    @admin.display(description="for")
    def who(self, row: Place) -> str:
        """Who may send there."""
        return ", ".join(row.only_for.split()) or "everybody"

    @override
    def save_model(
        self, request: HttpRequest, obj: Place, form: ModelForm[Place], change: bool
    ) -> None:
        """Store it with its audit row."""
        targets.store(obj, actor=str(request.user), now=timezone.now())

    @override
    def delete_model(self, request: HttpRequest, obj: Place) -> None:
        """Remove it with its audit row."""
        targets.remove(obj, actor=str(request.user), now=timezone.now())

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Place]) -> None:
        """Remove each with its audit row; one that jobs send to stays."""
        for place in queryset:
            try:
                self.delete_model(request, place)
            except GatewayError as error:
                self.message_user(request, str(error), messages.ERROR)
