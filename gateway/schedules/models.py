"""Scheduled jobs with their runs, background tasks, and the places that may be sent to."""

from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.db.models import Q
from typing_extensions import override

from delivery.addresses import Address
from gateway.models import Conversation, Turn
from gateway.schedules.recurrence import Cron, Every, Once, Schedule


class Place(models.Model):
    """A place that people and agents may send to by its name ([T8])."""

    name = models.SlugField(
        max_length=40,
        unique=True,
        help_text="What people and agents call it: letters (a to z), digits, - and _.",
    )
    account = models.CharField(max_length=64, help_text="The account that sends there.")
    platform = models.CharField(max_length=32, editable=False)
    chat_id = models.CharField("chat's id", max_length=255)
    chat_type = models.CharField(
        max_length=16,
        default="group",
        choices=[("dm", "private chat"), ("group", "group"), ("channel", "channel")],
    )
    scope_id = models.CharField("workspace", max_length=255, blank=True)
    thread_id = models.CharField("thread's id", max_length=255, blank=True)
    only_for = models.TextField(
        "only for",
        blank=True,
        help_text="People who may send there, one a line, as platform:id (`/whoami` says both)."
        " Empty: everybody who may speak to the agent.",
    )
    is_enabled = models.BooleanField("enabled", default=True)
    note = models.CharField(max_length=200, blank=True, help_text="What it is, for people.")

    class Meta:
        verbose_name = "permitted target"
        ordering: ClassVar = ["name"]

    @override
    def __str__(self) -> str:
        return self.name

    @property
    def address(self) -> Address:
        """Where it is."""
        return Address(
            platform=self.platform,
            account=self.account,
            scope_id=self.scope_id,
            chat_type=self.chat_type,
            chat_id=self.chat_id,
            thread_id=self.thread_id,
        )

    def is_open_to(self, person: str) -> bool:
        """Whether somebody, named as `platform:id`, may send there."""
        named = self.only_for.split()
        return self.is_enabled and (not named or person in named)


class Recurrence(models.TextChoices):
    """What sort of schedule a job has."""

    CRON = "cron", "cron expression"
    EVERY = "every", "every so often"
    ONCE = "once", "once"


class Goal(models.TextChoices):
    """Where the result of a job goes."""

    ORIGIN = "origin", "where it was asked for"
    HOME = "home", "home channel of an account"
    PLACE = "place", "permitted target"
    NOWHERE = "none", "nowhere: it can be read here"


class Missed(models.TextChoices):
    """What becomes of an instant at which nothing was running."""

    RUN = "run", "run once, late"
    SKIP = "skip", "leave out"


class Overlap(models.TextChoices):
    """What becomes of an instant at which the last run is not over."""

    SKIP = "skip", "leave out"
    QUEUE = "queue", "run afterwards"


class Person(models.Model):
    """Who asked for something, and where; empty fields if staff did."""

    owner_platform = models.CharField(max_length=32, blank=True)
    owner_id = models.CharField("owner's id", max_length=255, blank=True)
    owner_alt = models.CharField("owner's stable id", max_length=255, blank=True)
    owner_name = models.CharField("owner", max_length=255, blank=True)
    origin = models.JSONField(null=True, blank=True, help_text="Where it was asked for.")
    language = models.CharField(max_length=16, blank=True, help_text="In which they speak to us.")

    class Meta:
        abstract = True

    @property
    def person(self) -> str:
        """Whose it is, as `platform:id`; empty if staff's."""
        return f"{self.owner_platform}:{self.owner_id}" if self.owner_id else ""

    @property
    def asked_at(self) -> Address | None:
        """Where it was asked for; None if staff made it."""
        return Address.from_dict(self.origin) if self.origin else None


