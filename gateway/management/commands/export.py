"""`manage.py export`: what staff set up, as a file."""

import json
from typing import Any

from django.core.management.base import CommandParser
from typing_extensions import override

from gateway.configuration import carrying
from gateway.configuration.sealing import Seal
from gateway.management.house import HouseCommand, passphrase


class Command(HouseCommand):
    help = (
        "Write accounts, the allowlist, settings of chats and home channels as JSON to standard"
        " output. Credentials are left out unless you ask for them."
    )

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--secrets",
            action="store_true",
            help="with the credentials, sealed with a passphrase that is asked for",
        )
        parser.add_argument(
            "--passphrase-stdin", action="store_true", help="read it from standard input"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        seal = None
        if options["secrets"]:
            seal = Seal(passphrase(from_stdin=options["passphrase_stdin"], twice=True))
        found = carrying.export(seal=seal)
        self.say(json.dumps(found, indent=2, ensure_ascii=False, sort_keys=False))
