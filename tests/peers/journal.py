"""What a peer was asked, in order."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, slots=True)
class Call:
    """One call a peer received.

    Attributes:
        method: In the platform's own spelling.
        params: What came with it, decoded.
        at: When it came, on the monotonic clock, in seconds.
        outcome: `ok`; an error's code and words; a fault's kind; `waiting` while it is unanswered.
        result: What the peer answered or would have answered.
    """

    method: str
    params: dict[str, Any]
    at: float = field(default_factory=time.monotonic)
    outcome: str = "waiting"
    result: Any = None

    @property
    def chat(self) -> int | str | None:
        """The chat it named, if any."""
        names = ("chat_id", "channel", "channel_id")
        named = next((self.params[name] for name in names if name in self.params), None)
        return named if isinstance(named, int | str) else None


class Journal:
    """Every call, oldest first."""

    def __init__(self) -> None:
        self._calls: list[Call] = []

    def add(self, call: Call) -> None:
        """Write one down."""
        self._calls.append(call)

    def of(self, method: str | None = None, chat: int | str | None = None) -> list[Call]:
        """The calls of one method, to one chat, or both; all of them without either."""
        return [
            call
            for call in list(self._calls)
            if (method is None or call.method.lower() == method.lower())
            and (chat is None or str(call.chat) == str(chat))
        ]

    def clear(self) -> None:
        """Forget everything; a long benchmark does so between its rounds."""
        self._calls.clear()

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[Call]:
        return iter(list(self._calls))

    def __getitem__(self, index: int) -> Call:
        return self._calls[index]
