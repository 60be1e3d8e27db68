"""One writer at a time on one SQLite file, in the order of asking as far as the system allows.

SQLite lets a writer that finds the file locked sleep and look again, for up to 100 ms at a time and
without any order; measured with 60 threads, an unlucky one waits for seconds. Here the threads of a
process queue for a lock of their own, so that each process has one writer at the file, and that one
asks for an advisory lock (flock) beside the file every millisecond or so.

The advisory lock only makes the order; SQLite's own locks still guard the data. It belongs to an
open file and so ends with its process, however that ends.
"""

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

FIRST_PAUSE = 0.0003  # seconds
LONGEST_PAUSE = 0.003


class WriterQueue:
    """The queue for one database file, in one process.

    Args:
        path: The lock file; made if it is not there.
        wait: Lets so many seconds pass; `threading.Event().wait` or a stand-in.
    """

    def __init__(self, path: Path, *, wait: Callable[[float], object]) -> None:
        self._path, self._wait = path, wait
        self._turnstile = threading.Lock()
        self._descriptor = -1
        self._pid = 0

    def enter(self, timeout: float) -> bool:
        """Wait for one's turn to write, at most `timeout` seconds.

        Returns:
            Whether it came. If not, SQLite's own locking decides, as it would without a queue.
        """
        if not self._turnstile.acquire(timeout=timeout):
            return False
        waited, pause = 0.0, FIRST_PAUSE
        while not self._try_file():
            if waited >= timeout:
                self._turnstile.release()
                return False
            self._wait(pause)
            waited, pause = waited + pause, min(LONGEST_PAUSE, pause * 1.5)
        return True

    def leave(self) -> None:
        """Let the next writer in; only who entered may call it, once."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self._turnstile.release()

    def _try_file(self) -> bool:
        if self._pid != os.getpid():  # an inherited lock would be shared with the parent
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._pid = os.getpid()
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


_queues: dict[tuple[int, str], WriterQueue] = {}
_guard = threading.Lock()


def queue_for(database: str) -> WriterQueue | None:
    """The queue of this process for a database file; None for one in memory."""
    if not database or ":memory:" in database or "mode=memory" in database:
        return None
    with _guard:
        key = (os.getpid(), database)
        if key not in _queues:
            lock = Path(f"{database}.writers")
            _queues[key] = WriterQueue(lock, wait=threading.Event().wait)
        return _queues[key]
