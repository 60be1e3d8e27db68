"""Runs one shell command and leaves nothing of it behind; started as a program by `shell`.

    python -I -S shell_guard.py COMMAND

It imports nothing of ours, so that it starts in hundredths of a second. Its descriptors:

    0   a pipe whose other end only the worker holds and never writes to; its end is the sign to
        stop, and comes by itself when the worker dies, however it dies
    1   where the command's output goes
    2   where the guard says what happened, in lines: `pid 123`, then `exit 0` or `failed …`

The command's process group is told to end when the command itself has ended, or at the sign to
stop, and is killed if it does not. On Linux what has left the group is found as well: orphans
become children of the guard.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress

GRACE_SECONDS = 2.0  # between being told to end and being killed
_GONE_SECONDS = 1.0  # for what was killed to be gone
_LOOK_SECONDS = 0.02
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h

_IGNORED_HERE = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_NOT_OURS_TO_SET = {signal.SIGKILL, signal.SIGSTOP}


def main(command: str) -> None:
    """Run `command`, and return when nothing of it runs any more."""
    for each in _IGNORED_HERE:
        signal.signal(each, signal.SIG_IGN)
    bell = _bell_of_children()
    _adopt_orphans()
    child = os.fork()
    if child == 0:
        _become(command)
    with suppress(OSError):  # it may have done so itself, and run already
        os.setpgid(child, child)
    os.dup2(2, 1)  # the output ends with the command's processes
    family = _Family(child)
    while not family.has_ended():
        ready, _, _ = select.select([0, bell], [], [])
        _drain(bell)
        if 0 in ready:
            break
    family.end(bell)
    _say(f"exit {family.code}")


def _bell_of_children() -> int:
    """A descriptor that can be read whenever a child has changed."""
    bell, ringer = os.pipe()
    for each in (bell, ringer):
        os.set_blocking(each, False)
    signal.set_wakeup_fd(ringer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return bell


def _drain(bell: int) -> None:
    with suppress(BlockingIOError):
        while os.read(bell, 512):
            pass


def _adopt_orphans() -> None:
    if sys.platform != "linux":
        return
    with suppress(ImportError, OSError, AttributeError):
        import ctypes  # noqa: PLC0415 - a Python may lack it, and other systems need it not

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _become(command: str) -> None:
    """Turn this process, a fresh child, into the shell; it never comes back."""
    status = os.dup(2)
    try:
        os.setpgid(0, 0)
        _say(f"pid {os.getpid()}")  # before it can kill the guard
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(1, 2)
        signal.set_wakeup_fd(-1)
        # Also what Python ignores, and whoever started us: a shell its background jobs' SIGQUIT.
        for each in signal.valid_signals() - _NOT_OURS_TO_SET:
            signal.signal(each, signal.SIG_DFL)
        os.execv("/bin/sh", ["/bin/sh", "-c", command])  # noqa: S606 - the point of it all
    except OSError as error:
        _say(f"failed {error.strerror}", to=status)
    finally:
        os._exit(127)


def _say(line: str, *, to: int = 2) -> None:
    with suppress(OSError):  # the worker is gone, and nobody listens
        os.write(to, f"{line}\n".encode())


class _Family:
    """The command's process and everything that came of it."""

    def __init__(self, head: int) -> None:
        self.head = head
        self.code: int | None = None
        self._has_children = True

    def has_ended(self) -> bool:
        """Whether the command itself has ended; reaps whoever has."""
        with suppress(ChildProcessError):
            while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                if reaped[0] == self.head:
                    code = os.waitstatus_to_exitcode(reaped[1])
                    self.code = code if code >= 0 else 128 - code  # as a shell says it
            return self.code is not None
        self._has_children = False
        return True

    def end(self, bell: int) -> None:
        """Tell all to end, and kill those who do not."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)  # who is stopped hears nothing else
        if not self._is_gone_in(GRACE_SECONDS, bell):
            self._signal(signal.SIGKILL)
            self._is_gone_in(_GONE_SECONDS, bell, again=signal.SIGKILL)

    def _is_gone_in(self, seconds: float, bell: int, *, again: int = 0) -> bool:
        limit = time.monotonic() + seconds
        while not self._is_gone():
            left = limit - time.monotonic()
            if left <= 0:
                return False
            if again:
                self._signal(again)  # who was forked meanwhile
            select.select([bell], [], [], min(left, _LOOK_SECONDS))
            _drain(bell)
        return True

    def _is_gone(self) -> bool:
        self.has_ended()
        try:
            os.killpg(self.head, 0)
        except ProcessLookupError:
            return not self._has_children
        except PermissionError:
            return False
        return False

    def _signal(self, number: int) -> None:
        with suppress(OSError):
            os.killpg(self.head, number)
        for each in _below(os.getpid()):
            with suppress(OSError):
                os.kill(each, number)


def _below(process: int) -> list[int]:
    """All descendants, as far as the system tells."""
    found: list[int] = []
    waiting = [process]
    while waiting:
        parent = waiting.pop()
        # PTH123: importing pathlib takes as long as all the rest of the start.
        with suppress(OSError), open(f"/proc/{parent}/task/{parent}/children") as file:  # noqa: PTH123
            children = [int(each) for each in file.read().split()]
            found += children
            waiting += children
    return found


if __name__ == "__main__":
    main(sys.argv[1])
    os._exit(0)
