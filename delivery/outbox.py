"""The outbox of one account: takes what is owed from the ledger and sees it through.

It runs in the event loop of the process that owns the account. One lane is served by one task at
a time, in the order of recording; different lanes go in parallel. What may be sent, and what an
error means, is decided elsewhere (`ledger`, `retry`); here is only the doing.
"""

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Protocol, TypeVar

from django.db import DataError, IntegrityError

from delivery import destinations, ledger, retry, wording
from delivery.addresses import Address
from delivery.conf import delivery_settings
from delivery.content import Controls, Rendered
from delivery.database import DATABASE_TROUBLE
from delivery.errors import LeaseLost, MessageGone, OutcomeUnknown, TransportError
from delivery.leases import Fence
from delivery.ledger import Claimed
from delivery.models import Obligation, Part
from delivery.ports import Certainty, OutgoingPart, Outlet, Receipt, Transport
from delivery.retry import Decision, Step
from delivery.states import State

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

MOST_LANES = 100
QUIET_POLL = 1.0  # seconds between looks at the ledger when nobody gave a hint
DRAIN = 10.0  # seconds that sends under way may take to end when the process stops


class Database(Protocol):
    """Runs a synchronous function that uses the database, off the event loop."""

    def __call__(
        self, function: Callable[..., Result], *args: Any, **kwargs: Any
    ) -> Awaitable[Result]:
        """The result of `function(*args, **kwargs)`."""
        ...


class Previews(Protocol):
    """The live messages of this account."""

    async def take_over(self, key: str) -> list[str]:
        """End the preview `key`; the platform ids of its messages, in order."""
        ...


@dataclasses.dataclass(frozen=True)
class Ambience:
    """What an outbox needs of the world around it: the database, the time and chance."""

    database: Database
    clock: Callable[[], datetime]
    chance: Callable[[], float]


@dataclasses.dataclass
class _Shown:
    """The messages that an obligation replaces.

    Attributes:
        by_part: The message that each part changes, by the part's position.
        spare: Those that are of no use any more once everything is delivered.
    """

    by_part: dict[int, str]
    spare: list[str]


