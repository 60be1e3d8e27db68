"""`manage.py webhook create|change|list|show|rotate|enable|disable|test`."""

import getpass
import sys
from argparse import ArgumentParser
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from gateway.management.house import HouseCommand, actor
from gateway.webhooks import endpoints, trying
from gateway.webhooks.endpoints import Stored
from gateway.webhooks.models import Endpoint, Goal

OPTIONS = (
    *("signature_header", "signature_prefix", "encoding", "timestamp_from", "id_from"),
    *("event_from", "needs_id", "shares_history", "tolerance", "per_minute", "max_bytes"),
)
STDIN_HELP = (
    "read a secret that the sender has already from standard input; without it one is made, and"
    " shown this once"
)


class Command(HouseCommand):
    help = "Endpoints for signed webhooks: make, change, list, rotate, switch and try them."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        create = verbs.add_parser("create", help="make an endpoint, and show its secret once")
        create.add_argument("name", help="part of its address, for example deploys")
        create.add_argument(
            "--scheme",
            choices=trying.SCHEMES,
            default=trying.USUAL_SCHEME,
            help="how the sender signs (default: standard)",
        )
        create.add_argument("--secret-stdin", action="store_true", help=STDIN_HELP)
        _settings(create)
        change = verbs.add_parser("change", help="change the settings named; the rest stays")
        change.add_argument("name")
        _settings(change)
        verbs.add_parser("list", help="list all endpoints")
        show = verbs.add_parser("show", help="its settings, and a script that posts to it")
        show.add_argument("name")
        rotate = verbs.add_parser("rotate", help="give it another secret, shown once")
        rotate.add_argument("name")
        rotate.add_argument("--secret-stdin", action="store_true", help=STDIN_HELP)
        rotate.add_argument(
            "--grace-hours", type=float, default=24.0, help="how long the present one still counts"
        )
        for verb, words in (("enable", "let it take events"), ("disable", "let it take none")):
            verbs.add_parser(verb, help=words).add_argument("name")
        test = verbs.add_parser("test", help="sign an event with its secret; see what comes of it")
        test.add_argument("name")
        test.add_argument("--body", metavar="FILE", help="the JSON to post; - for standard input")
        test.add_argument("--event", default="test", help="its kind, where a header says it")
        test.add_argument("--run", action="store_true", help="take it in: its turn will run")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _create(self, options: dict[str, Any]) -> None:
        if Endpoint.objects.filter(name=options["name"]).exists():
            message = f"There is an endpoint {options['name']} already; see: manage.py webhook show"
            raise CommandError(message)
        endpoint = Endpoint(name=options["name"], scheme=options["scheme"])
        _apply(endpoint, options)
        given = _secret(options["secret_stdin"])
        stored = endpoints.create(endpoint, secret=given, actor=actor(), now=timezone.now())
        self.say(f"{endpoint.name} listens at {endpoints.url_of(endpoint)}")
        self._tell_secret(stored, is_given=bool(given))
        self.say(f"Try it: manage.py webhook test {endpoint.name}")

    def _tell_secret(self, stored: Stored, *, is_given: bool) -> None:
        if is_given:
            self.say("Its secret is the one you gave; it is encrypted and never shown.")
            return
        self.say(f"Its secret, shown this once: {stored.secret}")

    def _change(self, options: dict[str, Any]) -> None:
        endpoint = endpoints.named(options["name"])
        _apply(endpoint, options)
        endpoints.change(endpoint, actor=actor(), now=timezone.now())
        self.say(f"{endpoint.name} is changed; that counts from the next event on.")

    def _list(self, options: dict[str, Any]) -> None:
        del options
        rows: list[tuple[str, ...]] = [("name", "scheme", "state", "answers go to", "last refusal")]
        rows += [
            (
                endpoint.name,
                endpoint.scheme,
                "enabled" if endpoint.is_enabled else "disabled",
                " ".join(filter(None, (endpoint.goal, endpoint.account, endpoint.chat_id))),
                endpoint.last_refusal[:60],
            )
            for endpoint in Endpoint.objects.all()
        ]
        self.table(rows, "There is no endpoint. Make one: manage.py webhook create deploys")

    def _show(self, options: dict[str, Any]) -> None:
        endpoint = endpoints.named(options["name"])
        self.say(f"{endpoint.name} listens at {endpoints.url_of(endpoint)}")
        for name in ("scheme", "is_enabled", "goal", "account", "chat_id", "thread_id", *OPTIONS):
            self.say(f"  {name}: {getattr(endpoint, name)}")
        self.say(f"  events: {' '.join(endpoint.events.split()) or 'all'}")
        self.say(f"  template: {endpoint.template or 'the usual one'}")
        self.say("\nTo post to it from a shell, with its secret in SECRET:\n")
        self.say(trying.script(endpoint))

    def _rotate(self, options: dict[str, Any]) -> None:
        endpoint = endpoints.named(options["name"])
        given = _secret(options["secret_stdin"])
        grace = timedelta(hours=max(options["grace_hours"], 0.0))
        stored = endpoints.rotate(
            endpoint, secret=given, grace=grace, actor=actor(), now=timezone.now()
        )
        self._tell_secret(stored, is_given=bool(given))
        if endpoint.former_until:
            until = timezone.localtime(endpoint.former_until)
            self.say(f"The former secret counts as well until {until:%Y-%m-%d %H:%M}.")

    def _enable(self, options: dict[str, Any]) -> None:
        endpoint = endpoints.named(options["name"])
        endpoints.switch(endpoint, is_enabled=True, actor=actor(), now=timezone.now())
        self.say(f"{endpoint.name} takes events from now on.")

    def _disable(self, options: dict[str, Any]) -> None:
        endpoint = endpoints.named(options["name"])
        endpoints.switch(endpoint, is_enabled=False, actor=actor(), now=timezone.now())
        self.say(f"{endpoint.name} takes no events; its sender gets 404.")

    def _test(self, options: dict[str, Any]) -> None:
        endpoint, now = endpoints.named(options["name"]), timezone.now()
        request = trying.sample(endpoint, _body(options["body"]), options["event"], now=now)
        tried = trying.foresee(endpoint, request, now=now)
        self.say(f"The event is called {tried.event or '(nothing)'}.")
        if not tried.is_wanted:
            self.say("The filter lets it begin no turn.")
        self.say(f"What the agent is told:\n\n{tried.prompt}\n")
        if not options["run"]:
            self.say("Nothing was stored. With --run it is taken in, and its turn runs.")
            return
        taken = trying.send(endpoint, request, now=now)
        self.say(f"Taken: {taken.status.value}, as {taken.event_id}.")


