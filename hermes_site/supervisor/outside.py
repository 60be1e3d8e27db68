"""Looks at the environment before anything is made: run as a process of its own.

    python -m hermes_site.supervisor.outside [database] [broker]

Every value must be fit for use, and the servers named, which are not ours to start, must answer.
What is wrong goes to standard output in a sentence, and the exit code is 1.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def main(names: Sequence[str]) -> int:
    """Print the first thing that is wrong; 1 if there is one.

    Args:
        names: What is outside and must answer: `database`, `broker`.
    """
    problem = next(problems(names), "")
    sys.stdout.write(problem)
    return 1 if problem else 0


def problems(names: Sequence[str]) -> Iterator[str]:
    """What is wrong, each in a sentence that says what to do."""
    from django.conf import settings  # noqa: PLC0415 - importing this module must stay free
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415

    try:
        database = settings.DATABASES["default"]
    except ImproperlyConfigured as error:
        yield str(error)
        return
    from gateway import backing  # noqa: PLC0415 - the settings are fit for it only now

    if "database" in names:
        yield from unusable_file(database)
        if refusal := backing.database_refusal():
            yield f"{refusal}. Start it, or mend the address, user or password in DATABASE_URL."
    if "broker" in names and (refusal := backing.broker_refusal(settings.REDIS_URL)):
        yield f"{refusal[0].upper()}{refusal[1:]}. Start it, or mend REDIS_URL."


def unusable_file(database: dict[str, Any]) -> Iterator[str]:
    """Why SQLite could not keep its file where it is named."""
    if "sqlite" not in database["ENGINE"]:
        return
    directory = Path(database["NAME"]).parent
    if not directory.is_dir():
        yield f"DATABASE_URL names a file in {directory}, which is no directory. Make it first."
    elif not os.access(directory, os.W_OK | os.X_OK):
        yield f"DATABASE_URL names a file in {directory}, where this user may not write."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
