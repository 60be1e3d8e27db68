"""Seeing one owed message through: each of its parts, in whichever shape the platform takes.

What an error means is decided elsewhere (`retry`), and how a part is said (`calling`).
"""

from collections.abc import Callable
from typing import Any

from delivery import destinations, ledger, retry
from delivery.calling import HARMLESS, Call, Caller
from delivery.conf import delivery_settings
from delivery.errors import MessageGone, OutcomeUnknown, TransportError
from delivery.ledger import Claimed
from delivery.means import Means, insist
from delivery.models import Obligation, Part
from delivery.ports import Receipt
from delivery.replacing import Replaced
from delivery.retry import Decision, Step
from delivery.scheduling import Errand
from delivery.traffic import Traffic, errand_of, errand_to


class Sending:
    """One claimed message on its way out.

    Args:
        means: What the account works with.
        work: The claim.
    """

    def __init__(self, means: Means, work: Claimed) -> None:
        self._means, self._work = means, work
        self._caller = Caller(means, work)
        self._room = _Room(means.traffic, work.obligation)
        self._replaced = Replaced(means, work)

    async def see_through(self) -> None:
        """Send what is still to be sent, for as long as that may go on.

        Raises:
            LeaseLost: Another process owns the account by now.
        """
        try:
            if not await self._finds():
                return
            for part in list(self._work.parts):
                if not await self._deliver(part):
                    return
            await self._replaced.tidy()
        finally:
            self._room.let_go(OutcomeUnknown())

    # --- what it replaces -----------------------------------------------------------------------

    async def _finds(self) -> bool:
        """Learn which messages this one changes; False if that gave it up."""
        if await self._replaced.find():
            return True
        gone = MessageGone("the message to change was never sent")
        verdict = Decision(Step.ABANDON, reason=gone.detail)
        self._room.let_go(gone)
        await self._abandon(self._work.parts[0], gone, verdict, "edit")
        return False

    # --- one part ---------------------------------------------------------------------------

    async def _deliver(self, part: Part) -> bool:
        """See one part through; True when the next one may follow, False when it must wait."""
        # What only closes an earlier message is not worth a message of its own.
        tried: set[Step] = {Step.FRESH} if self._work.obligation.edits_id else set()
        while True:
            target, is_doubtful = self._replaced.target(part), self._replaced.is_doubtful(part)
            call = Call(target, "edit" if target else "send", is_doubtful)
            try:
                receipt = await self._caller.call(part, call)
            except TransportError as error:
                decision = self._decide(error, part, frozenset(tried), call)
                if decision.step is Step.LEAVE and self._work.after(part):
                    return await self._leave(part, error, call)
                if not await self._again(part, error, decision, call.operation):
                    return False
                tried.add(decision.step)
                continue
            return await self._accept(part, receipt, call)

    async def _accept(self, part: Part, receipt: Receipt, call: Call) -> bool:
        self._room.let_go(None)
        goes_on = self._goes_on_after(part)
        await self._write(
            ledger.accept,
            self._work,
            part,
            receipt,
            operation=call.operation,
            marked=call.marked,
            now=self._means.ambience.clock(),
            goes_on=goes_on,
        )
        return goes_on

    async def _leave(self, part: Part, error: TransportError, call: Call) -> bool:
        """Send what comes after a part whose fate stays unknown: that certainly did not arrive."""
        self._room.let_go(error)
        goes_on = self._goes_on_after(part)
        await self._write(
            ledger.leave,
            self._work,
            part,
            error,
            operation=call.operation,
            now=self._means.ambience.clock(),
            goes_on=goes_on,
        )
        return goes_on

    async def _again(
        self, part: Part, error: TransportError, decision: Decision, operation: str
    ) -> bool:
        """Do what was decided; True when the part is to be tried again at once."""
        if decision.step in {Step.LEAVE, Step.ABANDON, Step.LATER, Step.MARKED}:
            is_over = decision.step in {Step.LEAVE, Step.ABANDON}
            self._room.let_go(error)
            await (self._abandon if is_over else self._postpone)(part, error, decision, operation)
            return False
        # The refused call made no message: the next shape has its room.
        if decision.step is Step.FRESH:
            self._replaced.give_up(part, error)
        elif decision.step is Step.MOVED:
            self._replaced.leave_behind()
        self._caller.reshape(part, decision.step, error)
        now = self._means.ambience.clock()
        await self._write(ledger.try_again, self._work, part, error, operation=operation, now=now)
        return True

    # --- what comes of it -----------------------------------------------------------------------

    def _decide(
        self, error: TransportError, part: Part, tried: frozenset[Step], call: Call
    ) -> Decision:
        decision = retry.decide(
            error,
            attempt=part.attempts,
            recoveries_left=delivery_settings().max_recoveries - part.losses,
            tried=tried,
            chance=self._means.ambience.chance(),
            is_edit=bool(call.target),
            is_harmless=self._means.outlet.certainty in HARMLESS,
        )
        if decision.stops_account:
            self._means.reports.refused()
        return decision

    async def _postpone(
        self, part: Part, error: TransportError, decision: Decision, operation: str
    ) -> None:
        now = self._means.ambience.clock()
        until = now + decision.delay
        self._means.reports.postponed(until)
        await self._write(
            ledger.postpone,
            self._work,
            part,
            error,
            is_harmless=self._means.outlet.certainty in HARMLESS,
            until=until,
            operation=operation,
            now=now,
        )

    async def _abandon(
        self, part: Part, error: TransportError, decision: Decision, operation: str
    ) -> None:
        now = self._means.ambience.clock()
        await self._write(
            ledger.abandon,
            self._work,
            part,
            error,
            reason=decision.reason,
            operation=operation,
            now=now,
            tells=not decision.kills_destination,
        )
        if decision.kills_destination:
            address = self._work.obligation.destination
            await self._write(destinations.bury, address, reason=decision.reason, now=now)

    async def _write(self, function: Callable[..., None], *args: Any, **kwargs: Any) -> None:
        """Write to the ledger, again and again while the database is away.

        What the platform said must not be forgotten because the database blinked; as long as this
        process lives, it is the only one that knows.
        """
        await insist(lambda: self._means.ambience.database(function, *args, **kwargs))

    def _goes_on_after(self, part: Part) -> bool:
        """Whether the part after `part`, if there is one, may follow at once."""
        rest = self._work.after(part)
        if not rest:
            return True
        method = "edit" if self._replaced.target(rest[0]) else "send"
        return self._room.take(rest[0], method)


class _Room:
    """What one message holds of the account's limits; the claim took room for its first part."""

    def __init__(self, traffic: Traffic, obligation: Obligation) -> None:
        self._traffic, self._obligation = traffic, obligation
        self._holds: Errand | None = errand_of(obligation)

    def take(self, part: Part, method: str) -> bool:
        """Whether `part` may follow at once."""
        is_media = bool(part.body.get("media"))
        errand = errand_to(self._obligation.destination, method, is_media=is_media)
        if not self._traffic.goes_on(errand):
            return False
        self._holds = errand
        return True

    def let_go(self, error: TransportError | None) -> None:
        """What was let go last came to its end."""
        if self._holds is not None:
            self._traffic.finish(self._holds, error)
            self._holds = None
