"""`manage.py pairing list|approve|refuse|revoke`: strangers who ask to be let in."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from typing_extensions import override

from delivery.pages import age
from gateway import admission
from gateway.identity import pairing
from gateway.identity.models import Pairing
from gateway.identity.states import PairingState
from gateway.management.house import HouseCommand, actor
from gateway.roles import Role

HEAD = ("number", "state", "account", "person", "called", "role", "asked", "decided by", "why")
NOBODY = "Nobody asks to be let in. A stranger who writes to a bot in private is given a code."


class Command(HouseCommand):
    help = "Pairing: who asks to be let in, and letting them in by the code that they were given."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        listing = verbs.add_parser("list", help="who asks, and who is paired")
        listing.add_argument("--all", action="store_true", help="also what came to nothing")
        approve = verbs.add_parser("approve", help="let in whoever was given this code")
        approve.add_argument("code", help="as they read it to you: ABCD-2345")
        approve.add_argument("--account", help="only if they wrote to this account")
        approve.add_argument(
            "--role",
            choices=[role.value for role in Role],
            default=Role.MEMBER.value,
            help="what they become; nobody becomes more than a member by themselves",
        )
        _which(verbs.add_parser("refuse", help="let a request come to nothing; nobody is told"))
        _which(verbs.add_parser("revoke", help="take it back: counts at once, nobody is told"))

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        now = timezone.now()
        rows = Pairing.objects.order_by("account", "-asked_at")
        if not options["all"]:
            paired = rows.filter(state=PairingState.PAIRED)
            rows = pairing.waiting(now=now).order_by("account", "-asked_at") | paired
        pairing.mark_seen([row for row in rows if row.state == PairingState.ASKED], now=now)
        self.table([HEAD, *(_line(row) for row in rows)], NOBODY)

    def _approve(self, options: dict[str, Any]) -> None:
        account = options["account"]
        among = Pairing.objects.filter(account=account) if account else None
        role = Role(options["role"])
        row = admission.approve(
            options["code"], role=role, actor=actor(), now=timezone.now(), among=among
        )
        self.say(f"{row} may speak from now on, in private, as {role}; they are told.")

    def _refuse(self, options: dict[str, Any]) -> None:
        row = pairing.find(options["which"])
        admission.refuse(row, actor=actor(), now=timezone.now())
        self.say(f"The request of {row} came to nothing.")

    def _revoke(self, options: dict[str, Any]) -> None:
        row = pairing.find(options["which"])
        admission.revoke(row, actor=actor(), now=timezone.now())
        self.say(f"{row} is not paired any more; what waited for them has ended.")


def _which(parser: ArgumentParser) -> None:
    parser.add_argument("which", help="its number (#3), the person's id, or the code it began with")


def _line(row: Pairing) -> tuple[str, ...]:
    asked = f"{age(row.asked_at)} ago"
    who = (row.account, row.user_id, row.user_name)
    return (f"#{row.pk}", row.state, *who, row.role, asked, row.decided_by, row.reason)