class Job(Person):
    """Something the agent does by itself at certain times ([C1])."""

    name = models.CharField(max_length=80, help_text="Stands over each of its results.")
    prompt = models.TextField(help_text="What the agent is told each time.")
    model = models.CharField(
        max_length=120, blank=True, help_text="The model that does it. Empty: the configured one."
    )
    recurrence = models.CharField(
        "schedule", max_length=5, choices=Recurrence.choices, default=Recurrence.CRON
    )
    expression = models.CharField(
        "cron expression",
        max_length=120,
        blank=True,
        help_text="Minute, hour, day of the month, month, day of the week: 30 8 * * 1-5",
    )
    time_zone = models.CharField(
        max_length=64, blank=True, help_text="Whose clocks count, e.g. Europe/Berlin."
    )
    every_seconds = models.PositiveIntegerField(
        "every … seconds", null=True, blank=True, help_text="Real time, whatever the clocks do."
    )
    anchor_at = models.DateTimeField(
        "counted from", null=True, blank=True, editable=False, help_text="Of every so often."
    )
    once_at = models.DateTimeField("once at", null=True, blank=True, db_index=True)
    goal = models.CharField("result goes to", max_length=6, choices=Goal, default=Goal.ORIGIN)
    account = models.CharField(
        "account of the home channel", max_length=64, blank=True, help_text="For the home channel."
    )
    place = models.ForeignKey(
        Place,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="jobs",
        help_text="For a permitted target.",
    )
    missed = models.CharField(
        "if it was missed", max_length=4, choices=Missed.choices, default=Missed.RUN
    )
    overlap = models.CharField(
        "if the last run is not over", max_length=5, choices=Overlap.choices, default=Overlap.SKIP
    )
    keeps_history = models.BooleanField(
        "remembers its last runs",
        default=False,
        help_text="Otherwise each run begins with an empty history.",
    )
    is_enabled = models.BooleanField("enabled", default=True)
    problem = models.CharField(
        max_length=500, blank=True, editable=False, help_text="Why it was paused by itself."
    )
    next_at = models.DateTimeField("next run", null=True, blank=True, editable=False)
    trusted_since = models.DateTimeField(
        editable=False, help_text="Runs that failed since then are counted."
    )
    conversation = models.OneToOneField(
        Conversation,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="job",
    )
    made_by = models.CharField(
        max_length=255, blank=True, editable=False, help_text="The tool call that asked for it."
    )
    created_at = models.DateTimeField(editable=False)
    created_by = models.CharField(max_length=255, editable=False, help_text="For the audit.")

    class Meta:
        verbose_name = "scheduled job"
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            # due: what the sweep looks for every two seconds
            # of_person
            models.Index(fields=["owner_platform", "owner_id"], name="jobs_by_owner"),
            models.Index(
                fields=["next_at"], condition=Q(is_enabled=True), name="jobs_by_next_instant"
            ),
        ]

    @override
    def __str__(self) -> str:
        return self.name

    @property
    def schedule(self) -> Schedule:
        """When it comes due."""
        match self.recurrence:
            case Recurrence.EVERY:
                anchor = self.anchor_at or self.created_at
                return Every(timedelta(seconds=self.every_seconds or 0), anchor)
            case Recurrence.ONCE if self.once_at is not None:
                return Once(self.once_at)
            case _:
                return Cron(self.expression, self.time_zone or "UTC")

    @property
    def is_done(self) -> bool:
        """Whether it was due once, and that was it."""
        return self.recurrence == Recurrence.ONCE and self.is_enabled and self.next_at is None

    def follow(self, schedule: Schedule) -> None:
        """Take over a schedule; the caller stores the row."""
        match schedule:
            case Cron(expression, zone):
                self.recurrence, self.expression, self.time_zone = "cron", expression, zone
            case Every(period, anchor):
                self.recurrence, self.anchor_at = "every", anchor
                self.every_seconds = int(period.total_seconds())
            case Once(at):
                self.recurrence, self.once_at = "once", at


class Decided(models.TextChoices):
    """What became of an instant of a job."""

    STARTED = "started", "run"
    MISSED = "missed", "left out: it was missed"
    OVERLAPPED = "overlapped", "left out: the last run was not over"
    REFUSED = "refused", "could not begin"


class Run(models.Model):
    """One instant of a job, with what became of it; how the work went is told by its turn."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="runs")
    instant = models.DateTimeField(
        help_text="When it was due; of a run by hand, when it was asked."
    )
    by_hand = models.CharField(
        max_length=255, blank=True, help_text="Who asked for it; empty if the schedule did."
    )
    decided = models.CharField(max_length=10, choices=Decided.choices)
    note = models.CharField(max_length=500, blank=True)
    turn = models.OneToOneField(
        Turn, null=True, blank=True, on_delete=models.SET_NULL, related_name="run"
    )
    at = models.DateTimeField(db_index=True, help_text="When it was decided.")

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            # However many clocks tick: an instant of a job is decided once.
            models.UniqueConstraint(fields=["job", "instant"], name="one_run_an_instant"),
        ]

    @override
    def __str__(self) -> str:
        return f"run {self.pk} of job {self.job_id}"


class BackgroundTask(Person):
    """Something a person had the agent do beside the conversation ([T6])."""

    prompt = models.TextField()
    # Both are there as soon as the row is stored: its number names the conversation.
    conversation = models.OneToOneField(
        Conversation, null=True, on_delete=models.SET_NULL, related_name="background_task"
    )
    turn = models.OneToOneField(
        Turn, null=True, on_delete=models.SET_NULL, related_name="background_task"
    )
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "background task"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            # open_of: how many somebody has at once
            models.Index(fields=["owner_platform", "owner_id"], name="tasks_by_owner"),
        ]

    @override
    def __str__(self) -> str:
        return f"task {self.pk}"
