"""What the commands of this site share: no traceback at anybody, and who gave the command."""

import getpass
import sys
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from clarify.errors import ClarifyError
from delivery.database import DATABASE_TROUBLE
from delivery.errors import DeliveryError
from gateway.errors import GatewayError

SURFACE = "command line"


class HouseCommand(BaseCommand):
    """A command that says in one sentence what went wrong and what to do, with exit code 1."""

    @override
    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; `--traceback` shows where an error came from."""
        try:
            return super().execute(*args, **options)
        except CommandError:
            raise
        except (GatewayError, ClarifyError, DeliveryError, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        except DATABASE_TROUBLE as error:
            message = (
                f"The database did not do as asked ({_first_line(error)}). Look at DATABASE_URL,"
                " and run: manage.py migrate"
            )
            raise CommandError(message) from error
        except Exception as error:
            message = (
                f"Something is wrong with this command itself ({type(error).__name__}:"
                f" {_first_line(error)}). Run it again with --traceback and report what it shows."
            )
            raise CommandError(message) from error

    def say(self, text: str) -> None:
        """One line to whoever gave the command."""
        self.stdout.write(text)

    def table(self, rows: list[tuple[str, ...]], empty: str) -> None:
        """Rows in columns, the first row being the head; `empty` if there is no other."""
        if len(rows) < 2:
            self.say(empty)
            return
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.say("  ".join(cells).rstrip())


def passphrase(*, from_stdin: bool, twice: bool = False) -> str:
    """A passphrase that whoever gave the command types, unseen, or pipes in.

    Args:
        from_stdin: It is the first line of standard input.
        twice: It is asked for a second time, against slips.

    Raises:
        CommandError: The second time it was another one.
    """
    if from_stdin or not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    words = getpass.getpass("Passphrase (not shown): ")
    if twice and getpass.getpass("Once more: ") != words:
        message = "These are two different passphrases. Nothing is written."
        raise CommandError(message)
    return words


def actor() -> str:
    """Who gave the command, for the audit log."""
    try:
        return f"{getpass.getuser()} ({SURFACE})"
    except (KeyError, OSError):  # a user without a name, as in many containers
        return SURFACE


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__
