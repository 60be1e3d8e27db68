"""The ledger in memory: what an outbox asks of a database, without one.

It keeps the rules of `delivery.ledger` (`test_outbox_simulation` holds it to them): one message of
a lane, the oldest; what an earlier owner was sending is lost; a part is delivered once.
"""

import itertools
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any

from delivery.addresses import Address
from delivery.ageing import rank
from delivery.content import Rendered
from delivery.errors import LeaseLost, OutcomeUnknown
from delivery.leases import Fence
from delivery.ledger import PRIORITIES, Claimed
from delivery.models import Kind, Obligation, Part
from delivery.states import OBLIGATIONS, OPEN, PARTS, Event, PartEvent, PartState, State


class MemoryLedger:
    """Also the `Database` of an outbox: it answers the ledger's verbs by their names.

    Attributes:
        rows: Every obligation, by its id.
        parts: Its parts.
        dead: The chats that refused us for good.
        fence: The newest right to the account; an older one may write nothing.
    """

    def __init__(self) -> None:
        self.rows: dict[int, Obligation] = {}
        self.parts: dict[int, list[Part]] = {}
        self.dead: set[str] = set()
        self.fence = Fence("account:sim", "host/0/0", 0)
        self._lanes: dict[str, deque[Obligation]] = {}
        self._ids = itertools.count(1)

    async def __call__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return getattr(self, function.__name__)(*args, **kwargs)

    def take_over(self) -> Fence:
        """Another process owns the account."""
        epoch = self.fence.epoch + 1
        self.fence = Fence(self.fence.name, f"host/{epoch}/0", epoch)
        return self.fence

    def owe(
        self,
        address: Address,
        texts: list[str],
        *,
        now: datetime,
        kind: Kind = Kind.FINAL,
        edits: Obligation | None = None,
    ) -> Obligation:
        """A message is owed, one part for each of `texts`."""
        owed = Obligation(
            pk=next(self._ids),
            account="sim",
            platform="sim",
            lane=address.lane,
            address=address.as_dict(),
            chat_id=address.chat_id,
            kind=kind,
            priority=PRIORITIES.get(kind, 1),
            content="\n".join(texts),
            next_attempt_at=now,
            created_at=now,
            updated_at=now,
            edits_id=edits.pk if edits else None,
        )
        self.rows[owed.pk] = owed
        self.parts[owed.pk] = [
            Part(
                pk=owed.pk * 100 + position,
                obligation=owed,
                position=position,
                body=Rendered(text=text, plain=text, length=len(text)).as_dict(),
                idempotency_key=f"{owed.pk}-{position}",
            )
            for position, text in enumerate(texts)
        ]
        self._lanes.setdefault(owed.lane, deque()).append(owed)
        return owed

    @property
    def open(self) -> list[Obligation]:
        """What is still owed."""
        return [owed for lane in self._lanes.values() for owed in lane]

    # --- the verbs ------------------------------------------------------------------------------

    def claim_due(self, fence, account, *, now, busy=(), limit=100, admit=list) -> list[Claimed]:
        if fence != self.fence:
            raise LeaseLost
        out = set(busy)
        heads = [
            lane[0]
            for name, lane in self._lanes.items()
            if name not in out and self._is_due(lane[0], fence, now)
        ]
        heads.sort(key=lambda head: (rank(head.priority, now - head.created_at), head.pk))
        return [self._claim(head, fence) for head in admit(heads[:limit])]

    def _is_due(self, head: Obligation, fence: Fence, now: datetime) -> bool:
        if head.state == State.ATTEMPTING:
            return head.epoch < fence.epoch
        return head.state == State.PENDING or head.next_attempt_at <= now

    def _claim(self, head: Obligation, fence: Fence) -> Claimed:
        parts = [part for part in self.parts[head.pk] if part.state != PartState.DELIVERED]
        if head.state == State.ATTEMPTING:
            head.recoveries += 1
            for part in parts:
                if part.state == PartState.ATTEMPTING:
                    part.state, part.was_lost = PARTS.target(PartEvent.LOSE), True
        head.state = OBLIGATIONS.advance(State(head.state), Event.CLAIM)
        head.owner, head.epoch, head.attempts = fence.owner, fence.epoch, head.attempts + 1
        self._begin(parts[0])
        return Claimed(head, parts, fence, parts[-1].position + 1)

    def accept(self, work, part, receipt, *, operation, marked, now, goes_on=True) -> None:
        self._check(work)
        rest = work.after(part)
        part.state = PARTS.advance(PartState(part.state), PartEvent.ACCEPT)
        part.message_id, part.delivered_at = receipt.message_id, now
        work.parts = rest
        if not rest:
            self._settle(work.obligation, Event.ACCEPT, now)
        elif goes_on:
            self._begin(rest[0])
        else:
            work.obligation.state = OBLIGATIONS.advance(State.ATTEMPTING, Event.PAUSE)

    def leave(self, work, part, error, *, operation, now, goes_on=True) -> None:
        raise AssertionError("no simulated platform is silent for so long")

    def postpone(self, work, part, error, *, until, operation, now, is_harmless=False) -> None:
        self._check(work)
        lost = isinstance(error, OutcomeUnknown) and operation == "send"
        work.obligation.state = OBLIGATIONS.advance(State.ATTEMPTING, Event.POSTPONE)
        work.obligation.next_attempt_at = until
        work.obligation.recoveries += lost and not is_harmless
        self._fail(part, lost=lost)

    def try_again(self, work, part, error, *, operation, now) -> None:
        self._check(work)
        part.attempts += 1

    def abandon(self, work, part, error, *, reason, operation, now, tells=True) -> None:
        self._check(work)
        self._fail(part, lost=isinstance(error, OutcomeUnknown))
        work.obligation.reason = reason
        self._settle(work.obligation, Event.ABANDON, now)

    def bury(self, address, *, reason, now) -> None:
        self.dead.add(address.chat_id)

    def message_ids(self, obligation_id) -> list[str]:
        return [part.message_id for part in self.parts[obligation_id] if part.message_id]

    # --- inside ---------------------------------------------------------------------------------

    def _check(self, work: Claimed) -> None:
        owed = work.obligation
        if (owed.owner, owed.epoch) != (work.fence.owner, work.fence.epoch):
            raise LeaseLost
        assert owed.state == State.ATTEMPTING

    def _begin(self, part: Part) -> None:
        part.state = PARTS.advance(PartState(part.state), PartEvent.BEGIN)
        part.attempts += 1

    def _fail(self, part: Part, *, lost: bool) -> None:
        event = PartEvent.LOSE if lost else PartEvent.REFUSE
        part.state = PARTS.advance(PartState(part.state), event)
        part.was_lost = part.was_lost or lost

    def _settle(self, owed: Obligation, event: Event, now: datetime) -> None:
        owed.state = OBLIGATIONS.advance(State(owed.state), event)
        owed.settled_at = now
        lane = self._lanes[owed.lane]
        assert lane.popleft() is owed
        assert owed.state not in OPEN
        if not lane:
            del self._lanes[owed.lane]
