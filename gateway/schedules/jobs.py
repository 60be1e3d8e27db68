"""The life of scheduled jobs in the database: only writer of jobs and runs.

Each verb works in one transaction and says what to do when it cannot ([C1]).
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clarify.presenting import escape
from delivery.addresses import Address
from gateway import access, audit, chats, sessions, turns
from gateway.accounts import CONSOLE
from gateway.commissions import Commission
from gateway.errors import NotPossible
from gateway.keys import KeyFields
from gateway.messages import ChatType
from gateway.models import Conversation, Turn
from gateway.models.turns import OPEN_STATES
from gateway.roles import Role
from gateway.schedules import targets
from gateway.schedules.asking import Asker, owner_of
from gateway.schedules.models import Decided, Goal, Job, Place, Recurrence, Run
from gateway.schedules.recurrence import checked, next_instant
from gateway.schedules.saying import Said

MOST_EACH = 50  # jobs of one person
LONGEST_PROMPT = 8_000  # characters
NAME_LENGTH = 60
OWN_GOALS = {"here": Goal.ORIGIN, "origin": Goal.ORIGIN, "home": Goal.HOME, "none": Goal.NOWHERE}


@dataclass(frozen=True)
class By:
    """Who does something to a job.

    Attributes:
        name: For the audit log.
        asker: The person, if it is not staff.
    """

    name: str
    asker: Asker | None = None


def of_person(asker: Asker) -> list[Job]:
    """Somebody's own jobs, the oldest first."""
    mine = Job.objects.filter(owner_platform=asker.origin.platform, owner_id=asker.id)
    return list(mine.select_related("place", "conversation").order_by("pk"))


def find(number: int, asker: Asker) -> Job:
    """Somebody's own job of that number.

    Raises:
        NotPossible: They have none.
    """
    found = next((job for job in of_person(asker) if job.pk == number), None)
    if found is None:
        raise NotPossible(
            _("You have no job %(number)s. `/cron list` shows those you have.") % {"number": number}
        )
    return found


def order(said: Said, asker: Asker, *, now: datetime, made_by: str = "") -> Job:
    """Make a job for somebody.

    Args:
        said: When and what, and with which options.
        asker: Whose it is.
        now: The present.
        made_by: What asked for it, so that the same is not made twice; empty for a person.

    Raises:
        NotPossible: It cannot be; the message says why and what can.
        BadSchedule: The schedule cannot be kept.
    """
    mine = sum(not job.is_done for job in of_person(asker))
    if mine >= MOST_EACH:
        raise NotPossible(
            ngettext(
                "You have %(most)s job; that is the most. Remove one: `/cron remove 3`.",
                "You have %(most)s jobs; that is the most. Remove one: `/cron remove 3`.",
                MOST_EACH,
            )
            % {"most": MOST_EACH}
        )
    job = Job(
        name=said.options.get("name", "") or _name(said.words),
        prompt=said.words,
        model=said.options.get("model", ""),
        created_at=now,
        made_by=made_by,
        **asker.columns,
    )
    job.follow(said.schedule)
    aim(job, said.options.get("to", "here"), asker)
    store(job, By(asker.person, asker), now=now)
    return job