class Outbox:
    """Sends what one account owes.

    Args:
        account: The account's name.
        fence: The right to act for it.
        transport: The open connection.
        outlet: What the platform can do.
        previews: The account's live messages.
        ambience: Database, clock and chance.
    """

    def __init__(
        self,
        account: str,
        fence: Fence,
        transport: Transport,
        outlet: Outlet,
        previews: Previews,
        ambience: Ambience,
    ) -> None:
        self.account, self.fence, self.transport = account, fence, transport
        self.outlet, self.previews, self.ambience = outlet, previews, ambience
        self.lease_lost = asyncio.Event()
        self.account_refused = asyncio.Event()
        self.on_claim: Callable[[Obligation], None] = lambda _obligation: None
        self.on_moved: Callable[[Address, str], None] = lambda _address, _new_chat_id: None
        self._woken = asyncio.Event()
        self._open = False
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._blocked: dict[str, datetime] = {}
        self._postponed: list[datetime] = []  # when what was tried here is due again
        self._told = 0  # hints of something owed that no claim has answered yet

    def wake(self) -> None:
        """Something may be owed: look now."""
        self._told += 1
        self._woken.set()

    def open(self) -> None:
        """The connection stands: send."""
        self._open = True
        self._woken.set()

    def close(self) -> None:
        """The connection is away: let everything wait."""
        self._open = False

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve the account until `stopping` is set or the lease is lost, then let sends end."""
        try:
            while not stopping.is_set() and not self.lease_lost.is_set():
                self._woken.clear()
                if self._open:
                    await self._claim()
                await self._wait(stopping)
        finally:
            await self._drain()

    async def _wait(self, stopping: asyncio.Event) -> None:
        waiters = [
            asyncio.ensure_future(self._woken.wait()),
            asyncio.ensure_future(stopping.wait()),
        ]
        await asyncio.wait(waiters, timeout=self._until_due(), return_when=asyncio.FIRST_COMPLETED)
        for waiter in waiters:
            waiter.cancel()

    def _until_due(self) -> float:
        """How long to wait without a hint: to the next postponed message, but never long."""
        now = self.ambience.clock()
        self._postponed = [until for until in self._postponed if until > now]
        waits = [(until - now).total_seconds() for until in self._postponed]
        return min([QUIET_POLL, *waits]) + 0.001

    async def _claim(self) -> None:
        now = self.ambience.clock()
        self._blocked = {name: until for name, until in self._blocked.items() if until > now}
        room = MOST_LANES - len(self._lanes)
        if room <= 0 or "account" in self._blocked:
            return
        try:
            claimed = await self.ambience.database(
                ledger.claim_due,
                self.fence,
                self.account,
                now=now,
                busy=list(self._lanes),
                limit=room,
            )
        except LeaseLost:
            self.lease_lost.set()
            return
        except DATABASE_TROUBLE:
            logger.exception("The ledger cannot be read", extra={"account": self.account})
            return
        self._told = max(0, self._told - len(claimed)) if claimed else 0
        for work in claimed:
            self.on_claim(work.obligation)
            task = asyncio.create_task(self._serve(work), name=f"lane {work.obligation.lane}")
            self._lanes[work.obligation.lane] = task

    async def _serve(self, work: Claimed) -> None:
        try:
            await self._see_through(work)
        except LeaseLost:
            logger.warning("Another process owns the account now", extra={"account": self.account})
            self.lease_lost.set()
        except Exception:
            # The row stays `attempting`; whoever owns the account next settles it honestly.
            logger.exception("A delivery failed", extra={"obligation": work.obligation.pk})
            self.lease_lost.set()
        finally:
            self._lanes.pop(work.obligation.lane, None)
            if self._told or work.obligation.state != State.DELIVERED:
                self._woken.set()  # more of this lane may be owed

    async def _see_through(self, work: Claimed) -> None:
        targets = await self._edit_targets(work)
        shown = _Shown(dict(enumerate(targets)), targets[work.obligation_parts :])
        if work.obligation.edits_id and not targets:
            gone = MessageGone("the message to change was never sent")
            await self._abandon(
                work, work.parts[0], gone, Decision(Step.ABANDON, reason=gone.detail), "edit"
            )
            return
        for part in list(work.parts):
            if not await self._deliver(work, part, shown):
                return
        for message_id in shown.spare:
            with contextlib.suppress(TransportError):
                await self.transport.delete(work.obligation.destination, message_id)

    async def _edit_targets(self, work: Claimed) -> list[str]:
        obligation = work.obligation
        if obligation.edits_id:
            edited = obligation.edits_id
            return await _insist(lambda: self.ambience.database(ledger.message_ids, edited))
        if obligation.preview_key:
            return await _insist(lambda: self.previews.take_over(obligation.preview_key))
        return []

    async def _deliver(self, work: Claimed, part: Part, shown: _Shown) -> bool:
        """See one part through; True when it is delivered, False when the rest must wait."""
        # What only closes an earlier message is not worth a message of its own.
        tried: set[Step] = {Step.FRESH} if work.obligation.edits_id else set()
        while True:
            target = shown.by_part.get(part.position, "")
            operation = "edit" if target else "send"
            marked = bool(part.was_lost) and not target and self._must_mark()
            try:
                receipt = await self._call_safely(work, part, target, marked=marked)
            except TransportError as error:
                decision = self._decide(error, work, part, frozenset(tried), target)
                if decision.step is Step.ABANDON:
                    await self._abandon(work, part, error, decision, operation)
                    return False
                if decision.step in {Step.LATER, Step.MARKED}:
                    await self._postpone(work, part, error, decision, operation)
                    return False
                tried.add(decision.step)
                if decision.step is Step.FRESH:
                    shown.spare.append(shown.by_part.pop(part.position))
                self._reshape(work, part, decision.step, error)
                now = self.ambience.clock()
                await self._write(ledger.try_again, work, part, error, operation=operation, now=now)
                continue
            now = self.ambience.clock()
            await self._write(
                ledger.accept, work, part, receipt, operation=operation, marked=marked, now=now
            )
            return True

    async def _call_safely(
        self, work: Claimed, part: Part, target: str, *, marked: bool
    ) -> Receipt:
        """As `_call`; a fault of ours becomes an unknown outcome, which is tried again and ends.

        One message that cannot be sent for such a reason must not hold up the whole account.
        """
        try:
            receipt = await self._call(work, part, target, marked=marked)
        except TransportError:
            raise
        except Exception as error:
            logger.exception("An adapter failed", extra={"obligation": work.obligation.pk})
            message = f"the adapter failed with {type(error).__name__}"
            raise OutcomeUnknown(message) from error
        if not receipt.message_id:
            raise OutcomeUnknown("the platform named no message")  # [D4]: that is no receipt
        return receipt

    async def _call(self, work: Claimed, part: Part, target: str, *, marked: bool) -> Receipt:
        body = part.rendered
        if marked:
            body = self.outlet.dialect.mark(body, str(wording.RECOVERED))
        is_last = part.position == work.obligation_parts - 1
        outgoing = OutgoingPart(
            address=work.obligation.destination,
            body=body,
            idempotency_key=part.idempotency_key,
            controls=work.obligation.native_controls if is_last else Controls(),
            reply_to=work.obligation.reply_to if part.position == 0 else "",
        )
        if target:
            return await self.transport.edit(target, outgoing)
        return await self.transport.send(outgoing)

    def _must_mark(self) -> bool:
        return self.outlet.certainty is not Certainty.IDEMPOTENT

    def _decide(
        self, error: TransportError, work: Claimed, part: Part, tried: frozenset[Step], target: str
    ) -> Decision:
        decision = retry.decide(
            error,
            attempt=part.attempts,
            recoveries=work.obligation.recoveries,
            max_recoveries=delivery_settings().max_recoveries,
            tried=tried,
            chance=self.ambience.chance(),
            is_edit=bool(target),
        )
        if decision.stops_account:
            self.account_refused.set()
            self.close()
        return decision

    def _reshape(self, work: Claimed, part: Part, step: Step, error: TransportError) -> None:
        obligation = work.obligation
        if step is Step.PLAIN:
            plain = part.rendered.plain
            length = self.outlet.dialect.measure(plain)
            part.body = Rendered(text=plain, plain=plain, length=length).as_dict()
        elif step is Step.NO_ANCHOR:
            obligation.reply_to = ""
        elif step is Step.PARENT:
            obligation.address = {**obligation.address, "thread_id": ""}
            obligation.reply_to = ""
            marked = self.outlet.dialect.mark(part.rendered, str(wording.FROM_THREAD))
            part.body = marked.as_dict()
        elif step is Step.MOVED:
            new_chat_id = getattr(error, "new_chat_id", "")
            self.on_moved(obligation.destination, new_chat_id)
            obligation.address = {**obligation.address, "chat_id": new_chat_id}
            obligation.chat_id, obligation.reply_to = new_chat_id, ""

    async def _postpone(
        self, work: Claimed, part: Part, error: TransportError, decision: Decision, operation: str
    ) -> None:
        now = self.ambience.clock()
        until = now + decision.delay
        self._postponed.append(until)
        if decision.blocks == "account":
            self._blocked["account"] = until
        lost = isinstance(error, OutcomeUnknown) and operation == "send"
        await self._write(
            ledger.postpone, work, part, error, lost=lost, until=until, operation=operation, now=now
        )

    async def _abandon(
        self, work: Claimed, part: Part, error: TransportError, decision: Decision, operation: str
    ) -> None:
        now = self.ambience.clock()
        await self._write(
            ledger.abandon, work, part, error, reason=decision.reason, operation=operation, now=now
        )
        if decision.kills_destination:
            address = work.obligation.destination
            await self._write(destinations.bury, address, reason=decision.reason, now=now)

    async def _write(self, function: Callable[..., None], *args: Any, **kwargs: Any) -> None:
        """Write to the ledger, again and again while the database is away.

        What the platform said must not be forgotten because the database blinked; as long as this
        process lives, it is the only one that knows.
        """
        await _insist(lambda: self.ambience.database(function, *args, **kwargs))

    async def _drain(self) -> None:
        under_way = list(self._lanes.values())
        if not under_way:
            return
        _, late = await asyncio.wait(under_way, timeout=DRAIN)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1.0)


async def _insist(call: Callable[[], Awaitable[Result]]) -> Result:
    """What `call` gives, as soon as the database lets it."""
    wait = 0.1
    while True:
        try:
            return await call()
        except (IntegrityError, DataError):
            raise  # what was to be written is wrong, and stays wrong
        except DATABASE_TROUBLE:
            logger.exception("The ledger is out of reach; trying again")
            await asyncio.sleep(wait)
            wait = min(wait * 2, 2.0)
