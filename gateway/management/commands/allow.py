"""`manage.py allow add|remove|list`: who may reach the agent."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from clarify.risks import RiskLevel
from gateway import access, platforms, staff
from gateway.management.house import HouseCommand, actor
from gateway.models import AllowEntry
from gateway.roles import Role

FIELDS = ("account", "scope_id", "chat_id", "user_id", "commands")


class Command(HouseCommand):
    help = "The allowlist: add, remove and list who may reach the agent."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        add = verbs.add_parser("add", help="let a person, or everybody in a chat, speak")
        _who(add)
        add.add_argument("--note", default="", help="who that is, for staff")
        add.add_argument(
            "--role",
            choices=[role.value for role in Role],
            help="viewer: only reads how things stand; member (the default): speaks, and approves"
            " what the agent does for them; approver: also what it does for others; admin: also"
            " lets others in. Changes the entry if there is one",
        )
        add.add_argument(
            "--approves-up-to",
            choices=[level.value for level in RiskLevel],
            help="the highest risk they may approve; without it, that of the role",
        )
        add.add_argument(
            "--tools-up-to",
            choices=[level.value for level in RiskLevel],
            help="the highest risk of what the agent may do for them, approved or not",
        )
        add.add_argument(
            "--bot", action="store_true", help="it is a bot, whose messages may begin turns"
        )
        _who(verbs.add_parser("remove", help="take it back; counts from the next message on"))
        verbs.add_parser("list", help="list all entries").add_argument("platform", nargs="?")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _add(self, options: dict[str, Any]) -> None:
        platforms.get(options["platform"])
        fields = _fields(options)
        if not fields["user_id"] and not fields["chat_id"]:
            message = "Name a person's id, or --chat-id to let everybody in that chat speak."
            raise CommandError(message)
        entry = _changed(options, fields) or AllowEntry(platform=options["platform"], **fields)
        entry.note = options["note"] or entry.note
        entry.role = options["role"] or entry.role
        entry.approves_up_to = options["approves_up_to"] or entry.approves_up_to
        entry.tools_up_to = options["tools_up_to"] or entry.tools_up_to
        entry.is_for_bot = options["bot"] or entry.is_for_bot
        staff.allow(entry, actor=actor(), now=timezone.now())
        self.say(
            f"{entry} may {_may(entry)} from the next message on, and approve"
            f" {access.approves(entry)}."
        )

    def _remove(self, options: dict[str, Any]) -> None:
        entry = AllowEntry.objects.filter(platform=options["platform"], **_fields(options)).first()
        if entry is None:
            message = (
                "There is no such entry; an entry is named by all of its fields."
                " See: manage.py allow list"
            )
            raise CommandError(message)
        staff.disallow(entry, actor=actor(), now=timezone.now())
        self.say(f"{entry} may not speak any more, unless another entry allows it.")

    def _list(self, options: dict[str, Any]) -> None:
        head = (
            *("platform", "person", "account", "scope", "chat", "role", "only", "approves"),
            *("agent may", "note", "from"),
        )
        rows: list[tuple[str, ...]] = [head]
        entries = AllowEntry.objects.order_by("platform", "pk")
        if options["platform"]:
            entries = entries.filter(platform=options["platform"])
        for entry in entries:
            origin = "environment" if entry.from_environment else "staff"
            who = entry.user_id or "everybody"
            place = (entry.account, entry.scope_id, entry.chat_id)
            role = f"{entry.role} (bot)" if entry.is_for_bot else entry.role
            most = f"up to {entry.tools_up_to}" if entry.tools_up_to else "anything"
            may = (role, entry.commands, access.approves(entry), most)
            rows.append((entry.platform, who, *place, *may, entry.note, origin))
        self.table(rows, "Nobody is on the allowlist. Add: manage.py allow add telegram 12345")


def _may(entry: AllowEntry) -> str:
    """What an entry lets a person do."""
    if entry.commands:
        return f"give these commands only: {entry.commands}"
    return "read how things stand" if entry.role == Role.VIEWER else "speak"


def _changed(options: dict[str, Any], fields: dict[str, str]) -> AllowEntry | None:
    """The entry that is there already, if what it lets somebody approve is to be changed."""
    changes = ("role", "approves_up_to", "tools_up_to", "bot")
    if not any(options[name] for name in changes):
        return None
    return AllowEntry.objects.filter(platform=options["platform"], **fields).first()


def _who(parser: ArgumentParser) -> None:
    parser.add_argument("platform", help="for example telegram")
    parser.add_argument(
        "user_id", nargs="?", default="", help="the person's id there (they see it with /whoami)"
    )
    parser.add_argument("--account", default="", help="only through this account")
    parser.add_argument("--scope-id", default="", help="only in this workspace, guild or tenant")
    parser.add_argument("--chat-id", default="", help="only in this chat")
    parser.add_argument(
        "--commands", default="", help="these commands only, and no plain words: 'status help'"
    )


def _fields(options: dict[str, Any]) -> dict[str, str]:
    return {name: options[name] for name in FIELDS}
