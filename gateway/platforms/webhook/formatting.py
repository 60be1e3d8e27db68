"""What a webhook says: one event of JSON for each part of a message. Pure.

The words go out twice: as Markdown, for receivers that pass them on to people, and as plain text.
"""

import json
from typing import Any

from delivery.content import Limit, Unit
from delivery.dialects import MattermostDialect
from delivery.ports import Dialect, OutgoingPart

# Receivers commonly take a megabyte; in any script, escaped and twice, this stays below it.
MAXIMUM = Limit(60_000, Unit.CHARACTERS)
EVENT = "message.created"


def dialect() -> Dialect:
    """Markdown as CommonMark has it, with tables and struck words."""
    return MattermostDialect(MAXIMUM)


def body_of(part: OutgoingPart) -> bytes:
    """The body that is posted for `part`: the same bytes for each try.

    Its form is that of Standard Webhooks (`type`, `data`). A time of its own would differ from try
    to try, and the header has the time of the try.
    """
    address = part.address
    data: dict[str, Any] = {
        "id": part.idempotency_key,
        "account": address.account,
        "chat": address.chat_id,
        "in_reply_to": address.thread_id,
        "markdown": part.body.text,
        "text": part.body.plain,
    }
    event = {"type": EVENT, "data": data}
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
