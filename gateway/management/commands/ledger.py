"""`manage.py ledger list|retry|abandon`: what is owed."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from delivery import staff
from delivery.models import Obligation
from delivery.states import State
from gateway.management.house import HouseCommand, actor

SHORTEST_PREFIX = 6


class Command(HouseCommand):
    help = "Deliveries: list what is owed, try it again, give it up."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        listing = verbs.add_parser("list", help="list what is owed, the oldest first")
        states = [state.value for state in State]
        listing.add_argument(
            "--state",
            choices=["open", *states],
            default="open",
            help="open (the default): all that are neither delivered nor given up",
        )
        listing.add_argument("--account", default="")
        listing.add_argument("--limit", type=int, default=50)
        retry = verbs.add_parser("retry", help="owe what was given up again, or try now")
        retry.add_argument("ids", nargs="+", metavar="ID", help="delivery id, or its beginning")
        abandon = verbs.add_parser("abandon", help="give up what is owed")
        abandon.add_argument("ids", nargs="+", metavar="ID", help="delivery id, or its beginning")
        abandon.add_argument("--reason", default="", help="for whoever reads it later")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        rows: list[tuple[str, ...]] = [("id", "state", "kind", "account", "chat", "age", "why")]
        now = timezone.now()
        for obligation in _chosen(options):
            age = str(now - obligation.created_at).partition(".")[0]
            rows.append(
                (
                    obligation.delivery_id[:12],
                    obligation.state,
                    obligation.kind,
                    obligation.account,
                    obligation.chat_id,
                    age,
                    obligation.reason or obligation.last_error,
                )
            )
        self.table(rows, "Nothing is owed.")

    def _retry(self, options: dict[str, Any]) -> None:
        for obligation in [_named(name) for name in options["ids"]]:
            staff.retry(obligation, actor=actor(), now=timezone.now())
            self.say(f"{obligation.delivery_id[:12]} is owed again and due now.")

    def _abandon(self, options: dict[str, Any]) -> None:
        for obligation in [_named(name) for name in options["ids"]]:
            staff.abandon(obligation, reason=options["reason"], actor=actor(), now=timezone.now())
            self.say(f"{obligation.delivery_id[:12]} is given up.")


def _chosen(options: dict[str, Any]) -> list[Obligation]:
    rows = Obligation.objects.order_by("id")
    if options["state"] == "open":
        rows = rows.filter(state__in=[State.PENDING, State.ATTEMPTING, State.FAILED])
    else:
        rows = rows.filter(state=options["state"])
    if options["account"]:
        rows = rows.filter(account=options["account"])
    return list(rows[: max(1, options["limit"])])


def _named(name: str) -> Obligation:
    if len(name) < SHORTEST_PREFIX:
        message = f"{name!r} is too short: give at least {SHORTEST_PREFIX} characters of the id."
        raise CommandError(message)
    found = list(Obligation.objects.filter(delivery_id__startswith=name.lower())[:2])
    if len(found) != 1:
        what = "names more than one delivery" if found else "names no delivery"
        message = f"{name!r} {what}. See: manage.py ledger list"
        raise CommandError(message)
    return found[0]
