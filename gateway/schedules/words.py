"""Jobs and tasks in words for people."""

from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clarify.presenting import escape
from delivery.addresses import Address
from gateway.errors import BadSchedule
from gateway.schedules.models import BackgroundTask, Decided, Goal, Job, Run
from gateway.schedules.recurrence import Cron, Every, Once, zone_of
from gateway.states import TurnState


def schedule(job: Job, *, zone: str) -> str:
    """When a job comes due, as Markdown."""
    match job.schedule:
        case Cron(expression, own):
            return f"`{expression}` ({own})"
        case Every(period):
            return _every(period)
        case Once(at):
            return _("once, on %(at)s") % {"at": instant(at, zone)}


def _every(period: timedelta) -> str:
    minutes, seconds = divmod(int(period.total_seconds()), 60)
    hours, rest = divmod(minutes, 60)
    if seconds:
        return _("every %(n)s seconds") % {"n": minutes * 60 + seconds}
    if rest:
        return ngettext("every minute", "every %(n)s minutes", minutes) % {"n": minutes}
    return ngettext("every hour", "every %(n)s hours", hours) % {"n": hours}


def zone_for(job: Job, default: str) -> str:
    """Whose clocks a job's instants are shown by."""
    return job.time_zone or default


def instant(at: datetime, zone: str) -> str:
    """An instant by somebody's clocks, with their zone: `2026-12-01 09:00 (Europe/Berlin)`."""
    try:
        local = at.astimezone(zone_of(zone))
    except BadSchedule:
        local, zone = at, "UTC"
    return f"{local:%Y-%m-%d %H:%M} ({zone})"


def upcoming(job: Job, *, zone: str) -> str:
    """When a job comes due next, or why it does not."""
    if job.problem:
        return _("paused: %(why)s") % {"why": job.problem}
    if not job.is_enabled:
        return _("paused")
    if job.next_at is None:
        return _("done")
    return _("next on %(at)s") % {"at": instant(job.next_at, zone_for(job, zone))}


def goal(job: Job) -> str:
    """Where its results go."""
    match job.goal:
        case Goal.NOWHERE:
            return _("kept for staff to read")
        case Goal.HOME:
            return _("to the home channel")
        case Goal.PLACE:
            return _("to %(name)s") % {"name": job.place.name if job.place else "–"}
        case _:
            return _("here")


def at_goal(job: Job, here: Address) -> str:
    """Where its results go, as somebody reads it who is `here`."""
    if job.goal == Goal.ORIGIN and job.asked_at is not None and job.asked_at.lane != here.lane:
        return _("where it was asked for")
    return goal(job)


def line(job: Job, *, zone: str) -> str:
    """A job in a list."""
    return (
        f"`{job.pk}` **{escape(job.name)}**: {schedule(job, zone=zone)}; {upcoming(job, zone=zone)}"
    )


STATES = {
    TurnState.QUEUED: lambda: _("waits for its turn"),
    TurnState.RUNNING: lambda: _("works"),
    TurnState.WAITING: lambda: _("works"),
    TurnState.READY: lambda: _("works"),
    TurnState.FINISHED: lambda: _("done"),
    TurnState.FAILED: lambda: _("failed"),
    TurnState.STOPPED: lambda: _("stopped"),
}


def task_state(task: BackgroundTask) -> str:
    """How a task stands."""
    return STATES[TurnState(task.turn.state)]() if task.turn else _("gone")


def outcome(run: Run) -> str:
    """How a run went."""
    if run.decided != Decided.STARTED:
        return f"{run.get_decided_display()}{f' ({run.note})' if run.note else ''}"
    how = STATES[TurnState(run.turn.state)]() if run.turn else _("gone")
    return f"{how}; {run.note}" if run.note else how
