"""`manage.py links list|revoke`: people who are one on two platforms."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from delivery.pages import moment
from gateway import admission
from gateway.identity.models import Link
from gateway.identity.states import LinkState
from gateway.management.house import HouseCommand, actor

HEAD = ("number", "state", "first", "second", "since", "history")
NOBODY = "Nobody is linked. A person does it with /link, on both platforms."


class Command(HouseCommand):
    help = "Identity links: who is one person on two platforms, and the end of it."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        listing = verbs.add_parser("list", help="the links in force")
        listing.add_argument("--all", action="store_true", help="also those that ended or lapsed")
        revoke = verbs.add_parser("revoke", help="end a link; both sides are told")
        revoke.add_argument("number", type=int, help="as `links list` shows it")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = Link.objects.order_by("pk").prefetch_related("ends")
        if not options["all"]:
            rows = rows.filter(state=LinkState.LINKED)
        self.table([HEAD, *(_line(row) for row in rows)], NOBODY)

    def _revoke(self, options: dict[str, Any]) -> None:
        link = Link.objects.filter(pk=options["number"]).first()
        if link is None:
            message = f"There is no link {options['number']}. See: manage.py links list"
            raise CommandError(message)
        admission.unlink(link, actor=actor(), now=timezone.now())
        self.say(f"Link {link.pk} has ended; both sides are told.")


def _line(row: Link) -> tuple[str, ...]:
    ends = [str(end) for end in sorted(row.ends.all(), key=lambda end: not end.is_first)]
    first, second = [*ends, "", ""][:2]
    history = "shared" if row.shares else "apart"
    return (str(row.pk), row.state, first, second, moment(row.linked_at), history)
