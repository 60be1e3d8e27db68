"""Which lines of a process's output an operator should see at once. Pure."""

import re

# The start of a record: our own line format, Celery's brackets, or PostgreSQL's timestamp.
RECORD = re.compile(r"^\[?\d{4}-\d\d-\d\d[T ]")
LEVEL = re.compile(r"\b(WARNING|ERROR|CRITICAL|FATAL|PANIC)\b")
# A record without a level in front: a traceback, or the last words of a command.
BARE = re.compile(
    r"^(Traceback \(most recent call last\):|[\w.]*(Error|Exception|Misconfigured)\b)"
)
# Where in a record the level stands; further right it is somebody's text.
LEVEL_WITHIN = 80
LONGEST_RECORD_LINES = 40


class Alarms:
    """Reads a process's output line by line and picks what is worth showing.

    A traceback belongs to the record above it, so whatever follows an alarming record is shown
    with it until the next record begins, for at most `LONGEST_RECORD_LINES` lines.
    """

    def __init__(self) -> None:
        self._lines_left = 0

    def is_alarming(self, line: str) -> bool:
        """Whether `line` is, or belongs to, a warning or an error."""
        if RECORD.match(line):
            loud = LEVEL.search(line[:LEVEL_WITHIN]) is not None
            self._lines_left = LONGEST_RECORD_LINES if loud else 0
            return loud
        if BARE.match(line) and not self._lines_left:
            self._lines_left = LONGEST_RECORD_LINES
        if not self._lines_left:
            return False
        self._lines_left -= 1
        return True
