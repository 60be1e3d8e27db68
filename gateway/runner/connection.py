"""The connection of one account: kept up for as long as it takes, and read from ([P2])."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from delivery import ledger
from delivery.database import DATABASE_TROUBLE
from delivery.errors import AuthenticationRefused, LeaseLost, RateLimited, TransportError
from delivery.leases import Fence
from delivery.means import Ambience
from delivery.retry import back_off
from gateway import accounts, intake
from gateway.deeds import Deed
from gateway.messages import Batch
from gateway.models import Account, AccountState
from gateway.ports import Adapter, BotIdentity

logger = logging.getLogger(__name__)
REFUSED_PAUSE = 60.0  # seconds before a refused credential is tried again


@dataclass(frozen=True)
class Reactions:
    """What follows from what happens to a connection.

    Attributes:
        opened: It stands (again), and what waited for it may go.
        closed: It is away.
        done: An event was taken in, and this is to be done on the platform at once.
    """

    opened: Callable[[], None]
    closed: Callable[[], None]
    done: Callable[[Deed], None]


class Doubted(Exception):
    """Something else than receiving showed that the connection may be good for nothing."""


class Connection:
    """Connects one account, takes in what comes, and connects again."""

    def __init__(
        self,
        account: Account,
        fence: Fence,
        adapter: Adapter,
        ambience: Ambience,
        reactions: Reactions,
    ) -> None:
        self.account, self.fence, self.adapter = account, fence, adapter
        self.ambience, self.reactions = ambience, reactions
        self._doubted = asyncio.Event()

    def doubt(self) -> None:
        """A call was refused for the credential: connect anew, which tells whether it is good."""
        self._doubted.set()

    async def run(self, stopping: asyncio.Event) -> None:
        """Keep it up until `stopping` is set; set it when the lease of the account is lost."""
        failures = 0
        while not stopping.is_set():
            try:
                await self._connect()
                failures = 0
                await self._receive(stopping)
            except LeaseLost:
                stopping.set()
            except Doubted:
                await self._away(AccountState.DEGRADED, "a message was refused for the credential")
            except AuthenticationRefused as error:
                logger.error(  # noqa: TRY400 - the sentence says all; a traceback adds nothing
                    "The credential is refused: %s",
                    error.detail,
                    extra={"account": self.account.slug},
                )
                await self._away(AccountState.AUTH_FAILED, error.detail)
                await _pause(stopping, REFUSED_PAUSE)
            except (TransportError, *DATABASE_TROUBLE) as error:
                failures += 1
                await self._lose(str(error), failures, stopping)
            except Exception as error:
                failures += 1
                logger.exception("A connection failed", extra={"account": self.account.slug})
                await self._lose(f"{type(error).__name__}: {error}", failures, stopping)

    async def _connect(self) -> None:
        self._doubted.clear()
        await self.note(AccountState.CONNECTING)
        identity = await self.adapter.connect()
        await self._ready(identity)

    async def _ready(self, identity: BotIdentity | None = None) -> None:
        await self.note(AccountState.READY, identity=identity)
        now = self.ambience.clock()
        await self.ambience.database(ledger.release_account, self.account.slug, now=now)
        self.reactions.opened()

    async def _lose(self, error: str, failures: int, stopping: asyncio.Event) -> None:
        await self._away(AccountState.DEGRADED, error)
        await self._back_off(failures, stopping)

    async def _away(self, state: AccountState, error: str) -> None:
        self.reactions.closed()
        await self.note(state, error)
        await self.adapter.disconnect()

    async def _back_off(self, failures: int, stopping: asyncio.Event) -> None:
        await _pause(stopping, back_off(failures, self.ambience.chance()).total_seconds())

    async def _receive(self, stopping: asyncio.Event) -> None:
        """Take in what comes, for as long as the connection stands."""
        cursor = await self.ambience.database(accounts.stored_cursor, self.account)
        failures = 0
        while not stopping.is_set():
            try:
                batch = await self._next_batch(cursor)
            except RateLimited as error:
                await _pause(stopping, error.retry_after)
                continue
            except AuthenticationRefused:
                raise
            except TransportError as error:
                failures += 1
                await self._note_trouble(failures, str(error))
                await self._back_off(failures, stopping)
                continue
            if failures:
                failures = 0
                await self._ready()
            if batch.cursor == cursor and not batch.events:
                continue
            deeds = await self.ambience.database(
                intake.receive, self.account.slug, self.fence, batch, now=self.ambience.clock()
            )
            cursor = batch.cursor
            for deed in deeds:
                self.reactions.done(deed)

    async def _next_batch(self, cursor: str) -> Batch:
        """What comes in next.

        Raises:
            Doubted: `doubt` was called.
        """
        receiving = asyncio.ensure_future(self.adapter.receive(cursor))
        doubted = asyncio.ensure_future(self._doubted.wait())
        try:
            await asyncio.wait({receiving, doubted}, return_when=asyncio.FIRST_COMPLETED)
            if not receiving.done():
                raise Doubted
            return receiving.result()
        finally:
            receiving.cancel()
            doubted.cancel()

    async def _note_trouble(self, failures: int, error: str) -> None:
        if failures in {1, 5, 20} or failures % 100 == 0:
            logger.warning(
                "Receiving fails: %s",
                error,
                extra={"account": self.account.slug, "times": failures},
            )
            await self.note(AccountState.DEGRADED, error)

    async def note(
        self, state: AccountState, error: str = "", *, identity: BotIdentity | None = None
    ) -> None:
        """Write down how the connection stands; a database that is away is no reason to end."""
        try:
            await self.ambience.database(
                accounts.set_state,
                self.account,
                state,
                now=self.ambience.clock(),
                error=error,
                identity=identity,
            )
        except DATABASE_TROUBLE:
            logger.exception("The state of an account could not be stored")


async def _pause(stopping: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stopping.wait(), seconds)
    except TimeoutError:
        return
