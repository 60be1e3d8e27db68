"""Runs one command that cannot outlive the supervisor. A script, not a module to import.

    python -I -S leash.py HOLD PARENT_PID USER COMMAND...

USER is `uid:gid`, or `-` to stay who we are. It must start in its own session. With HOLD `kernel`
(Linux) it becomes the command, after asking the kernel to kill it when the parent dies (prctl(2),
PR_SET_PDEATHSIG). With HOLD `pipe` (anywhere) it stays, reads its standard input, which the parent
holds open and never writes to, and kills its whole group when that ends.

It is a program of its own because the kernel's mark is lost when a process changes its user, and
because running Python code between fork and exec is unsafe once a process has threads.
"""

import ctypes  # at the top: another user may not be able to read Python's own files
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1  # linux/prctl.h
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


def main(arguments: Sequence[str]) -> int:
    """Become, or watch over, the command."""
    hold, parent_pid, user, *command = arguments
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and exec would inherit that
    if user != "-":
        become(user)
    if hold == "pipe":
        return watch_over(command)
    die_with_parent(int(parent_pid))
    return os.execv(command[0], command)  # noqa: S606 - no shell is what is wanted


def become(user: str) -> None:
    """Give up being root, for good."""
    uid, gid = (int(part) for part in user.split(":"))
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    os.chdir("/")  # where we were may be closed to that user


def die_with_parent(parent_pid: int) -> None:
    """Ask the kernel for SIGKILL at the parent's death, and leave at once if that was already."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent_pid:
        sys.exit(1)


def watch_over(command: list[str]) -> int:
    """Run the command in our group until it ends or the parent does."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    for number in FORWARDED:
        signal.signal(number, lambda received, _frame: process.send_signal(received))
    threading.Thread(target=kill_group_when_input_ends, daemon=True).start()
    code = process.wait()
    return 128 - code if code < 0 else code


def kill_group_when_input_ends() -> None:
    """Wait for the parent's end of the pipe to close."""
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
