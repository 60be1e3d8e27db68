"""`manage.py prompts …`: questions and approvals put to people, and what can be done to them."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from clarify import listing, staff, standing
from clarify.models import Prompt
from clarify.states import State
from gateway import prompting
from gateway.management.house import SURFACE, HouseCommand, actor

WORDS = 60  # characters of a question in a list


class Command(HouseCommand):
    help = "Questions and approvals put to people: see which are open and why, and act."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        shown = verbs.add_parser("list", help="list open questions, those that end first before")
        shown.add_argument("--state", choices=[s.value for s in State], default="pending")
        shown.add_argument("--limit", type=int, default=50)
        answer = verbs.add_parser("answer", help="answer on behalf of the person who was asked")
        answer.add_argument("id", type=int)
        answer.add_argument("text", help="a number, a label, own words; 1b 2a for several")
        approve = verbs.add_parser("approve", help="let an operation run once, in your own name")
        approve.add_argument("id", type=int)
        deny = verbs.add_parser("deny", help="do not let an operation run; the agent is told")
        deny.add_argument("id", type=int)
        deny.add_argument("reason", nargs="?", default="", help="why not, for the agent")
        for verb, words in (
            ("cancel", "withdraw it; the agent goes on without an answer"),
            ("expire", "close it as if its time had run out"),
            ("resend", "show it again"),
        ):
            verbs.add_parser(verb, help=words).add_argument("id", type=int)
        extend = verbs.add_parser("extend", help="give more time to answer")
        extend.add_argument("id", type=int)
        extend.add_argument("minutes", type=int)

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        now = timezone.now()
        rows: list[tuple[str, ...]] = [("id", "kind", "state", "age", "asked", "question", "why")]
        for prompt in _listed(options):
            why = standing.why_open(prompt.standing, now=now) if prompt.is_open else prompt.reason
            rows.append(
                (
                    str(prompt.pk),
                    prompt.kind,
                    prompt.state,
                    str(now - prompt.created_at).partition(".")[0],
                    prompt.asker_name or prompt.asker_id,
                    _gist(prompt)[:WORDS],
                    why,
                )
            )
        self.table(rows, f"No question is {options['state']}.")

    def _answer(self, options: dict[str, Any]) -> None:
        words = staff.answer(
            _named(options["id"]),
            options["text"],
            actor=actor(),
            surface=SURFACE,
            now=timezone.now(),
        )
        self.say(words)

    def _approve(self, options: dict[str, Any]) -> None:
        self._rule(options, approved=True)

    def _deny(self, options: dict[str, Any]) -> None:
        self._rule(options, approved=False)

    def _rule(self, options: dict[str, Any], *, approved: bool) -> None:
        """Whoever has this shell may approve whatever the agent asks for."""
        prompt = _named(options["id"])
        words = staff.rule(
            prompt,
            approved=approved,
            reason=options.get("reason", ""),
            actor=actor(),
            surface=SURFACE,
            now=timezone.now(),
        )
        self.say(f"{_gist(prompt)}: {words}")

    def _cancel(self, options: dict[str, Any]) -> None:
        staff.cancel(_named(options["id"]), actor=actor(), surface=SURFACE, now=timezone.now())
        self.say(f"Question {options['id']} is cancelled; the agent is told.")

    def _expire(self, options: dict[str, Any]) -> None:
        staff.expire(_named(options["id"]), actor=actor(), surface=SURFACE, now=timezone.now())
        self.say(f"Question {options['id']} is expired; the agent is told.")

    def _extend(self, options: dict[str, Any]) -> None:
        until = staff.extend(
            _named(options["id"]),
            by=timedelta(minutes=options["minutes"]),
            actor=actor(),
            now=timezone.now(),
        )
        local = timezone.localtime(until)
        self.say(f"Question {options['id']} is open until {local:%Y-%m-%d %H:%M:%S}.")

    def _resend(self, options: dict[str, Any]) -> None:
        staff.resend(_named(options["id"]), actor=actor(), now=timezone.now())
        self.say(f"Question {options['id']} is shown again.")


def _listed(options: dict[str, Any]) -> list[Prompt]:
    is_open = options["state"] == State.PENDING
    rows = listing.with_standing(Prompt.objects.filter(state=options["state"]))
    rows = rows.order_by(*(listing.MOST_URGENT_FIRST if is_open else ("-id",)))
    prompts = list(rows[: max(1, options["limit"])])
    prompting.mark_barred(prompts)
    return prompts


def _gist(prompt: Prompt) -> str:
    """What is asked, or the operation with its risk."""
    return f"[{prompt.what.level} risk] {prompt.gist}" if prompt.is_approval else prompt.gist


def _named(number: int) -> Prompt:
    prompt = Prompt.objects.filter(pk=number).first()
    if prompt is None:
        message = f"There is no question {number}. See: manage.py prompts list"
        raise CommandError(message)
    return prompt
