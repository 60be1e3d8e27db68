"""`manage.py account add|list|test|enable|disable`."""

import getpass
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from gateway import accounts, probing, staff
from gateway.management.house import HouseCommand, actor
from gateway.models import Account

STDIN_HELP = (
    "read the credential from standard input; without it, it is asked for at the terminal"
    " (never give it as an argument: others on this host could read it)"
)


class Command(HouseCommand):
    help = "Accounts on platforms: make, list, try, enable and disable them."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        add = verbs.add_parser("add", help="make an account, or change the one of that name")
        add.add_argument("slug", help="its name here, for example telegram")
        add.add_argument("platform", help="for example telegram")
        add.add_argument("--secret-stdin", action="store_true", help=STDIN_HELP)
        add.add_argument(
            "--keep-secret", action="store_true", help="change the options, not the credential"
        )
        add.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="one of the platform's own settings; an empty value removes it",
        )
        verbs.add_parser("list", help="list all accounts")
        for verb, words in (
            ("test", "connect once with its credential, and say who it is"),
            ("enable", "let a gateway process serve it"),
            ("disable", "let no process serve it; what it owes waits"),
        ):
            verbs.add_parser(verb, help=words).add_argument("slug")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _add(self, options: dict[str, Any]) -> None:
        known = Account.objects.filter(slug=options["slug"]).first()
        facts = staff.AccountFacts(
            slug=options["slug"],
            platform=options["platform"],
            secret=""
            if options["keep_secret"]
            else _read_secret(from_stdin=options["secret_stdin"]),
            options=_merged(known.options if known else {}, options["option"]),
        )
        account = staff.save_account(facts, actor=actor(), now=timezone.now())
        self.say(f"{account.slug} is stored. Try it: manage.py account test {account.slug}")

    def _list(self, options: dict[str, Any]) -> None:
        del options
        rows: list[tuple[str, ...]] = [("name", "platform", "state", "bot", "last error")]
        for account in Account.objects.all():
            state = account.state if account.is_enabled else "disabled"
            rows.append(
                (account.slug, account.platform, state, account.bot_name, account.last_error)
            )
        self.table(rows, "There is no account. Make one: manage.py account add telegram telegram")

    def _test(self, options: dict[str, Any]) -> None:
        account = named(options["slug"])
        identity = probing.connect_once(accounts.config_of(account), account.platform)
        self.say(
            f"{account.slug} is {identity.user_name} ({identity.user_id}): the credential works."
        )

    def _enable(self, options: dict[str, Any]) -> None:
        staff.enable_account(named(options["slug"]), actor=actor(), now=timezone.now())
        self.say(f"{options['slug']} is enabled; a gateway process connects it within seconds.")

    def _disable(self, options: dict[str, Any]) -> None:
        staff.disable_account(named(options["slug"]), actor=actor(), now=timezone.now())
        self.say(f"{options['slug']} is disabled; what it owes waits.")


def named(slug: str) -> Account:
    """The account of that name.

    Raises:
        CommandError: There is none; the message lists those there are.
    """
    account = Account.objects.filter(slug=slug).first()
    if account is None:
        known = ", ".join(Account.objects.values_list("slug", flat=True)) or "none"
        message = f"There is no account {slug!r}. There are: {known}."
        raise CommandError(message)
    return account


def _read_secret(*, from_stdin: bool) -> str:
    if from_stdin or not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    return getpass.getpass("Credential (not shown): ").strip()


def _merged(known: dict[str, str], pairs: list[str]) -> dict[str, str]:
    merged = dict(known)
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            message = f"--option takes NAME=VALUE, not {pair!r}."
            raise CommandError(message)
        merged[name] = value
    return {name: value for name, value in merged.items() if value}
