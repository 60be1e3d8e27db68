"""`manage.py cron …`: scheduled jobs, as `/cron` in a chat and the admin have them."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from gateway.errors import NotPossible
from gateway.management.house import HouseCommand, actor
from gateway.schedules import jobs, saying, words
from gateway.schedules.jobs import By
from gateway.schedules.models import Goal, Job, Missed, Overlap, Place

MOST_RUNS = 20


class Command(HouseCommand):
    help = "Scheduled jobs: list, add, show, pause, resume, run and remove them."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        verbs.add_parser("list", help="all jobs, with when they come due next")
        add = verbs.add_parser("add", help="make a job that belongs to no person")
        add.add_argument("when", help="'every 2h', 'weekdays at 9:00', '30 8 * * 1-5', …")
        add.add_argument("prompt", help="what the agent is told each time")
        add.add_argument(
            "--to",
            default="none",
            help="where the result goes: none (the default; it can be read in the admin), the name"
            " of a permitted target, or home:ACCOUNT for the home channel of an account",
        )
        add.add_argument("--time-zone", default="", help="whose clocks count, e.g. Europe/Berlin")
        add.add_argument("--name", default="", help="what stands over each result")
        add.add_argument("--model", default="", help="the model that does it")
        add.add_argument("--if-missed", choices=Missed.values, default=Missed.RUN.value)
        add.add_argument("--if-busy", choices=Overlap.values, default=Overlap.SKIP.value)
        add.add_argument(
            "--remember", action="store_true", help="go on from the last run's history"
        )
        for verb, what in (
            ("show", "a job and its last runs"),
            ("pause", "let it come due no more"),
            ("resume", "let it come due again"),
            ("run", "run it now, paused or not"),
            ("remove", "drop it with its history"),
        ):
            verbs.add_parser(verb, help=what).add_argument("number", type=int)

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _list(self, _options: dict[str, Any]) -> None:
        rows: list[tuple[str, ...]] = [("number", "name", "when", "next", "result", "owner")]
        for job in Job.objects.select_related("place").order_by("pk"):
            when, upcoming = _plain(words.schedule(job, zone=_zone())), _upcoming(job)
            rows.append(
                (str(job.pk), job.name, when, upcoming, words.goal(job), job.person or "staff")
            )
        self.table(
            rows, "There are no jobs. Add one: manage.py cron add 'daily at 9:00' 'Say hello'"
        )

    def _add(self, options: dict[str, Any]) -> None:
        zone = options["time_zone"] or _zone()
        said = saying.read(f"{options['when']}: {options['prompt']}", zone=zone, now=timezone.now())
        job = Job(
            name=options["name"],
            prompt=said.words,
            model=options["model"],
            missed=options["if_missed"],
            overlap=options["if_busy"],
            keeps_history=options["remember"],
        )
        job.follow(said.schedule)
        _aim(job, options["to"])
        jobs.store(job, _by(), now=timezone.now())
        self.say(f"Job {job.pk} ({job.name}): {_plain(words.schedule(job, zone=zone))}.")
        self.say(f"{_upcoming(job)}; result {words.goal(job)}.")

    def _show(self, options: dict[str, Any]) -> None:
        job = _job(options)
        self.say(f"{job.pk}: {job.name}")
        self.say(f"  {_plain(words.schedule(job, zone=_zone()))}; {_upcoming(job)}")
        self.say(f"  result {words.goal(job)}; of {job.person or 'staff'}")
        self.say(f"  asks: {job.prompt}")
        rows: list[tuple[str, ...]] = [("due", "what became of it", "turn", "by hand")]
        for run in job.runs.select_related("turn")[:MOST_RUNS]:
            turn = str(run.turn_id or "–")
            due = words.instant(run.instant, words.zone_for(job, _zone()))
            rows.append((due, words.outcome(run), turn, run.by_hand))
        self.table(rows, "It has not run yet.")

    def _pause(self, options: dict[str, Any]) -> None:
        job = _job(options)
        jobs.pause(job, _by(), now=timezone.now())
        self.say(f"Paused: {job.name}. To let it go on: manage.py cron resume {job.pk}")

    def _resume(self, options: dict[str, Any]) -> None:
        job = _job(options)
        jobs.resume(job, _by(), now=timezone.now())
        self.say(f"{job.name}: {_upcoming(job)}.")

    def _run(self, options: dict[str, Any]) -> None:
        job = _job(options)
        run = jobs.run_now(job, _by(), now=timezone.now())
        self.say(f"{job.name} runs now. To follow it: manage.py explain turn:{run.turn_id}")

    def _remove(self, options: dict[str, Any]) -> None:
        job = _job(options)
        name = job.name
        jobs.remove(job, _by(), now=timezone.now())
        self.say(f"Removed: {name}.")


def _aim(job: Job, target: str) -> None:
    home = target.partition(":")[2] if target.startswith("home:") else ""
    if home:
        job.goal, job.account = Goal.HOME, home
    elif target == "none":
        job.goal = Goal.NOWHERE
    else:
        job.goal, job.place = Goal.PLACE, Place.objects.filter(name=target.lower()).first()
        if job.place is None:
            names = ", ".join(Place.objects.values_list("name", flat=True)) or "none yet"
            message = (
                f"There is no permitted target {target!r}; there are: {names}. They are made in the"
                " admin, or by: manage.py targets add"
            )
            raise NotPossible(message)


def _job(options: dict[str, Any]) -> Job:
    found = Job.objects.filter(pk=options["number"]).select_related("place").first()
    if found is None:
        message = f"There is no job {options['number']}. See: manage.py cron list"
        raise CommandError(message)
    return found


def _upcoming(job: Job) -> str:
    return words.upcoming(job, zone=_zone())


def _plain(markdown: str) -> str:
    return markdown.replace("`", "")


def _zone() -> str:
    return timezone.get_default_timezone_name()


def _by() -> By:
    return By(actor())
