"""An outbox at work: one account, its lease, a platform that obeys, and time that stands still."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from delivery import leases, ledger, registry
from delivery.leases import Fence
from delivery.means import Ambience
from delivery.models import Attempt, Obligation, Part, Preview
from delivery.outbox import Outbox
from delivery.ports import OutgoingPart
from delivery.previews import LivePreviews
from delivery.states import OPEN
from tests.factories import make_obligation
from tests.fakes.clock import FakeClock
from tests.fakes.database import DatabaseThread
from tests.fakes.transport import FakeTransport

ACCOUNT = "telegram"
OWNER = "host/100/1"


def take_lease(owner: str = OWNER, account: str = ACCOUNT, *, clock: FakeClock) -> Fence:
    """The lease of an account, whoever holds it now."""
    fence = leases.acquire(
        f"account:{account}",
        owner,
        now=clock(),
        ttl=timedelta(seconds=20),
        is_dead=lambda _owner: True,
    )
    assert fence is not None
    return fence


class Desk:
    """One process that owns the account; `restart` makes it another.

    Args:
        database: Where the ledger is.
        clock: The time.
        account: Its name, which is also that of its platform.
    """

    def __init__(self, database: DatabaseThread, clock: FakeClock, account: str = ACCOUNT) -> None:
        self.database, self.clock, self.account = database, clock, account
        self.transport = FakeTransport(knows=self.knows)
        self.outlet = registry.outlet(account)
        self.on_moved: Callable[[Any, str], None] = lambda _address, _new_chat_id: None
        self.restart()

    def restart(self, owner: str = OWNER) -> None:
        """Another process takes the account over; the platform stays what it is."""
        self.fence = take_lease(owner, self.account, clock=self.clock)

    def change_outlet(self, **changes: Any) -> None:
        """The platform has other abilities."""
        self.outlet = replace(self.outlet, **changes)

    def owe(self, content: str = "", **changes: Any) -> Obligation:
        """A message is owed."""
        return make_obligation(content=content, now=self.clock(), **changes)

    def serve(
        self,
        until: Callable[[], bool] | None = None,
        *,
        then: Callable[["Desk"], None] | None = None,
        within: float = 15.0,
    ) -> None:
        """Send what is owed until `until` is true (by default: until nothing is open) and stop.

        Args:
            until: Asked again and again, in the database's thread.
            then: Called in the event loop before the outbox is told to stop.
            within: Seconds after which it has failed.
        """
        asyncio.run(self._serve(until or nothing_is_open, then, within))

    async def _serve(
        self,
        until: Callable[[], bool],
        then: Callable[["Desk"], None] | None,
        within: float,
    ) -> None:
        ambience = Ambience(self.database, self.clock, lambda: 0.0)
        self.previews = LivePreviews(self.account, self.transport, self.outlet, ambience)
        self.outbox = Outbox(
            self.account, self.fence, self.transport, self.outlet, self.previews, ambience
        )
        self.outbox.on_moved = self.on_moved
        stopping = asyncio.Event()
        self.outbox.open()
        running = asyncio.create_task(self.outbox.run(stopping))
        try:
            await self.wait_until(until, within)
            if then is not None:
                then(self)
        finally:
            stopping.set()
            await asyncio.wait_for(running, 20)
            await self.previews.stop()
        assert self.transport.unknown == [], "it was sent and is not in the ledger"

    async def knows(self, part: OutgoingPart) -> bool:
        """Whether the ledger says that `part` is being sent at this moment ([D3])."""
        return await self.database(is_being_sent, part)

    async def wait_until(self, check: Callable[[], bool], within: float = 15.0) -> None:
        """Ask again and again; fail when it does not come true."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        while not await self.database(check):
            assert loop.time() < deadline, "it did not come true"
            await asyncio.sleep(0.005)

    def has_lost_the_lease(self) -> bool:
        return self.outbox.lease_lost.is_set()

    def calls(self, number: int) -> Callable[[], bool]:
        """Whether so much was sent or edited, and everything about it is written down."""
        return lambda: len(self.transport.messages) >= number and not is_attempting()


def nothing_is_open() -> bool:
    return not Obligation.objects.filter(state__in=sorted(OPEN)).exists()


def is_being_sent(part: OutgoingPart) -> bool:
    """Whether a row says so: a part's, or that of the preview it belongs to."""
    key = part.idempotency_key
    rows = Part.objects.filter(idempotency_key=key, state="attempting")
    named = [row.key for row in Preview.objects.filter(account=ACCOUNT)]
    return rows.filter(obligation__state="attempting").exists() or any(
        key.startswith(f"p{name}-") for name in named
    )


def is_attempting() -> bool:
    return Obligation.objects.filter(state="attempting").exists()


def has(obligation: Obligation, **facts: Any) -> Callable[[], bool]:
    """Whether the row of `obligation` has these columns by now."""
    return Obligation.objects.filter(pk=obligation.pk, **facts).exists


def parts_of(obligation: Obligation) -> list[Part]:
    return list(Part.objects.filter(obligation=obligation).order_by("position"))


def outcomes(obligation: Obligation) -> list[tuple[str, str]]:
    """What was tried, in order: the operation and how it ended."""
    tries = Attempt.objects.filter(part__obligation=obligation).order_by("id")
    return list(tries.values_list("operation", "outcome"))


def claim(desk: Desk, **options: Any) -> list[ledger.Claimed]:
    """What the desk's process may send now, claimed without an outbox."""
    return ledger.claim_due(desk.fence, ACCOUNT, now=desk.clock(), **options)
