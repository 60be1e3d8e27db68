"""The command line of `manage.py up`."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent


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
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="give up if it is not ready by then (%(default)g)",
    )
    return Options(**vars(parser.parse_args(arguments)))


def a_port(text: str) -> int:
    """A port number from the command line."""
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is not a port: it must be 0 to 65535")
    return port


def a_count(text: str) -> int:
    """A number of processes from the command line."""
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1 is needed")
    return count


def a_path(text: str) -> Path:
    """A directory from the command line, absolute."""
    return Path(text).expanduser().resolve()
