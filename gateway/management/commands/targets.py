"""`manage.py targets add|remove|list`: where people's jobs and the agent may send to."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from gateway.management.house import HouseCommand, actor
from gateway.schedules import targets
from gateway.schedules.models import Place


class Command(HouseCommand):
    help = "Permitted targets: add, remove and list the places that may be sent to by name."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        add = verbs.add_parser("add", help="permit a place, or change what its name stands for")
        add.add_argument("name", help="what people and agents call it")
        add.add_argument("account", help="the account that sends there")
        add.add_argument("chat", help="the chat's id there")
        add.add_argument("--thread", default="", help="the thread's id in it")
        add.add_argument("--workspace", default="", help="the workspace, guild or tenant it is in")
        add.add_argument("--chat-type", choices=("dm", "group", "channel"), default="group")
        add.add_argument(
            "--only-for",
            nargs="*",
            default=[],
            metavar="PLATFORM:ID",
            help="the people who may send there; without it, everybody who may speak",
        )
        add.add_argument("--note", default="", help="what it is, for people")
        verbs.add_parser("remove", help="permit it no more").add_argument("name")
        verbs.add_parser("list", help="all of them")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _add(self, options: dict[str, Any]) -> None:
        name = options["name"].lower()
        place = Place.objects.filter(name=name).first() or Place(name=name)
        place.account, place.chat_id = options["account"], options["chat"]
        place.thread_id, place.scope_id = options["thread"], options["workspace"]
        place.chat_type, place.note = options["chat_type"], options["note"]
        place.only_for = "\n".join(options["only_for"])
        targets.store(place, actor=actor(), now=timezone.now())
        self.say(f"{place.name} may be sent to from now on, by {_who(place)}.")

    def _remove(self, options: dict[str, Any]) -> None:
        place = Place.objects.filter(name=options["name"].lower()).first()
        if place is None:
            message = f"There is no target {options['name']!r}. See: manage.py targets list"
            raise CommandError(message)
        targets.remove(place, actor=actor(), now=timezone.now())
        self.say(f"{place.name} may not be sent to any more.")

    def _list(self, _options: dict[str, Any]) -> None:
        rows: list[tuple[str, ...]] = [("name", "account", "chat", "thread", "for", "note")]
        rows += [
            (
                *(place.name, place.account, place.chat_id, place.thread_id),
                *(_who(place), place.note),
            )
            for place in Place.objects.all()
        ]
        self.table(rows, "No place is permitted. Add: manage.py targets add ops telegram -1001234")


def _who(place: Place) -> str:
    return ", ".join(place.only_for.split()) or "everybody who may speak"
