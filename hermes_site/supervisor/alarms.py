"""Which lines of a process's output an operator should see at once. Pure."""

import re

# The start of a record: our own formats, Celery's brackets, or PostgreSQL's timestamp.
RECORD = re.compile(r"^(?:\[|{\"at\": \")?\d{4}-\d\d-\d\d[T ]")
STAMP = re.compile(r"^(?:\[|{\"at\": \")?\d{4}-\d\d-\d\d[T ][\d:.,]*\S*")
LEVEL = re.compile(r"\b(WARNING|ERROR|CRITICAL|FATAL|PANIC)\b")
# Where in a record the level stands; further right it is somebody's text.
LEVEL_WITHIN = 80
TRACEBACK = "Traceback (most recent call last):"
# Between the tracebacks of one error that led to another.
LINK = re.compile(r"^(During handling of|The above exception was)")
# The last words of a command, without a record around them.
LAST_WORDS = re.compile(r"^[\w.]*(Error|Exception|Misconfigured|ImproperlyConfigured)\b")
QUIET_SECONDS = 60.0
KNOWN_FAULTS = 200


class Alarms:
    """Reads a process's output line by line and picks what is worth showing.

    Of a warning or an error that is its first line; of a traceback that stands alone, what was
    raised. The rest is in the log. A fault that goes on is shown once a minute, with how often it
    came meanwhile.
    """

    def __init__(self) -> None:
        self._is_below_an_alarm = False
        self._is_in_traceback = False
        self._faults: dict[str, tuple[float, int]] = {}  # when it was shown, how often hidden since

    def shown(self, line: str, *, now: float) -> str:
        """What to show for `line`; empty for nothing.

        Args:
            line: The next line of the output.
            now: Seconds on a clock that only goes forward.
        """
        return self.once_a_minute(line, now=now) if self._is_alarming(line) else ""

    def once_a_minute(self, text: str, *, now: float) -> str:
        """`text`, unless what differs from it in numbers only was shown less than a minute ago."""
        fault = re.sub(r"\d+", "#", STAMP.sub("", text))
        shown_at, hidden = self._faults.pop(fault, (None, 0))
        if shown_at is not None and now - shown_at < QUIET_SECONDS:
            self._faults[fault] = (shown_at, hidden + 1)
            return ""
        self._faults[fault] = (now, 0)
        if len(self._faults) > KNOWN_FAULTS:
            del self._faults[next(iter(self._faults))]
        return f"{text} (and {hidden} more like it)" if hidden else text

    def _is_alarming(self, line: str) -> bool:
        if RECORD.match(line):
            self._is_in_traceback = False
            self._is_below_an_alarm = LEVEL.search(line[:LEVEL_WITHIN]) is not None
            return self._is_below_an_alarm
        if self._is_below_an_alarm:
            return False
        if line.startswith(TRACEBACK):
            self._is_in_traceback = True
            return False
        if self._is_in_traceback:
            ends = bool(line) and not line[0].isspace() and not LINK.match(line)
            self._is_in_traceback = not ends
            return ends
        return LAST_WORDS.match(line) is not None
