"""The data directory: one installation's database, broker, secret key, logs and state."""

import fcntl
import hashlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hermes_site.supervisor.errors import AlreadyRunning, DataDirectoryUnusable

PRIVATE = 0o700
# For PostgreSQL under another user: passing through is allowed, reading is not.
PASSABLE = 0o711
# sun_path holds 108 bytes on Linux and 104 on macOS, with the closing NUL (unix(7), unix(4));
# the longest name put there is PostgreSQL's `.s.PGSQL.5432`.
LONGEST_SOCKET_PATH_BYTES = 100
LONGEST_SOCKET_NAME = ".s.PGSQL.5432"


class Home:
    """A data directory that is ours, private and writable.

    Args:
        root: The directory; it need not be there yet, and nothing is made before `make`.
        mode: The widest mode it may have.

    Raises:
        DataDirectoryUnusable: It is a file, another user's, open to others, or not writable.
    """

    def __init__(self, root: Path, *, mode: int = PRIVATE) -> None:
        self.root = root
        self._mode = mode
        self._lock: int | None = None
        with refusing(root):
            if not self.is_new:
                next(root.iterdir(), None)  # or it is a file
                secure(root, mode)

    @property
    def is_new(self) -> bool:
        """Whether it is not there yet."""
        return not self.root.exists()

    def make(self) -> None:
        """Make the directory, for us alone, and the places in it.

        Raises:
            DataDirectoryUnusable: A file is in the way, or the system refuses.
        """
        with refusing(self.root):
            self.root.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            secure(self.root, self._mode)
            for name in ("logs", "run", "static", "valkey"):
                (self.root / name).mkdir(mode=PRIVATE, exist_ok=True)

    @property
    def logs(self) -> Path:
        """Where the output of each process goes."""
        return self.root / "logs"

    @property
    def state_file(self) -> Path:
        """Where the supervisor writes what runs."""
        return self.root / "up.json"

    def lock(self) -> None:
        """Keep every other supervisor out, for as long as this process lives or until `unlock`.

        Raises:
            AlreadyRunning: One is in already.
        """
        if self._lock is not None:
            return
        descriptor = os.open(self.root / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            message = (
                f"Hermes already runs on {self.root} (pid {owner}). Stop it first, or give this"
                " one its own --data-dir and --port."
            )
            raise AlreadyRunning(message) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._lock = descriptor

    def unlock(self) -> None:
        """Let others in."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def secret_key(self) -> str:
        """The installation's own key, made at the first call and readable by us alone.

        Call it under the lock.
        """
        path = self.root / "secret_key"
        if not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(50))
        path.chmod(0o600)
        return path.read_text(encoding="ascii").split()[0]  # former ones follow

    def socket_directory(self, inside: Path, *, runtime: Path | None) -> Path:
        """Where unix sockets live: in `inside`, or elsewhere if that path is too long for one.

        Args:
            inside: A directory of this installation; its name is kept elsewhere too.
            runtime: The user's runtime directory (XDG_RUNTIME_DIR), if there is one.

        Raises:
            DataDirectoryUnusable: Somebody else made the place elsewhere.
        """
        if fits_a_socket(inside):
            return inside
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        name = f"hermes-{os.getuid()}-{digest}"
        # S108: the directory is made for us alone, and refused below if somebody else made it.
        bases = [runtime, Path(tempfile.gettempdir()), Path("/tmp")]  # noqa: S108
        elsewhere = next(
            base / name
            for base in bases
            if base and base.is_dir() and fits_a_socket(base / name / inside.name)
        )
        elsewhere.mkdir(mode=PRIVATE, exist_ok=True)
        found = elsewhere.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            message = f"{elsewhere} belongs to somebody else. Use a shorter --data-dir."
            raise DataDirectoryUnusable(message)
        elsewhere.chmod(PASSABLE)
        place = elsewhere / inside.name
        place.mkdir(mode=PRIVATE, exist_ok=True)
        return place


@contextmanager
def refusing(root: Path) -> Iterator[None]:
    """Turn what the system says into a sentence about the data directory."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        message = f"{error.filename}, or what it lies in, is a file; a directory is needed there."
        raise DataDirectoryUnusable(message) from error
    except OSError as error:
        message = f"The data directory {root} cannot be used: {error.strerror}."
        raise DataDirectoryUnusable(message) from error


def fits_a_socket(directory: Path) -> bool:
    """Whether the system can bind a unix socket in `directory`."""
    return len(os.fsencode(directory / LONGEST_SOCKET_NAME)) <= LONGEST_SOCKET_PATH_BYTES


def secure(root: Path, mode: int) -> None:
    """Make sure that nobody else can read what is in `root`.

    Raises:
        DataDirectoryUnusable: It is another user's, open to others, or not writable.
    """
    found = root.stat()
    us = os.getuid()
    if us not in {found.st_uid, 0}:
        message = (
            f"The data directory {root} belongs to user {found.st_uid} and this is user {us}."
            " Run as that user, or name another --data-dir."
        )
        raise DataDirectoryUnusable(message)
    now = stat.S_IMODE(found.st_mode)
    if now & ~PASSABLE & 0o077 and any(root.iterdir()):
        message = (
            f"The data directory {root} is open to other users (mode {now:04o}) and holds secrets."
            f" Close it: chmod 700 {root}"
        )
        raise DataDirectoryUnusable(message)
    if now != mode:
        root.chmod(mode)
    if not os.access(root, os.W_OK | os.X_OK):
        message = f"The data directory {root} is not writable by user {us}."
        raise DataDirectoryUnusable(message)
