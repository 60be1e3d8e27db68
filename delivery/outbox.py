"""The outbox of one account: takes what is owed from the ledger and sees it through.

It runs in the event loop of the process that owns the account. One lane is served by one task at
a time, in the order of recording; different lanes go in parallel. What may go now, and what waits
for what, is decided elsewhere (`ledger`, `scheduling`); how one message is sent, in `sending`.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import datetime

from delivery import bearings, ledger, masking
from delivery.addresses import Address
from delivery.database import DATABASE_TROUBLE
from delivery.errors import LeaseLost, NotSent
from delivery.leases import Fence
from delivery.ledger import Claimed
from delivery.means import Ambience, Means, Previews, Reports
from delivery.models import Obligation
from delivery.ports import Outlet, Transport, problem_with
from delivery.scheduling import Schedule
from delivery.sending import Sending
from delivery.states import State
from delivery.traffic import Traffic, errand_of

logger = logging.getLogger(__name__)

MOST_LANES = 100
QUIET_POLL = 1.0  # seconds between looks at the ledger when nobody gave a hint
DRAIN = 10.0  # seconds that sends under way may take to end when the process stops


class Outbox:
    """Sends what one account owes.

    Args:
        account: The account's name.
        fence: The right to act for it.
        transport: The open connection.
        outlet: What the platform can do.
        previews: The account's live messages.
        ambience: Database, clock and chance.
        traffic: The account's limits, where others share them.

    Raises:
        ValueError: The transport cannot keep what the platform promises.
    """

    def __init__(
        self,
        account: str,
        fence: Fence,
        transport: Transport,
        outlet: Outlet,
        previews: Previews,
        ambience: Ambience,
        traffic: Traffic | None = None,
    ) -> None:
        if problem := problem_with(transport, outlet.certainty):
            raise ValueError(problem)
        self.account, self.fence, self.ambience = account, fence, ambience
        self.traffic = traffic or Traffic(Schedule(outlet.rates), ambience.clock)
        self.lease_lost = asyncio.Event()
        self.account_refused = asyncio.Event()
        self.on_claim: Callable[[Obligation], None] = lambda _obligation: None
        self.on_moved: Callable[[Address, str], None] = lambda _address, _new_chat_id: None
        reports = Reports(self._note_postponed, self._refused, self._moved)
        self._means = Means(transport, outlet, previews, self.traffic, ambience, reports)
        self._woken = asyncio.Event()
        self._open = False
        self._lanes: dict[str, asyncio.Task[None]] = {}
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
        watching = asyncio.create_task(self._wake_at(stopping), name="end of an outbox")
        try:
            while not stopping.is_set() and not self.lease_lost.is_set():
                self._woken.clear()
                if self._open:
                    await self._claim()
                if not stopping.is_set():  # it may have been set, and woken, before the clearing
                    await self._wait()
        finally:
            watching.cancel()
            await self._drain()

    async def _wake_at(self, stopping: asyncio.Event) -> None:
        await stopping.wait()
        self._woken.set()

    async def _wait(self) -> None:
        """Wait for a hint; one waiter instead of two, as this comes round with every message."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._until_due()):
                await self._woken.wait()

    def _until_due(self) -> float:
        """How long to wait without a hint: to the next message that is due, but never long."""
        now = self.ambience.clock()
        self._postponed = [until for until in self._postponed if until > now]
        limited = self.traffic.look_at()
        times = [*self._postponed, *([limited] if limited else [])]
        return min([QUIET_POLL, *((at - now).total_seconds() for at in times)]) + 0.001

    async def _claim(self) -> None:
        room = MOST_LANES - len(self._lanes)
        if room <= 0 or self.traffic.room() == 0:
            return
        held, admitted = self.traffic.held(), list[Obligation]()

        def admit(heads: list[Obligation]) -> list[Obligation]:
            admitted.extend(self.traffic.admit(heads, room))
            return admitted

        claimed: list[Claimed] = []
        try:
            claimed = await self.ambience.database(
                ledger.claim_due,
                self.fence,
                self.account,
                now=self.ambience.clock(),
                busy=[*self._lanes, *held],
                limit=MOST_LANES,
                admit=admit,
            )
        except LeaseLost:
            self.lease_lost.set()
        except DATABASE_TROUBLE:
            logger.exception("The ledger cannot be read", extra={"account": self.account})
        self._begin(claimed, admitted)
        if len(self.traffic.held()) > len(held):
            self._woken.set()  # what had to wait may have hidden what need not

    def _begin(self, claimed: list[Claimed], admitted: list[Obligation]) -> None:
        self._told = max(0, self._told - len(claimed)) if claimed else 0
        taken = {work.obligation.pk for work in claimed}
        for obligation in admitted:
            if obligation.pk not in taken:
                self.traffic.finish(errand_of(obligation), NotSent())
        for work in claimed:
            self.on_claim(work.obligation)
            task = asyncio.create_task(self._serve(work), name=f"lane {work.obligation.lane}")
            self._lanes[work.obligation.lane] = task

    async def _serve(self, work: Claimed) -> None:
        there = work.obligation.destination
        with masking.people(there.chat_id if there.is_private else ""):
            await self._serve_one(work)

    async def _serve_one(self, work: Claimed) -> None:
        lane = work.obligation.lane
        try:
            with bearings.about(delivery=work.obligation.pk, account=self.account):
                await Sending(self._means, work).see_through()
        except LeaseLost:
            logger.warning("Another process owns the account now", extra={"account": self.account})
            self.lease_lost.set()
        except Exception:
            # The row stays `attempting`; whoever owns the account next settles it honestly.
            logger.exception("A delivery failed", extra={"obligation": work.obligation.pk})
            self.lease_lost.set()
        finally:
            self._lanes.pop(lane, None)
            is_settled = work.obligation.state == State.DELIVERED
            if self._told or not is_settled or self.traffic.waits_for_an_end():
                self._woken.set()  # more of this lane, or of what waited for it, may be owed

    # --- what whoever sends tells ---------------------------------------------------------------

    def _note_postponed(self, until: datetime) -> None:
        self._postponed.append(until)

    def _refused(self) -> None:
        self.account_refused.set()
        self.close()

    def _moved(self, address: Address, new_chat_id: str) -> None:
        self.on_moved(address, new_chat_id)

    async def _drain(self) -> None:
        under_way = list(self._lanes.values())
        if not under_way:
            return
        _, late = await asyncio.wait(under_way, timeout=DRAIN)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1.0)
