"""One line a record: when, how bad, a sentence, and the ids that go with it."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from typing_extensions import override

from delivery import bearings, masking

STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# Of our own fields: what a line says for itself.
TAKEN = frozenset({"at", "level", "logger", "says", "traceback"})


def facts_of(record: logging.LogRecord) -> dict[str, Any]:
    """What goes with the sentence of a record: what is worked on, and what it says itself."""
    said = {key: value for key, value in vars(record).items() if key not in STANDARD}
    return {**bearings.current(), **said}


def _stamp(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


class LineFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.123Z INFO gateway.intake: sentence action=… turn=…`."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """The line for `record`; a traceback follows on its own lines."""
        facts = "".join(f" {key}={value}" for key, value in facts_of(record).items())
        line = f"{_stamp(record)} {record.levelname} {record.name}: {record.getMessage()}{facts}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return masking.masked(line, settings.SECRET_KEY)


class JsonFormatter(logging.Formatter):
    """One object a line, for programs that collect logs; a traceback is in it, too."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """The line for `record`."""
        line: dict[str, Any] = {
            "at": _stamp(record),
            "level": record.levelname,
            "logger": record.name,
            "says": record.getMessage(),
        }
        for key, value in facts_of(record).items():
            line[f"{key}_" if key in TAKEN else key] = value
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        text = json.dumps(line, ensure_ascii=False, default=str)
        return masking.masked(text, settings.SECRET_KEY)
