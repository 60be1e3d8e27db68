"""What the agent's tool `schedule` does, for the person whose turn it is and for nobody else."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from gateway.errors import NotPossible
from gateway.models import Turn
from gateway.schedules import jobs, saying
from gateway.schedules.asking import Asker, who_began
from gateway.schedules.jobs import By
from gateway.schedules.models import Goal, Job

MOST_IN_A_TURN = 5


def carry_out(turn: Turn, payload: dict[str, Any], *, now: datetime) -> Any:
    """Make, list or cancel jobs.

    Args:
        turn: Whose agent asks.
        payload: `action`, and `when`, `prompt`, `target` or `job`.
        now: The present.

    Returns:
        What the model reads.

    Raises:
        NotPossible, BadSchedule: Nothing was changed; the message says why, and what can be done.
    """
    asker = who_began(turn)
    if not asker.id:
        raise NotPossible("Nobody speaks in this turn whose jobs they could be.")
    match str(payload.get("action", "")).strip().lower():
        case "create" | "add":
            return _create(turn, asker, payload, now)
        case "list":
            return {"jobs": [_told(job) for job in jobs.of_person(asker)]}
        case "cancel" | "remove" | "delete":
            return _cancel(asker, payload, now)
        case other:
            raise NotPossible(f"action is create, list or cancel, not {other!r}.")


def _create(turn: Turn, asker: Asker, payload: dict[str, Any], now: datetime) -> Any:
    """A call that is carried out again finds the job that it made."""
    trigger = f"turn:{turn.pk}:{payload['call_id']}"[:255]
    made = Job.objects.filter(made_by__startswith=f"turn:{turn.pk}:")
    again = made.filter(made_by=trigger).first()
    if again is not None:
        return _told(again)
    if made.count() >= MOST_IN_A_TURN:
        raise NotPossible(f"{MOST_IN_A_TURN} jobs were made in this turn; that is the most.")
    words = f"{payload.get('when', '')}: {payload.get('prompt', '')}"
    said = saying.read(words, zone=timezone.get_default_timezone_name(), now=now)
    options = {"to": str(payload.get("target") or "here")}
    with transaction.atomic():
        job = jobs.order(
            saying.Said(said.schedule, said.words, options), asker, now=now, made_by=trigger
        )
    return _told(job)


def _cancel(asker: Asker, payload: dict[str, Any], now: datetime) -> Any:
    number = payload.get("job")
    if not isinstance(number, int):
        raise NotPossible("job is the number of a job, as list gives it.")
    job = jobs.find(number, asker)
    told = _told(job)
    jobs.remove(job, By(f"agent, for {asker.person}", asker), now=now)
    return {"cancelled": told}


def _told(job: Job) -> dict[str, Any]:
    return {
        "job": job.pk,
        "name": job.name,
        "schedule": job.expression if job.recurrence == "cron" else job.recurrence,
        "time_zone": job.time_zone,
        "next": job.next_at.isoformat() if job.next_at else None,
        "paused": not job.is_enabled,
        "result_goes": job.place.name if job.goal == Goal.PLACE and job.place else job.goal,
    }
