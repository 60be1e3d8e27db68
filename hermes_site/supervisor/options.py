"""The command line of `manage.py up`.

As a script it only reads the command line, with the standard library alone: `bin/up` runs it before
anything is installed, so that help and refusals come at once. It ends with code 0 to go on, 2 for a
wrong word, and `SHOWN` when help was asked for and there is nothing more to do.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the operator asked for.

    Attributes:
        host: The address to listen on.
        port: The port to listen on; 0 for any free one.
        data_dir: The data directory, absolute; None to follow HERMES_DATA_DIR, or `data`.
        database: `sqlite`, `postgres`, or None for whichever the data directory already holds.
        workers: How many worker processes.
        ready_within_seconds: How long the installation may take to become ready.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    data_dir: Path | None = None
    database: str | None = None
    workers: int = 1
    ready_within_seconds: float = 60.0


def parse(arguments: Sequence[str]) -> Options:
    """Read the command line; a wrong one ends the process with code 2 and says why."""
    parser = argparse.ArgumentParser(
        prog="bin/up", description="Start the whole gateway; Ctrl-C stops it."
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument(
        "--port", type=a_port, default=8000, help="port to listen on; 0 for any (%(default)s)"
    )
    parser.add_argument("--data-dir", type=a_path, help="where everything is kept (./data)")
    parser.add_argument(
        "--db", dest="database", choices=["sqlite", "postgres"], help="embedded database (sqlite)"
    )
    parser.add_argument("--workers", type=a_count, default=1, help="worker processes (%(default)s)")
    parser.add_argument(
        "--ready-within",
        dest="ready_within_seconds",
        type=a_duration,
        default=60.0,
        metavar="SECONDS",
        help="give up if it is not ready by then (%(default)g)",
    )
    return Options(**vars(parser.parse_args(arguments)))


def a_port(text: str) -> int:
    """A port number from the command line."""
    return a_whole_number(text, "a port", least=0, most=65535)


def a_count(text: str) -> int:
    """A number of processes from the command line."""
    return a_whole_number(text, "a number of processes", least=1, most=64)


def a_whole_number(text: str, what: str, *, least: int, most: int) -> int:
    """A number from `least` to `most`."""
    if not text.isascii() or not text.isdecimal() or not least <= int(text) <= most:
        message = f"{text!r} is not {what}: it must be a whole number from {least} to {most}"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def a_duration(text: str) -> float:
    """Seconds from the command line."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 10**6:
        message = f"{text!r} is not a time: it must be a number of seconds above 0"
        raise argparse.ArgumentTypeError(message)
    return seconds


def a_path(text: str) -> Path:
    """A directory from the command line, absolute."""
    return Path(text).expanduser().resolve()


def look(arguments: Sequence[str]) -> int:
    """The exit code for `bin/up`: whether these arguments can be used."""
    try:
        parse(arguments)
    except SystemExit as end:
        return int(end.code or SHOWN)
    return 0


if __name__ == "__main__":
    sys.exit(look(sys.argv[1:]))
