"""Live previews: an answer shown while it is being made.

They may degrade; a final never depends on one having worked.

`Pace` decides when the next edit goes out (pure). `LivePreviews` keeps the messages of one account
in the event loop of the process that owns it. The ids of preview messages are stored
(`preview_rows`), so that the final can replace them by edit even after a crash ([D5] editable,
[D13]).
"""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from delivery import preview_rows
from delivery.addresses import Address
from delivery.content import Rendered
from delivery.database import DATABASE_TROUBLE
from delivery.errors import NotSent, OutcomeUnknown, RateLimited, Refused, TransportError
from delivery.means import Ambience
from delivery.pacing import Budget
from delivery.ports import Certainty, OutgoingPart, Outlet, Transport
from delivery.scheduling import Schedule
from delivery.traffic import Traffic

logger = logging.getLogger(__name__)

CURSOR = " ▉"
FIRST_AFTER = 0.7  # seconds of streaming before a preview is worth its message
FIRST_LENGTH = 16  # characters
GROWTH = 12  # characters that make another edit worth its call
LONGEST_INTERVAL = 10.0
STRIKES = 3
REMEMBERED = 2000
UNNAMED = ""  # stands for the id of a message that may be there though nobody knows under which
MOST_A_SECOND = 10.0  # of one account


@dataclass
class Pace:
    """When to show the next state of a text that grows. Times are seconds of one monotonic clock.

    Attributes:
        interval: The least time between two edits; doubles whenever the platform complains.
        started_at: When the stream began.
    """

    interval: float
    started_at: float
    shown_at: float = 0.0
    shown_length: int = 0
    strikes: int = 0

    @property
    def has_given_up(self) -> bool:
        """The platform complained too often: no more previews for this turn."""
        return self.strikes >= STRIKES

    def next_at(self, length: int) -> float | None:
        """When a text of `length` characters should be shown; None if it need not be."""
        if self.has_given_up:
            return None
        if not self.shown_length:
            return self._first_at() if length >= FIRST_LENGTH else None
        if length < self.shown_length + GROWTH:
            return None
        return self.shown_at + self.interval

    def _first_at(self) -> float:
        first = self.started_at + FIRST_AFTER
        return max(first, self.shown_at + self.interval) if self.strikes else first

    def shown(self, length: int, at: float) -> None:
        """It was shown."""
        self.shown_at, self.shown_length = at, max(length, 1)

    def complained(self, at: float, retry_after: float) -> None:
        """The platform asked to wait `retry_after` seconds."""
        self.strikes += 1
        self.interval = min(LONGEST_INTERVAL, self.interval * 2)
        self.shown_at = max(self.shown_at, at + retry_after - self.interval)


@dataclass
class _Live:
    key: str
    address: Address
    reply_to: str
    pace: Pace
    text: str = ""
    message_ids: list[str] = field(default_factory=list)
    shown_parts: list[str] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    epoch: int = 0
    task: asyncio.Task[None] | None = None

    def close(self) -> None:
        self.closing.set()
        self.changed.set()


class _NoRoom(Exception):
    """What is owed needs all that the platform lets us send."""


