"""`manage.py prompts list|answer|cancel|expire|extend|resend`: questions put to people."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from clarify import staff, standing
from clarify.models import Prompt
from clarify.states import State
from gateway.management.house import SURFACE, HouseCommand, actor

WORDS = 60  # characters of a question in a list


class Command(HouseCommand):
    help = "Questions put to people: see which are open and why, and act for them."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        listing = verbs.add_parser("list", help="list open questions, the oldest first")
        listing.add_argument("--state", choices=[s.value for s in State], default="pending")
        listing.add_argument("--limit", type=int, default=50)
        answer = verbs.add_parser("answer", help="answer on behalf of the person who was asked")
        answer.add_argument("id", type=int)
        answer.add_argument("text", help="a number, a label, own words; 1b 2a for several")
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
        prompts = Prompt.objects.filter(state=options["state"]).select_related("obligation")
        prompts = prompts.prefetch_related("replies", "obligation__parts").order_by("id")
        for prompt in prompts[: max(1, options["limit"])]:
            is_open = prompt.state == State.PENDING
            why = standing.why_open(prompt.standing, now=now) if is_open else prompt.reason
            rows.append(
                (
                    str(prompt.pk),
                    prompt.kind,
                    prompt.state,
                    str(now - prompt.created_at).partition(".")[0],
                    prompt.asker_name or prompt.asker_id,
                    prompt.question_set.questions[0].text[:WORDS],
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


def _named(number: int) -> Prompt:
    prompt = Prompt.objects.filter(pk=number).first()
    if prompt is None:
        message = f"There is no question {number}. See: manage.py prompts list"
        raise CommandError(message)
    return prompt
