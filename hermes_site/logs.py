"""One line a record: when, how bad, a sentence, and the ids that go with it."""

import logging
from datetime import UTC, datetime

from typing_extensions import override

STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LineFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.123Z INFO gateway.intake: sentence action=… turn=…`."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """The line for `record`; a traceback follows on its own lines."""
        moment = datetime.fromtimestamp(record.created, UTC)
        stamp = moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
        facts = "".join(
            f" {key}={value}" for key, value in vars(record).items() if key not in STANDARD
        )
        line = f"{stamp} {record.levelname} {record.name}: {record.getMessage()}{facts}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line
