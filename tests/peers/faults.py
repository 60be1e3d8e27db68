"""What can go wrong between a client and a platform, on request."""

import math
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.peers.server import Gate

# The request is never acted upon:
BEFORE = frozenset(
    {"429", "500", "502html", "503", "409", "403", "401", "400", "reset_before", "hang_before"}
)
# The request is acted upon, and then the answer goes wrong:
AFTER = frozenset({"lost_ack", "hang", "truncated", "garbage"})
# The request is acted upon and answered, late:
LATE = frozenset({"delay", "delay_after", "hold"})


@dataclass(eq=False)
class Fault:
    """One thing that goes wrong, for the calls it matches.

    Attributes:
        kind: `429` `500` `502html` `503` `409` `403` `401` `400`: refused, not acted upon;
            `reset_before`: the connection is reset, not acted upon;
            `hang_before`: never acted upon, never answered;
            `lost_ack`: acted upon, then the connection is reset without an answer;
            `hang`: acted upon, never answered; `truncated`, `garbage`: acted upon, then half an
            answer or one that is not JSON;
            `delay`: acted upon after `seconds`; `delay_after`: acted upon, answered after
            `seconds`; `hold`: acted upon when `gate` opens.
        method: Only this method, in the platform's own spelling; None for all.
        chat: Only this chat; None for all.
        retry_after: What a 429 asks for, in whole seconds.
        seconds: The delay; for the hanging kinds, when to cut the connection (0: never).
        times: How often it strikes; None for as long as it stands.
        every: It strikes the every-th matching call (1: each).
        skip: How many matching calls pass unharmed first.
        description: The platform's words; empty for its usual ones.
        gate: What `hold` waits for.
        hits: How often it has struck.
    """

    kind: str
    method: str | None = None
    chat: int | str | None = None
    retry_after: int = 1
    seconds: float = 0.0
    times: int | None = None
    every: int = 1
    skip: int = 0
    description: str = ""
    gate: Gate = field(default_factory=Gate)
    hits: int = 0
    seen: int = 0

    def __post_init__(self) -> None:
        if self.kind not in BEFORE | AFTER | LATE:
            raise ValueError(f"no such fault: {self.kind}")

    @property
    def is_spent(self) -> bool:
        """It has struck as often as it was to."""
        return self.times is not None and self.hits >= self.times

    def strikes(self, method: str, chat: int | str | None) -> bool:
        """Whether this call is struck; counts it."""
        if self.is_spent or (self.method or method).lower() != method.lower():
            return False
        if self.chat is not None and str(self.chat) != str(chat):
            return False
        self.seen += 1
        if self.seen <= self.skip or (self.seen - self.skip) % self.every:
            return False
        self.hits += 1
        return True


_SENDING = re.compile(r"(send(?!ChatAction)|edit|copy|forward).*", re.IGNORECASE)


@dataclass(eq=False)
class Flood(Fault):
    """A rate limit that holds: more than `calls` messages to one chat within `seconds` are refused.

    A refusal says how long it will be until the next one passes, rounded up to a whole second.
    Messages that are sent and edited count; typing does not. The counting is per chat, with a
    sliding window; a refused call does not count.
    """

    kind: str = "429"
    seconds: float = 60.0
    calls: int = 20
    passed: dict[str, deque[float]] = field(default_factory=dict)

    def strikes(self, method: str, chat: int | str | None) -> bool:
        """Whether the chat has had its share; counts the call if it passes."""
        if chat is None or not _SENDING.fullmatch(method):
            return False
        if self.chat is not None and str(self.chat) != str(chat):
            return False
        now = time.monotonic()
        window = self.passed.setdefault(str(chat), deque())
        while window and window[0] <= now - self.seconds:
            window.popleft()
        if len(window) < self.calls:
            window.append(now)
            return False
        self.retry_after = max(1, math.ceil(window[0] + self.seconds - now))
        self.hits += 1
        return True


class Faults:
    """The faults that stand now, asked in the order they were added; any thread may add one."""

    def __init__(self, lock: "threading.Condition") -> None:
        self._lock = lock
        self._standing: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        """Let `fault` strike from now on."""
        with self._lock:
            self._standing.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """End `fault`; nothing happens if it has ended already."""
        with self._lock:
            if fault in self._standing:
                self._standing.remove(fault)
        fault.gate.open()

    def clear(self) -> None:
        """End every fault."""
        for fault in list(self._standing):
            self.remove(fault)

    @contextmanager
    def during(self, fault: Fault) -> Iterator[Fault]:
        """Let `fault` strike inside the `with` block only."""
        self.add(fault)
        try:
            yield fault
        finally:
            self.remove(fault)

    def striking(self, method: str, chat: int | str | None) -> Fault | None:
        """The first fault that strikes this call, if any; the caller holds the lock."""
        if not self._standing:
            return None
        for fault in self._standing:
            if fault.strikes(method, chat):
                return fault
        return None


def fault_from(fields: dict[str, Any]) -> Fault:
    """A fault from JSON, as the control API takes it; the kind `flood` gives a `Flood`.

    Raises:
        ValueError: It names an unknown kind or field.
    """
    try:
        if fields.get("kind") == "flood":
            return Flood(**{**fields, "kind": "429"})
        return Fault(**fields)
    except TypeError as error:
        raise ValueError(str(error)) from error