class LivePreviews:
    """The live messages of one account.

    Args:
        account: The account's name.
        transport: The open connection.
        outlet: What the platform can do.
        ambience: Database, clock and chance.
        traffic: The account's limits; previews take only what is left of them.
    """

    def __init__(
        self,
        account: str,
        transport: Transport,
        outlet: Outlet,
        ambience: Ambience,
        traffic: Traffic | None = None,
    ) -> None:
        self.account, self.transport, self.outlet = account, transport, outlet
        self.ambience = ambience
        self.traffic = traffic or Traffic(Schedule(outlet.rates), ambience.clock)
        self.may_show: Callable[[], bool] = lambda: True
        self._live: dict[str, _Live] = {}
        self._budget = Budget(MOST_A_SECOND)
        self._ended: OrderedDict[str, None] = OrderedDict()

    def show(self, key: str, address: Address, reply_to: str, text: str, *, epoch: int) -> None:
        """The text of stream `key` is now `text`; show it when it is time.

        Nothing of a stream that has ended is ever shown, nor of an execution (`epoch`) that a later
        one has replaced.
        """
        if key in self._ended or not self.outlet.supports_editing:
            return
        live = self._live.get(key)
        if live is None:
            outlet, is_private = self.outlet, address.chat_type == "dm"
            interval = outlet.minimum_edit_interval if is_private else outlet.group_edit_interval
            pace = Pace(interval.total_seconds(), asyncio.get_running_loop().time())
            live = self._live[key] = _Live(key, address, reply_to, pace)
            live.task = asyncio.create_task(self._run(live), name=f"preview {key}")
        if epoch < live.epoch:
            return
        live.epoch, live.text = epoch, text
        live.changed.set()

    async def take_over(self, key: str, chat_id: str = "") -> list[str]:
        """End the stream and give the ids of its messages in a chat, for the final to replace.

        An empty one stands for a message that may be there, though nobody knows its id: its
        sending was not answered, or the process died before the answer was stored.
        """
        self._ended[key] = None
        while len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
        live = self._live.pop(key, None)
        if live is not None:
            live.close()
            if live.task is not None:
                await asyncio.wait([live.task], timeout=15)
                live.task.cancel()
            if live.message_ids and chat_id in {"", live.address.chat_id}:
                return live.message_ids
        # A former owner of the account may have begun it, and this one not gone on with it yet.
        return await self.ambience.database(preview_rows.stored_ids, key, chat_id)

    async def discard(self, key: str, note: str) -> None:
        """End a stream that nothing replaces: what is shown stays, with `note` for the cursor."""
        live = self._live.get(key)
        shown = live.text if live else ""
        ids = await self.take_over(key)
        if live is None or not ids or not ids[-1]:
            return
        parts = self.outlet.dialect.render(f"{shown}\n\n{note}".strip())
        with contextlib.suppress(TransportError):
            part = parts[min(len(parts), len(ids)) - 1]
            await self.transport.edit(ids[-1], self._outgoing(live, part, len(ids)))

    async def stop(self) -> None:
        """End every stream; what is shown stays as it is."""
        for key in list(self._live):
            live = self._live.pop(key)
            if live.task is not None:
                live.task.cancel()

    async def _run(self, live: _Live) -> None:
        loop = asyncio.get_running_loop()
        while not live.closing.is_set() and not live.pace.has_given_up:
            live.changed.clear()
            due = live.pace.next_at(len(live.text))
            wait = None if due is None else due - loop.time()
            if wait is not None and wait <= 0:
                if not self._budget.take(loop.time()):  # under pressure previews go before finals
                    await self._give_way(live)
                    continue
                await self._display(live)
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(live.changed.wait(), wait)

    async def _display(self, live: _Live) -> None:
        text = live.text
        loop = asyncio.get_running_loop()
        try:
            await self._draw(live, text)
        except _NoRoom:
            await self._give_way(live)
        except RateLimited as error:
            live.pace.complained(loop.time(), error.retry_after)
        except TransportError as error:
            logger.info(
                "A preview is given up: %s", type(error).__name__, extra={"stream": live.key}
            )
            live.pace.strikes = STRIKES
        except DATABASE_TROUBLE:
            logger.exception("A preview could not be stored", extra={"stream": live.key})
            live.pace.strikes = STRIKES
        else:
            live.pace.shown(len(text), loop.time())

    async def _draw(self, live: _Live, text: str) -> None:
        if not live.message_ids:  # a former owner of the account may have begun
            live.message_ids = await self.ambience.database(preview_rows.stored_ids, live.key)
            live.shown_parts = [""] * len(live.message_ids)
        parts = self.outlet.dialect.render(text + CURSOR)
        for position, part in enumerate(parts):
            # Of an account that another owns by now, the final may be there already.
            if live.closing.is_set() or not self.may_show():
                return
            outgoing = self._outgoing(live, part, position)
            if position < len(live.message_ids):
                await self._change(live, position, outgoing)
            else:
                await self._begin(live, outgoing)

    async def _change(self, live: _Live, position: int, outgoing: OutgoingPart) -> None:
        message_id, text = live.message_ids[position], outgoing.body.text
        if message_id == UNNAMED:
            message = "an earlier message of this preview cannot be named"
            raise OutcomeUnknown(message)
        if live.shown_parts[position] != text:
            with self._room(outgoing, "edit"):
                await self.transport.edit(message_id, outgoing)
            live.shown_parts[position] = text

    async def _begin(self, live: _Live, outgoing: OutgoingPart) -> None:
        """Send one more message, noted before it is sent: it may stand there if we die now."""
        ids = list(live.message_ids)
        try:
            with self._room(outgoing, "send"):
                await self._store(live, [*ids, UNNAMED])
                receipt = await self.transport.send(outgoing)
        except (NotSent, Refused):
            await self._store(live, ids)
            raise
        except OutcomeUnknown as error:
            if self.outlet.certainty is Certainty.IDEMPOTENT:
                # Sent again with the same key it will be named; meanwhile it is no loss.
                await self._store(live, ids)
                raise RateLimited(error.detail, retry_after=0.0) from error
            live.message_ids.append(UNNAMED)
            live.shown_parts.append("")
            raise
        live.message_ids.append(receipt.message_id)
        live.shown_parts.append(outgoing.body.text)
        await self._store(live, live.message_ids)

    @contextlib.contextmanager
    def _room(self, outgoing: OutgoingPart, method: str) -> Iterator[None]:
        """Take what is left of the account's limits for one call, and say how it ended."""
        if not self.traffic.has_room(outgoing.address, method):
            raise _NoRoom
        failure: TransportError | None = None
        try:
            yield
        except TransportError as error:
            failure = error
            raise
        finally:
            self.traffic.ended(outgoing.address, method, failure)

    async def _give_way(self, live: _Live) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(live.closing.wait(), live.pace.interval / 2)

    async def _store(self, live: _Live, message_ids: list[str]) -> None:
        now = self.ambience.clock()
        await self.ambience.database(
            preview_rows.store, live.key, self.account, live.address, message_ids, now
        )

    def _outgoing(self, live: _Live, part: Rendered, position: int) -> OutgoingPart:
        return OutgoingPart(
            address=live.address,
            body=part,
            idempotency_key=f"p{live.key}-{position}"[:32],
            reply_to=live.reply_to if position == 0 else "",
        )
