"""`/cron`, `/background` and `/tasks`: what somebody wants is done, and told back to them."""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from clarify.presenting import escape
from clarify.questions import Answerer
from gateway.errors import BadSchedule, NotPossible
from gateway.schedules import background, jobs, saying, words
from gateway.schedules.asking import Asker
from gateway.schedules.jobs import By
from gateway.schedules.models import Job

MOST_LISTED = 20
MOST_RUNS = 5
_NUMBER = re.compile(r"\s*#?(\d{1,12})(?=\s|$)")


@dataclass(frozen=True)
class Wish:
    """What somebody says after a command.

    Attributes:
        words: All of it.
        asker: Who, and where.
        by: The same, as somebody who stops things.
        now: The present.
    """

    words: str
    asker: Asker
    by: Answerer
    now: datetime

    @property
    def zone(self) -> str:
        """Whose clocks count where no time zone is named."""
        return timezone.get_default_timezone_name()


def cron(wish: Wish) -> str:
    """Do what `/cron` says; what the person reads."""
    verb, rest = _split(wish.words)
    verb = verb.lstrip("/") or "list"
    do = VERBS.get(ALIASES.get(verb, verb))
    if do is None:
        return _unknown(verb)
    return _answered(do, _rest(wish, rest))


def _answered(do: Callable[[Wish], str], wish: Wish) -> str:
    try:
        return do(wish)
    except (NotPossible, BadSchedule) as error:
        return str(error)


def _split(said: str) -> tuple[str, str]:
    """The first word, in small letters, and the rest."""
    verb, *rest = said.split(maxsplit=1) or [""]
    return verb.lower(), rest[0] if rest else ""


def _rest(wish: Wish, rest: str) -> Wish:
    return Wish(rest.strip(), wish.asker, wish.by, wish.now)


def _unknown(verb: str) -> str:
    known = [*VERBS, *ALIASES]
    near = difflib.get_close_matches(verb, known, n=1, cutoff=0.7)
    said = _("There is no `/cron %(verb)s`.") % {"verb": escape(verb[:40])}
    if near:
        said = f"{said} " + _("Did you mean `/cron %(verb)s`?") % {"verb": near[0]}
    return f"{said}\n\n{_help()}"


def _help() -> str:
    return "\n".join(
        f"- `{line}`"
        for line in (
            "/cron list",
            "/cron add weekdays at 9:00 " + _("sum up the news"),
            "/cron add --to home every 2h " + _("look at the mail"),
            "/cron show 3",
            "/cron pause 3",
            "/cron resume 3",
            "/cron run 3",
            "/cron remove 3",
        )
    )


def _list(wish: Wish) -> str:
    mine = sorted(jobs.of_person(wish.asker), key=lambda job: job.is_done)
    if not mine:
        return _("You have no jobs yet. This is how they are made:") + f"\n\n{_help()}"
    lines = [f"- {words.line(job, zone=wish.zone)}" for job in mine[:MOST_LISTED]]
    if len(mine) > MOST_LISTED:
        lines.append(_("… and %(n)s more") % {"n": len(mine) - MOST_LISTED})
    return "\n".join(lines)


def _add(wish: Wish) -> str:
    if not wish.words:
        return saying.HOW
    said = saying.read(wish.words, zone=wish.zone, now=wish.now)
    job = jobs.order(said, wish.asker, now=wish.now)
    return "\n".join(
        (
            _("⏰ Job %(number)s: **%(name)s**") % {"number": job.pk, "name": escape(job.name)},
            "",
            f"- {words.schedule(job, zone=wish.zone)}",
            f"- {words.upcoming(job, zone=wish.zone)}",
            "- " + _("result: %(where)s") % {"where": words.at_goal(job, wish.asker.origin)},
        )
    )


def _show(wish: Wish) -> str:
    job = _meant(wish)
    lines = [
        f"⏰ `{job.pk}` **{escape(job.name)}**",
        "",
        f"- {words.schedule(job, zone=wish.zone)}",
        f"- {words.upcoming(job, zone=wish.zone)}",
        "- " + _("result: %(where)s") % {"where": words.at_goal(job, wish.asker.origin)},
        "- " + _("asks: %(prompt)s") % {"prompt": escape(job.prompt[:300])},
    ]
    for run in job.runs.select_related("turn")[:MOST_RUNS]:
        at = words.instant(run.instant, words.zone_for(job, wish.zone))
        lines.append(f"- {at}: {escape(words.outcome(run))}")
    return "\n".join(lines)


