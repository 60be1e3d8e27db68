"""Hints between processes: cheap, lossy, and never what the truth depends on.

They travel over the channel layer. Every receiver also looks at the database now and then, so a
lost hint costs time and nothing else.
"""

import asyncio
import hashlib
import logging
import os
import threading
from collections.abc import AsyncIterator
from typing import Any

from channels.layers import get_channel_layer
from django.db import transaction

logger = logging.getLogger(__name__)
Payload = dict[str, Any]


class _Sender:
    """One event loop in one daemon thread of this process, for callers that have none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._pid = os.getpid()
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="hints", daemon=True).start()
            return self._loop


_sender = _Sender()


def outbox_group(account: str) -> str:
    """The group that the owner of `account` listens to."""
    return f"outbox.{_safe(account)}"


def conversation_group(key: str) -> str:
    """The group that the open browser pages of one conversation listen to.

    Args:
        key: The conversation key: what the rows of every app have in common.
    """
    return f"conversation.{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:40]}"


WORKERS = "workers"
OPERATORS = "operators"
PAGES = "pages"
STALE_AFTER = 5.0  # seconds
GATHERED_FOR = 0.04  # seconds; quicker than a person sees


def _safe(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in name)[:90]


def publish(group: str, kind: str, **payload: Any) -> None:
    """Tell `group`, from synchronous code, and go on at once; nothing is raised.

    Args:
        group: Which listeners.
        kind: What happened, as a stable word that listeners find under `type`.
        payload: Plain values that describe it.
    """
    message = {"type": kind, **payload}
    asyncio.run_coroutine_threadsafe(_send(group, message), _sender.loop())


def conversation_changed(key: str) -> None:
    """Once the transaction is committed, tell the pages that show a conversation to look again.

    Args:
        key: The conversation key; nothing is told for an empty one.
    """
    if key:
        group = conversation_group(key)
        transaction.on_commit(lambda: _changes.add(group))


def operators_changed() -> None:
    """Once the transaction is committed, tell the pages of operators to look again."""
    transaction.on_commit(lambda: _changes.add(OPERATORS))


class _Changes:
    """What changed lately, told to all pages in one message a moment later.

    One message moves several rows and each row has a word to say; pages look at the whole anyway.
    """

    def __init__(self) -> None:
        self._groups: set[str] = set()

    def add(self, group: str) -> None:
        """`group` has something new to look at."""
        loop = _sender.loop()
        loop.call_soon_threadsafe(self._note, loop, group)

    def _note(self, loop: asyncio.AbstractEventLoop, group: str) -> None:
        if not self._groups:
            loop.call_later(GATHERED_FOR, self._tell, loop)
        self._groups.add(group)

    def _tell(self, loop: asyncio.AbstractEventLoop) -> None:
        groups, self._groups = self._groups, set()
        if OPERATORS in groups:
            self._send(loop, OPERATORS, {"type": "operators.changed"})
        shown = sorted(groups - {OPERATORS})
        if shown:
            self._send(loop, PAGES, {"type": "pages.changed", "groups": shown})

    def _send(self, loop: asyncio.AbstractEventLoop, group: str, message: Payload) -> None:
        task = loop.create_task(_send(group, message))
        _under_way.add(task)
        task.add_done_callback(_under_way.discard)


_changes = _Changes()
_under_way: set[asyncio.Task[None]] = set()


async def _send(group: str, message: Payload) -> None:
    try:
        # A broker that hangs must not let hints pile up in memory: they are old by then anyway.
        async with asyncio.timeout(STALE_AFTER):
            await get_channel_layer().group_send(group, message)
    except (OSError, ConnectionError, TimeoutError) as error:
        logger.warning("A hint was not sent: %s", type(error).__name__, extra={"group": group})
    except Exception:  # a hint must never hurt whoever gave it
        logger.exception("A hint could not be sent", extra={"group": group})


async def subscribe(*groups: str) -> AsyncIterator[Payload]:
    """What is published to `groups`, for as long as the caller listens."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    for group in groups:
        await layer.group_add(group, channel)
    try:
        while True:
            yield await layer.receive(channel)
    finally:
        for group in groups:
            await layer.group_discard(group, channel)
