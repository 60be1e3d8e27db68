"""One account in the process that owns it: its connection, its outbox, its live side."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from delivery import hints, replacing, wording
from delivery.addresses import Address
from delivery.database import DATABASE_TROUBLE
from delivery.leases import Fence
from delivery.means import Ambience
from delivery.models import Kind, Obligation
from delivery.outbox import Outbox
from delivery.previews import LivePreviews
from delivery.scheduling import Schedule
from delivery.traffic import Traffic
from gateway import accounts, deeds, keys, platforms, sessions, turns
from gateway.deeds import AckPress, Deed, ShowHeard, StartTyping
from gateway.errors import BadSecret, UnknownPlatform
from gateway.media.arrivals import Arrivals
from gateway.media.sending import carrier
from gateway.models import Account, AccountState
from gateway.ports import Adapter, Platform, outlet_of
from gateway.runner.connection import Connection, Reactions
from gateway.runner.courtesies import Courtesies
from gateway.runner.presence import Presence

logger = logging.getLogger(__name__)
ENDS_TYPING = {Kind.FINAL, Kind.PROMPT, Kind.APPROVAL, Kind.ERROR}
LOOK_AT_TYPING = 5.0  # seconds between looks at whether what is typed for is still at work


class AccountService:
    """Serves one account until `stopping` is set or its lease is lost."""

    def __init__(self, account: Account, fence: Fence, ambience: Ambience) -> None:
        self.account, self.fence, self.ambience = account, fence, ambience
        self.stopping = asyncio.Event()
        self.held_until = 0.0  # on the loop's clock; after it another may own the account

    @property
    def is_held(self) -> bool:
        """Whether the lease cannot have run out yet; a process that was stopped may be too late."""
        return asyncio.get_running_loop().time() < self.held_until

    async def run(self) -> None:
        """Connect and serve; reconnect for as long as it takes."""
        try:
            platform = platforms.get(self.account.platform)
            adapter = platform.build_adapter(accounts.config_of(self.account))
            serving = _Serving(self, platform, adapter)
        except (UnknownPlatform, BadSecret, ValueError) as error:
            await self._cannot_serve(str(error))
            return
        await serving.run(self.stopping)

    async def _cannot_serve(self, error: str) -> None:
        logger.error("An account cannot be served: %s", error, extra={"account": self.account.slug})
        await self.ambience.database(
            accounts.set_state,
            self.account,
            AccountState.DEGRADED,
            now=self.ambience.clock(),
            error=error,
        )
        await self.stopping.wait()


class _Serving:
    """The parts of a service, once its adapter is built, and how they work together."""

    def __init__(self, service: AccountService, platform: Platform, adapter: Adapter) -> None:
        self.slug, self.ambience, self.adapter = service.account.slug, service.ambience, adapter
        outlet, rates = outlet_of(platform), platform.rates(accounts.config_of(service.account))
        self.traffic = Traffic(Schedule(rates), self.ambience.clock)
        has_toasts = platform.capabilities.toasts
        self.courtesies = Courtesies(adapter, self.traffic, has_toasts=has_toasts)
        self.presence = Presence(adapter, outlet, is_able=platform.capabilities.typing)
        self.presence.has_room = lambda address: self.traffic.has_room(address, "typing")
        self.previews = LivePreviews(self.slug, adapter, outlet, self.ambience, self.traffic)
        self.previews.may_show = lambda: service.is_held
        transport = carrier(self.slug, adapter, self.ambience)
        self.outbox = Outbox(
            *(self.slug, service.fence, transport, outlet, self.previews, self.ambience),
            self.traffic,
        )
        self.outbox.on_claim = self._about_to_send
        self.outbox.on_moved = lambda address, chat_id: self._spawn(self._move(address, chat_id))
        reactions = Reactions(self._connected, self.outbox.close, self._do)
        self.arrivals = Arrivals(adapter, self.ambience, turns.let_begin)
        self.connection = Connection(
            service.account, service.fence, adapter, self.ambience, reactions
        )
        self._deeds: set[asyncio.Task[None]] = set()
        self._is_tidy = False

    async def run(self, stopping: asyncio.Event) -> None:
        outbox = asyncio.create_task(self.outbox.run(stopping), name="outbox")
        others = [
            asyncio.create_task(work, name=name)
            for name, work in (
                ("hints", self._listen()),
                ("connection", self.connection.run(stopping)),
                ("lease", self._watch_lease(stopping)),
                ("refusals", self._watch_refusals()),
                ("typing", self._look_at_typing()),
            )
        ]
        try:
            await self._until(stopping, {outbox, *others})
        finally:
            await self._end(outbox, others)

    async def _until(self, stopping: asyncio.Event, tasks: set[asyncio.Task[None]]) -> None:
        """Wait until `stopping` is set, or one of `tasks` has ended: half a service is none."""
        stopped = asyncio.create_task(stopping.wait())
        done, _ = await asyncio.wait({stopped, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        for task in done & tasks:
            error = task.exception()
            if error is not None:
                facts = {"account": self.slug, "task": task.get_name()}
                logger.error("A part of a service failed", exc_info=error, extra=facts)
        stopping.set()

    async def _end(self, outbox: asyncio.Task[None], others: list[asyncio.Task[None]]) -> None:
        await asyncio.wait([outbox], timeout=12)  # sends under way come to their end first
        for task in (outbox, *others):
            task.cancel()
        await self.presence.stop()
        await self.previews.stop()
        for deed in tuple(self._deeds):  # a file half fetched is fetched by the next process
            deed.cancel()
        await asyncio.gather(outbox, *others, return_exceptions=True)
        await self.adapter.disconnect()
        await self.connection.note(AccountState.DISCONNECTED)

    async def _watch_lease(self, stopping: asyncio.Event) -> None:
        await self.outbox.lease_lost.wait()
        stopping.set()

    async def _watch_refusals(self) -> None:
        """A send that was refused for the credential stops the outbox: connect anew, and see."""
        while True:
            await self.outbox.account_refused.wait()
            self.outbox.account_refused.clear()
            self.connection.doubt()

    async def _look_at_typing(self) -> None:
        """Hints are lossy, and a quick answer may be there before its typing begins."""
        while True:
            await asyncio.sleep(LOOK_AT_TYPING)
            shown = self.presence.turns
            if not shown:
                continue
            try:
                busy = await self.ambience.database(turns.at_work, shown)
            except DATABASE_TROUBLE:
                logger.exception("What is typed for could not be looked at")
                continue
            for turn in shown - busy:
                self.presence.end(turn)

    def _connected(self) -> None:
        self.outbox.open()
        self._spawn(self.arrivals.resume(self.slug))
        self._spawn(self._tidy())

    def _do(self, deed: Deed) -> None:
        if isinstance(deed, AckPress):
            self._spawn(self.courtesies.acknowledge(deed))
        elif isinstance(deed, StartTyping):
            self.presence.start(deed.turn, deed.address)
        elif isinstance(deed, ShowHeard):
            self._spawn(self.courtesies.show_heard(deed))
        else:
            self._spawn(self.arrivals.gather(deed.turn))

    async def _tidy(self) -> None:
        """Take away what an earlier owner did not come to, once; it is owed to nobody."""
        if self._is_tidy:
            return
        self._is_tidy = True
        try:
            await replacing.take_away_what_is_left(self.slug, self.adapter, self.ambience)
        except DATABASE_TROUBLE:
            logger.exception("Left live messages stay", extra={"account": self.slug})
            self._is_tidy = False

    async def _move(self, address: Address, new_chat_id: str) -> None:
        """A send told us that a chat has a new id; what stands under the old one moves along."""
        try:
            await self.ambience.database(
                sessions.move_chat,
                address.platform,
                address.account,
                address.chat_id,
                new_chat_id,
                now=self.ambience.clock(),
            )
        except DATABASE_TROUBLE:  # the next send to the old id tells us again
            logger.exception("A chat could not be moved", extra={"account": self.slug})

    def _about_to_send(self, obligation: Obligation) -> None:
        """What a turn typed for is about to be sent; no hint of its own is needed for that."""
        turn = keys.turn_of(obligation.correlation)
        if obligation.kind in ENDS_TYPING and turn is not None:
            self.presence.end(turn)

    def _spawn(self, deed: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(deed)
        self._deeds.add(task)
        task.add_done_callback(self._deeds.discard)

    async def _listen(self) -> None:
        while True:
            try:
                async for hint in hints.subscribe(hints.outbox_group(self.slug)):
                    self._hear(hint)
            except Exception:  # the outbox looks for itself meanwhile
                logger.exception("Listening for hints was interrupted")
                await asyncio.sleep(1.0)

    def _hear(self, hint: dict[str, Any]) -> None:
        match hint["type"]:
            case "outbox.wake":
                self.outbox.wake()
            case "deed":  # of an event that another process took in
                self._do(deeds.from_plain(hint["deed"]))
            case "turn.begun":
                self.presence.start(int(hint["turn"]), Address.from_dict(hint["address"]))
            case "turn.ended":
                self.presence.end(int(hint["turn"]))
            case "stream.stop":
                self._spawn(self.previews.discard(hint["key"], str(wording.STOPPED)))
            case "stream.end":
                self._spawn(self.previews.discard(hint["key"], ""))
            case "stream.text":
                self.previews.show(
                    hint["key"],
                    Address.from_dict(hint["address"]),
                    hint["reply_to"],
                    hint["text"],
                    epoch=int(hint["epoch"]),
                )