def _name(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= NAME_LENGTH else f"{line[: NAME_LENGTH - 1]}…"


def aim(job: Job, name: str, asker: Asker) -> None:
    """Let the results of a job go to a place that its owner names.

    Raises:
        NotPossible: There is no such place for them.
    """
    name = name.strip().lower()
    if name in OWN_GOALS:
        job.goal = OWN_GOALS[name]
        job.account = asker.origin.account if job.goal == Goal.HOME else ""
    elif name == targets.PRIVATE:
        job.goal, job.origin = Goal.ORIGIN, targets.address_of(name, asker).as_dict()
    else:
        targets.address_of(name, asker)
        job.goal, job.place = Goal.PLACE, Place.objects.get(name=name.lstrip("#@"))
    goal_of(job)


def goal_of(job: Job) -> Address | None:
    """Where a job's results go; None to keep them where they are made.

    Raises:
        NotPossible: There is no such place at present.
    """
    match job.goal:
        case Goal.NOWHERE:
            return None
        case Goal.ORIGIN:
            return _there(job.asked_at, _("It was asked for nowhere: choose another target."))
        case Goal.HOME:
            home = chats.home_of(job.account)
            return _there(home, _("No home channel is set. `/sethome` in a chat makes it one."))
        case _:
            place = job.place
            is_open = place is not None and (
                place.is_open_to(job.person) if job.person else place.is_enabled
            )
            return _there(
                place.address if place and is_open else None,
                _("The target is not permitted any more. Choose another one."),
            )


def _there(address: Address | None, why: str) -> Address:
    if address is None:
        raise NotPossible(why)
    return address


def store(job: Job, by: By, *, now: datetime) -> None:
    """Store a job that was made or changed; when it comes due next follows from its schedule.

    Raises:
        NotPossible: It could never be carried out.
        BadSchedule: The schedule cannot be kept.
    """
    is_new = job.pk is None
    if is_new:
        job.created_at, job.created_by = now, by.name[:255]
    job.trusted_since = now
    check(job, now=now)
    if job.is_enabled:
        job.problem = ""
    job.next_at = next_instant(job.schedule, now) if job.is_enabled else None
    with transaction.atomic():
        job.save()
        _note("job.added" if is_new else "job.changed", job, by, now)


def check(job: Job, *, now: datetime) -> None:
    """Tidy a job that is not stored yet.

    Raises:
        NotPossible: It could never be carried out.
        BadSchedule: The schedule cannot be kept.
    """
    if job.recurrence == Recurrence.EVERY and job.anchor_at is None:
        job.anchor_at = now
    job.name = _name(job.name or job.prompt)
    _refuse_nonsense(job)
    job.follow(checked(job.schedule))
    goal_of(job)


def _refuse_nonsense(job: Job) -> None:
    if not job.prompt.strip():
        raise NotPossible(_("Say what is to be done then: the text is empty."))
    if len(job.prompt) > LONGEST_PROMPT:
        raise NotPossible(
            _("The text is too long: %(most)s characters are the most.") % {"most": LONGEST_PROMPT}
        )


def pause(job: Job, by: By, *, now: datetime, why: str = "") -> None:
    """Let a job come due no more until it is resumed; a run under way goes on.

    Raises:
        NotPossible: It is paused already.
    """
    with transaction.atomic():
        paused = Job.objects.filter(pk=job.pk, is_enabled=True).update(
            is_enabled=False, next_at=None, problem=why[:500]
        )
        if not paused:
            raise NotPossible(_("Job %(number)s is paused already.") % {"number": job.pk})
        _note("job.paused", job, by, now)
    job.is_enabled, job.next_at, job.problem = False, None, why[:500]


def resume(job: Job, by: By, *, now: datetime) -> None:
    """Let a paused job come due again, from now on: what was missed meanwhile stays left out.

    Raises:
        NotPossible: It is not paused, or its only time has passed.
        BadSchedule: The schedule cannot be kept any more.
    """
    if job.is_enabled:
        raise NotPossible(_("Job %(number)s is not paused.") % {"number": job.pk})
    upcoming = next_instant(checked(job.schedule), now)
    if upcoming is None:
        raise NotPossible(
            _("Its time has passed. Run it now with `/cron run %(number)s`, or make another.")
            % {"number": job.pk}
        )
    goal_of(job)
    with transaction.atomic():
        Job.objects.filter(pk=job.pk).update(
            is_enabled=True, next_at=upcoming, problem="", trusted_since=now
        )
        _note("job.resumed", job, by, now)
    job.is_enabled, job.next_at, job.problem = True, upcoming, ""


def remove(job: Job, by: By, *, now: datetime) -> None:
    """Drop a job with its history; what it has said in chats stays, and a run under way goes on."""
    with transaction.atomic():
        _note("job.removed", job, by, now)
        job.delete()


def run_now(job: Job, by: By, *, now: datetime) -> Run:
    """Run a job by hand, paused or not; when it comes due by itself stays as it was.

    Raises:
        NotPossible: It runs already, its owner may not speak any more, or its target is gone.
    """
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=job.pk)
        if is_busy(job):
            raise NotPossible(_("Job %(number)s runs already.") % {"number": job.pk})
        run = Run(job=job, instant=now, by_hand=by.name[:255], decided=Decided.STARTED, at=now)
        run.turn = begin(job, now=now)
        run.save()
        _note("job.run", job, by, now)
    return run


def is_busy(job: Job) -> bool:
    """Whether a run of it is not over."""
    return open_turns(job) > 0


def open_turns(job: Job) -> int:
    """How many of its runs are not over."""
    return Turn.objects.filter(conversation=job.conversation_id, state__in=OPEN_STATES).count()


def begin(job: Job, *, now: datetime) -> Turn:
    """Queue the work of a job once, in a conversation of its own; in the caller's transaction.

    Raises:
        NotPossible: Its owner may not speak any more, or its target is gone.
    """
    owner = owner_of(job)
    if owner is not None and not may_hear(owner):
        raise NotPossible(_("Its owner may not speak here any more."))
    told = Commission(
        origin=job.asked_at,
        answers=goal_of(job),
        trouble=job.asked_at,
        label=f"⏰ **{escape(job.name)}**",
    )
    here = _conversation(job, told, now)
    if not job.keeps_history and Turn.objects.filter(session=here.session).exists():
        sessions.start_afresh(here, reason="new run", now=now)
    sessions.use_model(here, job.model)
    return turns.enqueue(
        turns.NewTurn(
            conversation=here,
            prompt=job.prompt,
            sender_id=job.owner_id,
            sender_alt=job.owner_alt,
            sender_name=job.owner_name,
            reply_to="",
        ),
        now=now,
    )


def may_hear(asker: Asker) -> bool:
    """Whether somebody may still have the agent work for them, where they asked for it."""
    return access.judge(asker.source).may(Role.MEMBER)


def _conversation(job: Job, told: Commission, now: datetime) -> Conversation:
    here = sessions.find_or_open(place_of(ChatType.CRON, job.pk), title=job.name, now=now)
    sessions.commission(here, told, title=job.name, language=job.language)
    if job.conversation_id != here.pk:
        Job.objects.filter(pk=job.pk).update(conversation=here)
        job.conversation = here
    return here


def place_of(kind: ChatType, number: int) -> KeyFields:
    """The key of a conversation in which nobody sits: on this site, where staff can read it."""
    return KeyFields(
        profile="default",
        platform=CONSOLE,
        account=CONSOLE,
        scope_id="",
        chat_type=kind.value,
        chat_id=f"{kind.value}-{number}",
    )


def move_chat(account: str, old_chat_id: str, new_chat_id: str) -> None:
    """Where jobs were asked for is so under its chat's new id."""
    for job in Job.objects.filter(origin__account=account, origin__chat_id=old_chat_id):
        moved = {**(job.origin or {}), "chat_id": new_chat_id}
        Job.objects.filter(pk=job.pk).update(origin=moved)


def _note(action: str, job: Job, by: By, now: datetime) -> None:
    audit.note(action, actor=by.name, subject=f"job:{job.pk}", now=now, name=job.name)
