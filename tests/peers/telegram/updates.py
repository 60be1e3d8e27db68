"""The queue of updates and the long poll on it.

Source: core.telegram.org/bots/api#getupdates, telegram-bot-api Client.cpp (its words for 409).
"""

import asyncio
from collections import deque
from itertools import islice
from typing import Any

from tests.peers.server import Peer
from tests.peers.telegram.world import Refused

OTHER_POLLER = (
    "Conflict: terminated by other getUpdates request; "
    "make sure that only one bot instance is running"
)
WEBHOOK_ACTIVE = (
    "Conflict: can't use getUpdates method while webhook is active; "
    "use deleteWebhook to delete the webhook first"
)
# A bot must ask for these by name; every other kind comes by default.
ON_REQUEST = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
MAX_WAIT_SECONDS = 50


class UpdateQueue:
    """Updates in order, kept until confirmed; at most one poll waits on them.

    `push` may be called from any thread that holds the peer's lock; `poll` runs on its loop.
    """

    def __init__(self, peer: Peer, first_id: int = 500_000_001) -> None:
        self._peer = peer
        self._loop = peer.loop
        self._next_id = first_id
        self._updates: deque[dict[str, Any]] = deque()
        self._allowed: frozenset[str] | None = None
        self._poll: asyncio.Future[bool] | None = None
        self.confirmed = 0

    @property
    def pending(self) -> int:
        """How many updates are not confirmed yet."""
        return len(self._updates)

    @property
    def is_polled(self) -> bool:
        """A poll is waiting now."""
        poll = self._poll  # looked at once: the peer's thread may end it meanwhile
        return poll is not None and not poll.done()

    def push(self, update: dict[str, Any], *, update_id: int | None = None) -> int:
        """Queue an update unless the bot did not ask for its kind.

        Args:
            update: It without or with its own `update_id`; with its own it is queued as it is,
                even if that id was there before.
            update_id: The same, as an argument.

        Returns:
            Its update id; 0 if it was dropped.
        """
        kind = next((name for name in update if name != "update_id"), "")
        if not self._wants(kind):
            return 0
        own = update_id if update_id is not None else update.get("update_id")
        number = self._next_id if own is None else int(own)
        self._next_id = max(self._next_id, number + 1)
        self._updates.append({**update, "update_id": number})
        self._loop.call_soon_threadsafe(self._wake, True)
        return number

    def allow(self, kinds: list[str]) -> None:
        """What to queue from now on; none means everything that comes by default."""
        self._allowed = frozenset(kinds) or None

    def drop(self) -> None:
        """Forget every update not confirmed."""
        self._updates.clear()

    async def poll(
        self, offset: int, limit: int, timeout: float, allowed: list[str] | None
    ) -> list[dict[str, Any]]:
        """Confirm what is below `offset`, and wait for what is at or above it.

        Raises:
            Refused: A later poll took this one's place.
        """
        with self._peer.changed:
            self._wake(False)
            if allowed is not None:
                self.allow(allowed)
            self._confirm(offset)
            mine = self._begin_waiting() if timeout > 0 and not self._updates else None
            self._peer.notify()
        if mine is not None:
            await self._wait(mine, timeout)
        with self._peer.changed:
            return list(islice(self._updates, min(max(limit, 1), 100)))

    async def first(self) -> dict[str, Any]:
        """The oldest update not confirmed, as soon as there is one."""
        while True:
            with self._peer.changed:
                if self._updates:
                    return self._updates[0]
                news = self._begin_waiting()
            await news

    def confirm(self, offset: int) -> None:
        """Forget every update below `offset`."""
        with self._peer.changed:
            self._confirm(offset)
            self._peer.notify()

    def interrupt(self) -> None:
        """End the poll that waits now with a conflict; the caller is on the loop."""
        self._wake(False)

    def _begin_waiting(self) -> "asyncio.Future[bool]":
        self._poll = self._loop.create_future()
        return self._poll

    async def _wait(self, mine: "asyncio.Future[bool]", timeout: float) -> None:
        expiry = self._loop.call_later(min(timeout, MAX_WAIT_SECONDS), self._expire, mine)
        try:
            there_is_news = await mine
        finally:
            expiry.cancel()
            if self._poll is mine:
                self._poll = None
        if not there_is_news:
            raise Refused(409, OTHER_POLLER)

    def _wake(self, there_is_news: bool) -> None:
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(there_is_news)

    def _expire(self, poll: "asyncio.Future[bool]") -> None:
        if not poll.done():
            poll.set_result(True)

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            while len(self._updates) > -offset:
                self._updates.popleft()
                self.confirmed += 1
            return
        while self._updates and self._updates[0]["update_id"] < offset:
            self._updates.popleft()
            self.confirmed += 1

    def _wants(self, kind: str) -> bool:
        return kind in self._allowed if self._allowed is not None else kind not in ON_REQUEST