def _pause(wish: Wish) -> str:
    job = _meant(wish)
    jobs.pause(job, _by(wish), now=wish.now)
    return _("Paused: %(name)s. `/cron resume %(number)s` lets it go on.") % _named(job)


def _resume(wish: Wish) -> str:
    job = _meant(wish)
    jobs.resume(job, _by(wish), now=wish.now)
    return _("%(name)s goes on; %(next)s.") % {
        **_named(job),
        "next": words.upcoming(job, zone=wish.zone),
    }


def _run(wish: Wish) -> str:
    job = _meant(wish)
    jobs.run_now(job, _by(wish), now=wish.now)
    return _("%(name)s runs now.") % _named(job)


def _remove(wish: Wish) -> str:
    job = _meant(wish)
    named = _named(job)
    jobs.remove(job, _by(wish), now=wish.now)
    return _("Removed: %(name)s.") % named


VERBS: dict[str, Callable[[Wish], str]] = {
    "list": _list,
    "add": _add,
    "show": _show,
    "pause": _pause,
    "resume": _resume,
    "run": _run,
    "remove": _remove,
    "help": lambda _wish: _help(),
}
ALIASES = {
    "ls": "list",
    "new": "add",
    "create": "add",
    "history": "show",
    "stop": "pause",
    "disable": "pause",
    "enable": "resume",
    "start": "resume",
    "now": "run",
    "rm": "remove",
    "delete": "remove",
    "cancel": "remove",
}


def _named(job: Job) -> dict[str, object]:
    return {"name": f"**{escape(job.name)}**", "number": job.pk}


def _by(wish: Wish) -> By:
    return By(wish.asker.person, wish.asker)


def _meant(wish: Wish) -> Job:
    """The job whose number stands first.

    Raises:
        NotPossible: There is no number, or no such job of theirs.
    """
    found = _NUMBER.match(wish.words)
    if found is None:
        raise NotPossible(_("Say which job by its number; `/cron list` shows them."))
    return jobs.find(int(found.group(1)), wish.asker)


def start(wish: Wish) -> str:
    """Do what `/background` says; what the person reads."""
    return _answered(_start, wish)


def _start(wish: Wish) -> str:
    task = background.start(wish.words, wish.asker, now=wish.now)
    return _(
        "🧵 Task %(number)s works in the background; its result comes here. `/tasks` shows it,"
        " `/tasks stop %(number)s` ends it."
    ) % {"number": task.pk}


def tasks(wish: Wish) -> str:
    """Do what `/tasks` says; what the person reads."""
    verb, rest = _split(wish.words)
    if not verb or verb == "list":
        return _tasks(wish)
    if verb in {"stop", "cancel", "kill", "end"}:
        return _answered(_stop, _rest(wish, rest))
    return _("Say `/tasks`, `/tasks stop 3` or `/tasks stop all`.")


def _tasks(wish: Wish) -> str:
    under_way = background.of_person(wish.asker)
    over = background.last_of_person(wish.asker, MOST_RUNS)
    if not under_way and not over:
        return _("No tasks. `/background find out …` begins one.")
    return "\n".join(
        f"- `{task.pk}` {words.task_state(task)}: {escape(task.prompt[:80])}"
        for task in [*under_way, *over]
    )


def _stop(wish: Wish) -> str:
    if wish.words.lower() == "all":
        count = background.stop_all(wish.asker, by=wish.by, now=wish.now)
        return _("⏹ Tasks ended: %(n)s.") % {"n": count}
    found = _NUMBER.match(wish.words)
    if found is None:
        raise NotPossible(_("Say which task by its number; `/tasks` shows them."))
    task = background.stop(int(found.group(1)), wish.asker, by=wish.by, now=wish.now)
    return _("⏹ Task %(n)s is ended.") % {"n": task.pk}
