"""What must be true before anything starts, each with a sentence that says how to mend it."""

import errno
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from hermes_site.supervisor.errors import DiskFull, EnvironmentUnusable, PortUnavailable
from hermes_site.supervisor.options import PROJECT

# Room for the database's journal, the broker's rewrite and one rotation of every log.
NEEDED_BYTES = 200 * 1024 * 1024
REASONS = {
    errno.EADDRINUSE: "is already in use. Stop what uses it, or choose another with --port",
    errno.EACCES: "is reserved for root. Choose one above 1023 with --port",
    errno.EADDRNOTAVAIL: "cannot be used: this machine has no such address. Choose another --host",
}


def free_bytes(path: Path) -> int:
    """The room left, in bytes, on the disk that holds, or would hold, `path`."""
    there = next(place for place in (path, *path.parents) if place.exists())
    return shutil.disk_usage(there).free


def refuse_a_full_disk(path: Path, *, measure: Callable[[Path], int] = free_bytes) -> None:
    """Make sure that there is room to work.

    Args:
        path: The data directory.
        measure: Gives the bytes left on the disk of a path.

    Raises:
        DiskFull: Less than about 200 MB is left.
    """
    left = measure(path)
    if left < NEEDED_BYTES:
        message = (
            f"The disk of {path} has only {left // 2**20} MB left and"
            f" {NEEDED_BYTES // 2**20} MB are needed. Make room, or name another --data-dir."
        )
        raise DiskFull(message)


def claim_port(host: str, port: int) -> int:
    """Make sure that the web process will be able to listen.

    Args:
        host: A host name or address of this machine.
        port: The port; 0 for any free one.

    Returns:
        The port; a free one for 0.

    Raises:
        PortUnavailable: Nobody could listen there now.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as listener:
            # As the web process does, so that connections just closed do not count.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1)
            return int(listener.getsockname()[1])
    except socket.gaierror as error:
        message = f"--host {host} is not known: {error.strerror}."
        raise PortUnavailable(message) from error
    except OSError as error:
        reason = REASONS.get(error.errno or 0, f"cannot be used ({error.strerror})")
        message = f"Port {port} on {host} {reason}."
        raise PortUnavailable(message) from error


def refuse_an_unfit_environment(
    environment: Mapping[str, str], *, with_database: bool, with_broker: bool
) -> None:
    """Make sure that every variable can be used, and that the servers it names answer.

    Another process looks, so that this one need not load what understands the values.

    Args:
        environment: What the site's processes will see.
        with_database: The database is not ours to start: it must answer now.
        with_broker: The broker is not ours to start: it must answer now.

    Raises:
        EnvironmentUnusable: Something must be mended first.
    """
    named = {"database": with_database, "broker": with_broker}
    result = subprocess.run(
        [
            *(sys.executable, "-m", "hermes_site.supervisor.outside"),
            *(name for name, is_outside in named.items() if is_outside),
        ],
        cwd=PROJECT,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        last_words = (result.stderr.strip().splitlines() or ["nothing was said"])[-1]
        raise EnvironmentUnusable(result.stdout.strip() or last_words)
