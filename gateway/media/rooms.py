"""Opening a file of a session's own directory, and nothing that only looks like one ([X2]).

The agent, and whoever talks it into something, names the path; its commands may have put anything
into the directory: links to other places, pipes, a second name of a file outside. So every step is
taken from an open directory to the next without following links, and what is opened at the end is
looked at once more. Source: openat(2), open(2).
"""

import os
import stat
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

_STEP = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting: a pipe that nobody writes to would be waited for until the end of days.
_LAST = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotSendable(Exception):
    """That file may not leave, or is none; the message says why."""


def open_inside(room: Path, path: str) -> BinaryIO:
    """Open a regular file that lies in `room` and nowhere else.

    Args:
        room: The directory of a session.
        path: Relative to it, or absolute and below it.

    Raises:
        NotSendable: There is no such file, or it is not one that may leave.
    """
    *folders, name = _steps(room, path)
    try:
        descriptor = _walk(room, folders, name)
    except (OSError, ValueError) as error:
        raise NotSendable(_why(error)) from error
    try:
        _must_be_our_own_file(descriptor, room)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _steps(room: Path, path: str) -> tuple[str, ...]:
    wanted = PurePosixPath(path)
    if wanted.is_absolute():
        for base in (room, room.resolve()):
            with suppress(ValueError):
                wanted = wanted.relative_to(base)
                break
    if wanted.is_absolute() or ".." in wanted.parts or not wanted.parts or "\x00" in path:
        raise NotSendable("Only files of this session's own directory can be sent.")
    if any(part.startswith(".") for part in wanted.parts):
        raise NotSendable("Hidden files are not sent.")  # they hold credentials more than not
    return wanted.parts


def _walk(room: Path, folders: list[str], name: str) -> int:
    here = os.open(room, _STEP)
    try:
        for folder in folders:
            following = os.open(folder, _STEP, dir_fd=here)
            os.close(here)
            here = following
        return os.open(name, _LAST, dir_fd=here)
    finally:
        os.close(here)


def _must_be_our_own_file(descriptor: int, room: Path) -> None:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise NotSendable("It is not a file.")
    if found.st_dev != room.stat().st_dev:
        raise NotSendable("It does not lie on the disk of this session's own directory.")
    if found.st_nlink != 1:
        raise NotSendable("It has another name elsewhere; send a copy of it.")
    if not found.st_size:
        raise NotSendable("It is empty.")


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "There is no such file in this session's own directory."
    return "It is a link, or not a file at all; send the file itself."
