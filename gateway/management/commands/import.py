"""`manage.py import`: what staff set up elsewhere, or before, is set up here."""  # noqa: N999 - the name of the command

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from gateway.configuration import carrying, document
from gateway.configuration.document import Document, NotAConfiguration
from gateway.management.house import HouseCommand, actor, passphrase


class Command(HouseCommand):
    help = (
        "Read what `export` wrote, show what differs, and set it up here. It may be done twice;"
        " what is only here is left alone."
    )

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="what export wrote")
        parser.add_argument("--dry-run", action="store_true", help="show it, and change nothing")
        parser.add_argument(
            "--secrets",
            action="store_true",
            help="with the credentials of the file; its passphrase is asked for",
        )
        parser.add_argument(
            "--passphrase-stdin", action="store_true", help="read it from standard input"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        raw = _read(options["file"])
        wanted = self._opened(raw, options)
        changes = carrying.plan(wanted)
        for change in changes:
            for line in document.lines(change):
                self.say(line)
        if not changes:
            self.say("Nothing differs.")
        elif options["dry_run"]:
            self.say(f"{len(changes)} things would change; nothing is changed.")
        else:
            self._carry_out(changes)

    def _opened(self, raw: Document, options: dict[str, Any]) -> Document:
        has_secrets = bool(raw.get("seal"))
        if options["secrets"] and not has_secrets:
            message = "There are no credentials in this file: it was written without --secrets."
            raise CommandError(message)
        words = ""
        if options["secrets"]:
            words = passphrase(from_stdin=options["passphrase_stdin"])
        elif has_secrets:
            self.say("The credentials in this file are left alone; --secrets takes them over.")
        return carrying.opened(raw, words)

    def _carry_out(self, changes: list[document.Change]) -> None:
        refused = carrying.carry_out(changes, actor=actor(), now=timezone.now())
        self.say(f"{len(changes) - len(refused)} of {len(changes)} changes are made.")
        if refused:
            raise CommandError("\n".join(["Not done:", *refused]))


def _read(name: str) -> Document:
    try:
        return document.check(json.loads(Path(name).read_text(encoding="utf-8")))
    except OSError as error:
        message = f"{name} cannot be read: {error.strerror}."
        raise CommandError(message) from error
    except UnicodeError as error:
        message = f"{name} is no text in UTF-8."
        raise CommandError(message) from error
    except json.JSONDecodeError as error:
        message = f"{name} is no JSON, at line {error.lineno}: {error.msg}."
        raise CommandError(message) from error
    except NotAConfiguration as error:
        message = f"{name}: {error} Nothing is changed."
        raise CommandError(message) from error
