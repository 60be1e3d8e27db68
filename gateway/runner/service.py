"""One account in the process that owns it: its connection, its outbox, its live side."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from django.db import DatabaseError, InterfaceError

from delivery import hints, ledger, wording
from delivery.addresses import Address
from delivery.errors import (
    AuthenticationRefused,
    LeaseLost,
    RateLimited,
    TransportError,
)
from delivery.leases import Fence
from delivery.models import Kind, Obligation
from delivery.outbox import Ambience, Outbox
from delivery.previews import LivePreviews
from delivery.retry import back_off
from gateway import accounts, intake, platforms, sessions
from gateway.errors import BadSecret, UnknownPlatform
from gateway.intake import AckPress, Deed, StartTyping
from gateway.models import Account, AccountState
from gateway.ports import Adapter, outlet_of
from gateway.runner.presence import Presence

logger = logging.getLogger(__name__)
ENDS_TYPING = {Kind.FINAL, Kind.PROMPT, Kind.APPROVAL, Kind.ERROR}
REFUSED_PAUSE = 60.0  # seconds before a refused credential is tried again


class AccountService:
    """Serves one account until `stopping` is set or its lease is lost."""

    def __init__(self, account: Account, fence: Fence, ambience: Ambience) -> None:
        self.account, self.fence, self.ambience = account, fence, ambience
        self.stopping = asyncio.Event()
        self._deeds: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Connect and serve; reconnect for as long as it takes."""
        try:
            platform = platforms.get(self.account.platform)
            adapter = platform.build_adapter(accounts.config_of(self.account))
        except (UnknownPlatform, BadSecret, ValueError) as error:
            await self._state(AccountState.DEGRADED, str(error))
            await self.stopping.wait()
            return
        outlet = outlet_of(platform)
        self.adapter = adapter
        self.presence = Presence(adapter, outlet, is_able=platform.capabilities.typing)
        self.previews = LivePreviews(self.account.slug, adapter, outlet, self.ambience)
        self.outbox = Outbox(
            self.account.slug, self.fence, adapter, outlet, self.previews, self.ambience
        )
        self.outbox.on_claim = self._about_to_send
        self.outbox.on_moved = lambda address, chat_id: self._spawn(self._move(address, chat_id))
        tasks = [
            asyncio.create_task(self.outbox.run(self.stopping), name="outbox"),
            asyncio.create_task(self._listen(), name="hints"),
            asyncio.create_task(self._keep_connected(adapter), name="connection"),
            asyncio.create_task(self._watch_lease(), name="lease"),
        ]
        try:
            await self.stopping.wait()
        finally:
            await self._end(tasks, adapter)

    async def _end(self, tasks: list[asyncio.Task[None]], adapter: Adapter) -> None:
        await asyncio.wait(tasks[:1], timeout=12)  # sends under way come to their end first
        for task in tasks:
            task.cancel()
        await self.presence.stop()
        await self.previews.stop()
        await asyncio.gather(*tasks, return_exceptions=True)
        await adapter.disconnect()
        await self._state(AccountState.DISCONNECTED, "")

    async def _watch_lease(self) -> None:
        await self.outbox.lease_lost.wait()
        self.stopping.set()

    async def _keep_connected(self, adapter: Adapter) -> None:
        failures = 0
        while not self.stopping.is_set():
            try:
                await self._state(AccountState.CONNECTING, "")
                identity = await adapter.connect()
                await self._state(AccountState.READY, "", identity=identity)
                await self.ambience.database(
                    ledger.release_account, self.account.slug, now=self.ambience.clock()
                )
                failures = 0
                self.outbox.open()
                await self._receive(adapter)
            except AuthenticationRefused as error:
                logger.error(  # noqa: TRY400 - the sentence says all; a traceback adds nothing
                    "The credential is refused: %s",
                    error.detail,
                    extra={"account": self.account.slug},
                )
                await self._away(AccountState.AUTH_FAILED, error.detail)
                await self._pause(REFUSED_PAUSE)
            except (TransportError, DatabaseError, InterfaceError) as error:
                failures += 1
                await self._away(AccountState.DEGRADED, str(error))
                await self._pause(back_off(failures, self.ambience.chance()).total_seconds())
            except LeaseLost:
                self.stopping.set()
            except Exception as error:
                failures += 1
                logger.exception("A connection failed", extra={"account": self.account.slug})
                await self._away(AccountState.DEGRADED, f"{type(error).__name__}: {error}")
                await self._pause(back_off(failures, self.ambience.chance()).total_seconds())

    async def _away(self, state: AccountState, error: str) -> None:
        self.outbox.close()
        await self._state(state, error)
        await self.adapter.disconnect()

    async def _receive(self, adapter: Adapter) -> None:
        """Take in what comes, for as long as the connection stands."""
        cursor = await self.ambience.database(self._stored_cursor)
        failures = 0
        while not self.stopping.is_set():
            try:
                batch = await adapter.receive(cursor)
            except RateLimited as error:
                await self._pause(error.retry_after)
                continue
            except AuthenticationRefused:
                raise
            except TransportError as error:
                failures += 1
                await self._note_trouble(failures, str(error))
                await self._pause(back_off(failures, self.ambience.chance()).total_seconds())
                continue
            if failures:
                failures = 0
                await self._state(AccountState.READY, "")
                await self.ambience.database(
                    ledger.release_account, self.account.slug, now=self.ambience.clock()
                )
                self.outbox.wake()
            if batch.cursor == cursor and not batch.events:
                continue
            deeds = await self.ambience.database(
                intake.receive, self.account.slug, self.fence, batch, now=self.ambience.clock()
            )
            cursor = batch.cursor
            for deed in deeds:
                self._do(deed)

    async def _note_trouble(self, failures: int, error: str) -> None:
        if failures in {1, 5, 20} or failures % 100 == 0:
            logger.warning(
                "Receiving fails: %s",
                error,
                extra={"account": self.account.slug, "times": failures},
            )
            await self._state(AccountState.DEGRADED, error)

    def _stored_cursor(self) -> str:
        return Account.objects.values_list("cursor", flat=True).get(pk=self.account.pk)

    def _do(self, deed: Deed) -> None:
        if isinstance(deed, AckPress):
            self._spawn(self._acknowledge(deed))
        elif isinstance(deed, StartTyping):
            self.presence.start(deed.turn, deed.address)

    async def _acknowledge(self, deed: AckPress) -> None:
        try:
            await self.adapter.acknowledge(deed.press, text=str(deed.text), alert=deed.alert)
        except TransportError as error:
            logger.info("A press could not be acknowledged: %s", error.detail)

    async def _move(self, address: Address, new_chat_id: str) -> None:
        """A send told us that a chat has a new id; whatever stands under the old one moves along."""
        try:
            await self.ambience.database(
                sessions.move_chat,
                address.platform,
                address.account,
                address.chat_id,
                new_chat_id,
                now=self.ambience.clock(),
            )
        except (DatabaseError, InterfaceError):  # the next send to the old id tells us again
            logger.exception("A chat could not be moved", extra={"account": self.account.slug})

    def _about_to_send(self, obligation: Obligation) -> None:
        """What a turn typed for is about to be sent; no hint of its own is needed for that."""
        if obligation.kind in ENDS_TYPING and obligation.correlation.isdigit():
            self.presence.end(int(obligation.correlation))

    def _spawn(self, deed: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(deed)
        self._deeds.add(task)
        task.add_done_callback(self._deeds.discard)

    async def _listen(self) -> None:
        while True:
            try:
                async for hint in hints.subscribe(hints.outbox_group(self.account.slug)):
                    self._hear(hint)
            except Exception:  # the outbox looks for itself meanwhile
                logger.exception("Listening for hints was interrupted")
                await asyncio.sleep(1.0)

    def _hear(self, hint: dict[str, Any]) -> None:
        match hint["type"]:
            case "outbox.wake":
                self.outbox.wake()
            case "turn.ended":
                self.presence.end(int(hint["turn"]))
            case "stream.stop":
                self._spawn(self.previews.discard(hint["key"], str(wording.STOPPED)))
            case "stream.text":
                self.previews.show(
                    hint["key"],
                    Address.from_dict(hint["address"]),
                    hint["reply_to"],
                    hint["text"],
                    epoch=int(hint["epoch"]),
                )

    async def _state(self, state: AccountState, error: str, *, identity: Any = None) -> None:
        try:
            await self.ambience.database(
                accounts.set_state,
                self.account,
                state,
                now=self.ambience.clock(),
                error=error,
                identity=identity,
            )
        except (DatabaseError, InterfaceError):
            logger.exception("The state of an account could not be stored")

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self.stopping.wait(), seconds)
        except TimeoutError:
            return
