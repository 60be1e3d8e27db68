"""`manage.py rotate_key`: stored credentials are encrypted with another key."""

import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from gateway import rotation, vault
from gateway.management.house import HouseCommand, actor


class Command(HouseCommand):
    help = (
        "Encrypt every stored credential with the newest key. On several hosts: set"
        " HERMES_SECRET_KEY to a new key and HERMES_FORMER_SECRET_KEYS to the old one everywhere,"
        " restart, run this, and later unset the old one."
    )

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--new",
            action="store_true",
            help="first make a new key in the data directory of a bin/up that is stopped",
        )
        parser.add_argument(
            "--forget",
            action="store_true",
            help="then forget the former keys of the data directory; old logins end",
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        keys = self._with_a_new_one() if options["new"] else vault.keys_in_force()
        done = rotation.rotate(keys=keys, actor=actor(), now=timezone.now())
        self.say(f"{done.changed} credentials are encrypted anew, {done.unchanged} were already.")
        if done.unreadable:
            names = ", ".join(done.unreadable)
            message = f"None of the keys opens: {names}. {vault.UNREADABLE}"
            raise CommandError(message)
        if options["forget"]:
            self._forget(keys[0])
        if options["new"]:
            self.say("Start bin/up again; it reads the new key.")

    def _with_a_new_one(self) -> list[str]:
        path = _key_file()
        if settings.RECORDED:
            message = "bin/up runs, and holds the former key. Stop it, then run this again."
            raise CommandError(message)
        known = path.read_text(encoding="ascii").split()
        if known[0] != settings.SECRET_KEY:
            message = (
                "HERMES_SECRET_KEY is set, so the key is not that of the data directory. Change it"
                " where it is set, and put the old one into HERMES_FORMER_SECRET_KEYS."
            )
            raise CommandError(message)
        keys = [secrets.token_urlsafe(50), *vault.keys_in_force()]
        _write(path, list(dict.fromkeys([keys[0], *known])))
        return keys

    def _forget(self, newest: str) -> None:
        path = _key_file()
        known = path.read_text(encoding="ascii").split()
        if known[0] == newest:
            _write(path, known[:1])
            self.say(f"{len(known) - 1} former keys are forgotten.")


def _key_file() -> Path:
    path = Path(settings.DATA_DIR) / "secret_key"
    if not path.exists():
        message = (
            f"There is no key in {settings.DATA_DIR}: set HERMES_SECRET_KEY to a new one and"
            " HERMES_FORMER_SECRET_KEYS to the old one, restart, and run this without --new."
        )
        raise CommandError(message)
    return path


def _write(path: Path, keys: list[str]) -> None:
    """Put the keys in place at once: a file half written would lock everything for ever."""
    fresh = path.with_name("secret_key.new")
    fresh.touch(mode=0o600)
    fresh.write_text("\n".join(keys) + "\n", encoding="ascii")
    fresh.replace(path)