def _settings(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--event",
        action="append",
        dest="events",
        metavar="KIND",
        help="a kind of event that begins a turn, * for anything; may be given several times",
    )
    parser.add_argument("--template-file", metavar="FILE", help="what the agent is told")
    goal = parser.add_mutually_exclusive_group()
    goal.add_argument("--home", metavar="ACCOUNT", help="answers go to its home channel")
    goal.add_argument(
        "--chat",
        nargs="+",
        metavar=("ACCOUNT", "CHAT"),
        help="answers go to that chat, or (a third word) to that thread of it",
    )
    goal.add_argument("--to", metavar="ACCOUNT", help="answers go to that receiver of webhooks")
    goal.add_argument("--nowhere", action="store_true", help="answers are kept here alone")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"one of: {', '.join(OPTIONS)}",
    )


def _apply(endpoint: Endpoint, options: dict[str, Any]) -> None:
    if options["events"] is not None:
        endpoint.events = "\n".join(kind for kind in options["events"] if kind)
    if options["template_file"] is not None:
        endpoint.template = _read(options["template_file"]).decode("utf-8", "replace")
    _aim(endpoint, options)
    for pair in options["option"]:
        name, separator, value = pair.partition("=")
        if not separator or name not in OPTIONS:
            message = f"--option takes NAME=VALUE with one of {', '.join(OPTIONS)}, not {pair!r}."
            raise CommandError(message)
        setattr(endpoint, name, _typed(getattr(endpoint, name), name, value))


def _aim(endpoint: Endpoint, options: dict[str, Any]) -> None:
    chat = options["chat"] or []
    if options["chat"] is not None and len(chat) not in {2, 3}:
        message = "--chat takes an account, a chat's id and, if it is meant, a thread's id."
        raise CommandError(message)
    choices = (
        (Goal.HOME, [options["home"]]),
        (Goal.WEBHOOK, [options["to"]]),
        (Goal.CHAT, chat),
        (Goal.NONE, [""] if options["nowhere"] else []),
    )
    for goal, words in choices:
        if words and words[0] is not None:
            account, chat_id, thread_id = [*words, "", ""][:3]
            endpoint.goal, endpoint.account = goal, account
            endpoint.chat_id, endpoint.thread_id = chat_id, thread_id


def _typed(present: Any, name: str, value: str) -> Any:
    if isinstance(present, bool):
        return value.strip().lower() in {"1", "yes", "true", "on"}
    if not isinstance(present, int):
        return value
    if not (value.isascii() and value.isdecimal()):
        message = f"{name} is a whole number, not {value!r}."
        raise CommandError(message)
    return int(value)


def _secret(from_stdin: bool) -> str:
    if not from_stdin:
        return ""
    if sys.stdin.isatty():
        return getpass.getpass("Secret (not shown): ").strip()
    return sys.stdin.readline().strip()


def _body(file_name: str | None) -> bytes:
    return trying.BODY if file_name is None else _read(file_name)


def _read(file_name: str) -> bytes:
    if file_name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file_name).read_bytes()
    except OSError as error:
        message = f"{file_name} cannot be read: {error.strerror}."
        raise CommandError(message) from error
