"""What the supervisor runs: a row per process, and the whole as a plan."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGTERM, Signals

from hermes_site.supervisor.probes import Readiness


@dataclass(frozen=True, kw_only=True)
class Service:
    """One process to keep alive.

    Attributes:
        name: Its name in the state file, in the terminal and of its log.
        command: The program, as an absolute path, and its arguments.
        answers: Says whether it serves already; None where nobody needs to know.
        stop_signal: What asks it to end cleanly.
        grace_seconds: How long it may take to end before it is killed.
        user: The user and group to run as; None for our own.
    """

    name: str
    command: tuple[str, ...]
    answers: Callable[[], Awaitable[bool]] | None = None
    stop_signal: Signals = SIGTERM
    grace_seconds: float = 10.0
    user: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything one installation runs.

    Attributes:
        url: What people open.
        directory: The working directory of every process.
        environment: The whole environment of every process.
        facts: What the state file says besides the processes.
        data_plane: Database and broker; started first, stopped last.
        preparation: A command that brings the database up to date; empty for none. It may print
            `{"operator": name, "password": password}` for a login it created.
        apps: The site's own processes.
        readiness: Asks the site whether all of it works.
    """

    url: str
    directory: Path
    environment: Mapping[str, str]
    readiness: Callable[[], Awaitable[Readiness]]
    apps: tuple[Service, ...]
    data_plane: tuple[Service, ...] = ()
    preparation: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
