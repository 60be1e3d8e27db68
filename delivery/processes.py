"""Who this process is, and whether another one on this host is certainly dead.

A lease names its owner as `host/namespace/pid/start`. Where the owner is seen to be dead on the
same host, a lease need not run out before somebody else takes over.
"""

import functools
import os
import socket
from pathlib import Path

PROC = Path("/proc")


def _start_ticks(pid: int) -> str:
    """When `pid` began, in clock ticks since boot; empty where the system does not tell.

    Source: proc(5), /proc/[pid]/stat field 22.
    """
    try:
        stat = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    if fields[0] == "Z":
        return "zombie"
    return fields[19]


@functools.cache
def _place() -> str:
    """The host, its boot and the process namespace: pids mean something only inside one."""
    boot = PROC / "sys/kernel/random/boot_id"
    boot_id = boot.read_text(encoding="utf-8").strip()[:8] if boot.exists() else ""
    try:
        namespace = (PROC / "self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}.{boot_id}.{namespace}"


@functools.cache
def _identity(pid: int) -> str:
    return f"{_place()}/{pid}/{_start_ticks(pid)}"


def this_process() -> str:
    """The identity of the calling process; another after a fork."""
    return _identity(os.getpid())


def is_certainly_dead(owner: str) -> bool:
    """Whether the process that `owner` names ran on this host and has ended.

    A process elsewhere, or one that cannot be judged, counts as living: its lease must run out.
    """
    place, _, rest = owner.partition("/")
    pid, _, start = rest.partition("/")
    if place != _place() or not pid.isdigit():
        return False
    if not PROC.exists():
        return not _answers_signals(int(pid))
    return _start_ticks(int(pid)) != start


def _answers_signals(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
