"""Where the output goes: a file per process, and the terminal for what should be seen at once."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from hermes_site.supervisor.alarms import Alarms

LARGEST_LOG_BYTES = 5 * 1024 * 1024
KEPT_LOGS = 3
LONGEST_LINE_BYTES = 64 * 1024


class Terminal:
    """The operator's screen. Losing it never stops anything."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout

    def say(self, text: str) -> None:
        """Show one line."""
        try:
            self._stream.write(f"{text}\n")
            self._stream.flush()
        except (OSError, ValueError):
            # The terminal was closed; the log files go on.
            self._stream = open_nowhere()


def open_nowhere() -> TextIO:
    """A stream that forgets."""
    return Path("/dev/null").open("w", encoding="utf-8")


class Journal:
    """The log of one process: everything to its file, alarms to the terminal too.

    Args:
        path: The log file; it grows to about 5 MB, then moves aside, and three are kept.
        name: The process's name, put in front of what the terminal shows.
        terminal: Where alarms are shown.
        clock: Seconds; it only goes forward.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        terminal: Terminal,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self._name = name
        self._terminal = terminal
        self._clock = clock
        self._alarms = Alarms()
        self._rest = b""
        self._file: BinaryIO = self._open()
        self._begin = self._file.tell()

    def last_lines(self, count: int) -> list[str]:
        """The end of what was said since this journal was opened, oldest line first."""
        return last_lines(self.path, count, begin=self._begin)

    def write(self, data: bytes) -> None:
        """Take the next piece of output, cut anywhere."""
        self._put(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST_LINE_BYTES:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            text = line.decode("utf-8", "replace").rstrip()
            self._show(self._alarms.shown(text, now=self._clock()))

    def say(self, text: str) -> None:
        """Write the supervisor's own word about this process, to file and terminal."""
        self._put(f"--- supervisor: {text}\n".encode())
        self._show(self._alarms.once_a_minute(text, now=self._clock()))

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # what a full disk did not take is lost
            self._file.close()

    def _put(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
            if self._file.tell() >= LARGEST_LOG_BYTES:
                full, self._file = self._file, self._open()
                self._begin = 0
                full.close()
        except OSError as error:  # a full disk must not stop the processes
            fault = f"its log cannot be written: {error.strerror}"
            self._show(self._alarms.once_a_minute(fault, now=self._clock()))

    def _show(self, text: str) -> None:
        if text:
            self._terminal.say(f"{self._name} | {text}")

    def _open(self) -> BinaryIO:
        if self.path.exists() and self.path.stat().st_size >= LARGEST_LOG_BYTES:
            for number in range(KEPT_LOGS - 1, 0, -1):
                older = self.path.with_name(f"{self.path.name}.{number}")
                if older.exists():
                    older.replace(self.path.with_name(f"{self.path.name}.{number + 1}"))
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))
        return self.path.open("ab")


def last_lines(path: Path, count: int, *, begin: int = 0) -> list[str]:
    """The end of a log file, oldest line first; empty if there is no file.

    Args:
        path: The log file.
        count: How many lines at most.
        begin: The byte before which nothing is of interest: what an earlier run said.
    """
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(max(begin, path.stat().st_size - LONGEST_LINE_BYTES))
        return file.read().decode("utf-8", "replace").splitlines()[-count:]
