"""Keeps one page in step with one conversation.

Hints say "look again"; the truth is read from the rows. Without any hint, the page looks every few
seconds, so a broker that is away costs seconds and nothing else.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from django.utils import timezone

from delivery import hints
from delivery.database import DATABASE_TROUBLE
from gateway.console import entries, queries
from gateway.console.viewers import Viewer

logger = logging.getLogger(__name__)

Send = Callable[[dict[str, Any]], Awaitable[None]]
Look = Callable[..., Awaitable[dict[str, Any]]]

# A change may fall between the first look and the subscription: the second look comes soon.
SECOND_LOOK = 0.7  # seconds
BUSY_PERIOD = 5.0  # seconds between looks without a hint while something is open
QUIET_PERIOD = 20.0
PACE = 0.1  # seconds between two looks, however many hints come
LIVE_PACE = 0.15  # seconds between two live texts
LIVE_RATE = 60_000  # characters of live text that are rendered in a second, at most
RESUBSCRIBE = 2.0  # seconds


def snapshot(viewer: Viewer, conversation_id: int, *, since: datetime | None) -> dict[str, Any]:
    """What a page must know of a conversation now.

    Raises:
        NotFound: There is no such conversation for them.
    """
    now = timezone.now()
    conversation = queries.find(viewer, conversation_id)
    facts = queries.snapshot(conversation, viewer, since=since, now=now)
    return {**facts, "key": conversation.key}


def messages(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """A snapshot as messages that each fit a frame; the key stays here.

    A page that begins anew gets the latest, and asks for earlier entries when they are wanted.
    """
    told = {name: value for name, value in facts.items() if name != "key"}
    runs = queries.portions(facts["entries"])
    if facts.get("reset"):
        return [{**told, "entries": runs[-1], "more": facts["more"] or len(runs) > 1}]
    return [{**told, "entries": run} for run in runs]


class Follower:
    """Follows one conversation for one page until it is cancelled.

    Args:
        facts: The snapshot that the page already has.
        look: Reads the next one: `await look(conversation_id, since=…)`.
        send: Gives the page a message.
    """

    def __init__(self, facts: dict[str, Any], look: Look, send: Send) -> None:
        self.conversation_id: int = facts["conversation"]["id"]
        self._key: str = facts["key"]
        self._look, self._send = look, send
        self._dirty, self._spoke = asyncio.Event(), asyncio.Event()
        self._live: dict[str, dict[str, Any]] = {}
        self._shown: dict[str, int] = {}
        self._facts: dict[str, Any] = {}
        self._news(facts)

    def nudge(self) -> None:
        """Something changed: look now."""
        self._dirty.set()

    async def run(self) -> None:
        """Follow, until cancelled or until a look says that the viewer may not look any more."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._keep())
            group.create_task(self._relay())

    async def _listen(self) -> None:
        group = hints.conversation_group(self._key)
        while True:
            try:
                async for hint in hints.subscribe(group, hints.PAGES):
                    if group in hint.get("groups", (group,)):
                        self._hear(hint)
            except Exception as error:  # noqa: BLE001 - whatever the broker's client raises
                logger.warning("Hints are away: %s", type(error).__name__)
            self._dirty.set()
            await asyncio.sleep(RESUBSCRIBE)

    def _hear(self, hint: dict[str, Any]) -> None:
        if hint["type"] == "stream.text":
            self._live[hint["key"]] = hint
            self._spoke.set()
        else:
            self._dirty.set()

    async def _keep(self) -> None:
        period = SECOND_LOOK
        while True:
            hinted = await _is_set_within(self._dirty, period)
            self._dirty.clear()
            overlap = queries.OVERLAP if hinted else queries.LONG_OVERLAP
            since = datetime.fromisoformat(self._facts["watermark"]) - overlap
            try:
                facts = await self._look(self.conversation_id, since=since)
            except DATABASE_TROUBLE as error:
                logger.warning("A page could not be brought up to date: %s", type(error).__name__)
            else:
                await self._tell(facts)
            period = BUSY_PERIOD if self._facts["turns"] or self._facts["pending"] else QUIET_PERIOD
            await asyncio.sleep(PACE)

    async def _tell(self, facts: dict[str, Any]) -> None:
        before = self._facts
        fresh = self._news(facts)
        same = all(before[name] == facts[name] for name in ("turns", "pending", "conversation"))
        if fresh or not same or facts.get("reset"):
            for message in messages({**facts, "entries": fresh}):
                await self._send({"type": "sync", **message})

    def _news(self, facts: dict[str, Any]) -> list[dict[str, Any]]:
        """The entries that the page does not have in this very shape."""
        self._facts = facts
        if facts.get("reset"):
            self._shown.clear()
        fresh = []
        for entry in facts["entries"]:
            mark = hash(repr(entry))
            if self._shown.get(entry["id"]) != mark:
                self._shown[entry["id"]] = mark
                fresh.append(entry)
        return fresh

    async def _relay(self) -> None:
        """Pass on what the agent is saying, as far as the page can take it."""
        while True:
            await self._spoke.wait()
            self._spoke.clear()
            live, self._live = self._live, {}
            size = 0
            for key, hint in live.items():
                text = hint["text"][: entries.LONGEST_LIVE]
                size += len(text)
                html = await asyncio.to_thread(entries.html, text)
                await self._send(
                    {
                        "type": "live",
                        "conversation": self.conversation_id,
                        "turn": hint["turn"],
                        "key": key,
                        "html": html,
                    }
                )
            await asyncio.sleep(LIVE_PACE + size / LIVE_RATE)


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
