"""What is done at each tick: every job that came due is decided on, once for each instant ([C1]).

A job that is due is moved to its next instant by one conditional update, in the transaction that
queues the work. However many clocks tick at once, one of them changes the row; whoever dies before
the commit has done nothing.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from clarify.presenting import escape
from delivery import ledger
from delivery.database import DATABASE_AWAY
from delivery.ledger import Debt
from delivery.models import Kind
from gateway import speaking
from gateway.errors import BadSchedule, NotPossible
from gateway.schedules import jobs
from gateway.schedules.asking import owner_of
from gateway.schedules.jobs import By
from gateway.schedules.models import Decided, Job, Missed, Overlap, Recurrence, Run
from gateway.schedules.recurrence import next_instant
from gateway.states import TurnState

logger = logging.getLogger(__name__)

AT_ONCE = 100  # jobs decided on in one sweep; the next one comes in two seconds
PUNCTUAL = timedelta(minutes=2)  # what is later was missed: nothing was running
MOST_QUEUED = 2  # runs of one job that are not over: one that works, one that waits
MOST_FAILURES = 5  # runs in a row after which a job is paused
CLOCK = By("the schedule")


def sweep(*, now: datetime) -> int:
    """Decide on every job that is due; how many were decided on.

    One that goes wrong holds up no other.
    """
    due = Job.objects.filter(is_enabled=True, next_at__lte=now).order_by("next_at")
    count = 0
    for job in due.select_related("place", "conversation")[:AT_ONCE]:
        try:
            count += take(job, now=now)
        except DATABASE_AWAY:
            raise
        except Exception:
            logger.exception("A job could not be decided on", extra={"job": job.pk})
    return count


def take(job: Job, *, now: datetime) -> bool:
    """Decide on one instant of a job, as the row shows it.

    Returns:
        Whether it was due and ours to decide: nobody had taken it or paused the job.
    """
    instant = job.next_at
    if instant is None or instant > now:
        return False
    try:
        upcoming = next_instant(job.schedule, max(now, instant))
    except BadSchedule as error:
        _give_up(job, str(error), now)
        return False
    with transaction.atomic():
        mine = Job.objects.filter(pk=job.pk, is_enabled=True, next_at=instant)
        if not mine.update(next_at=upcoming):
            return False
        job.next_at = upcoming
        if job.runs.filter(instant=instant).exists():  # the clock of the host was put back
            return False
        run = Run(job=job, instant=instant, at=now, decided=Decided.STARTED)
        _decide(run, now)
        run.save()
    return True


def _decide(run: Run, now: datetime) -> None:
    job, late = run.job, now - run.instant
    if late > PUNCTUAL:
        run.note = f"{_span(late)} late: nothing was running"
        if job.missed == Missed.SKIP:
            run.decided = Decided.MISSED
            return
    if _overlaps(job):
        run.decided, run.note = Decided.OVERLAPPED, "the last run was not over"
        return
    if _fails_always(job):
        why = _("Its last %(count)s runs failed.") % {"count": MOST_FAILURES}
        run.decided, run.note = Decided.REFUSED, why
        _give_up(job, why, now)
        return
    try:
        with transaction.atomic():
            run.turn = jobs.begin(job, now=now)
    except NotPossible as error:
        run.decided, run.note = Decided.REFUSED, str(error)[:500]
        _give_up(job, str(error), now)


def _overlaps(job: Job) -> bool:
    under_way = jobs.open_turns(job)
    return under_way >= (MOST_QUEUED if job.overlap == Overlap.QUEUE else 1)


def _fails_always(job: Job) -> bool:
    if job.recurrence == Recurrence.ONCE:
        return False
    last = job.runs.filter(decided=Decided.STARTED, by_hand="", at__gt=job.trusted_since)
    ended = [
        run.turn.state if run.turn else "" for run in last.select_related("turn")[:MOST_FAILURES]
    ]
    return len(ended) == MOST_FAILURES and set(ended) == {TurnState.FAILED.value}


def _give_up(job: Job, why: str, now: datetime) -> None:
    """Pause a job that cannot go on, and tell its owner where they asked for it."""
    with transaction.atomic():
        jobs.pause(job, CLOCK, now=now, why=why)
        owner = owner_of(job)
        if owner is None or not jobs.may_hear(owner):
            return
        with speaking.to(job.language):
            words = _(
                "⏰ **%(name)s** is paused: %(why)s `/cron resume %(number)s` lets it go on."
            ) % {"name": escape(job.name), "why": why, "number": job.pk}
        ledger.record(
            Debt(
                conversation_key="",
                trigger=f"job:{job.pk}:paused:{now.isoformat()}",
                address=owner.origin,
                kind=Kind.NOTICE,
                content=words,
            ),
            now=now,
        )


def _span(late: timedelta) -> str:
    minutes = int(late.total_seconds()) // 60
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
