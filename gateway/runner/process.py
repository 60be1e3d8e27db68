"""The gateway process: it owns accounts by lease and keeps each one's connection and outbox."""

import asyncio
import logging
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, TypeVar

from django.db import connection
from django.utils import timezone

from delivery import leases
from delivery.database import DATABASE_TROUBLE
from delivery.leases import Fence
from delivery.means import Ambience
from delivery.processes import is_certainly_dead, this_process
from gateway import access, accounts, barring, processes
from gateway.models import Account
from gateway.runner.service import AccountService
from gateway.watch import rounds

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

LEASE = timedelta(seconds=12)
ROUND = 2.0  # seconds between looks at which accounts there are to serve


class Pool:
    """Threads for the synchronous side: the database is never used on the event loop."""

    def __init__(self, size: int) -> None:
        self._executor = ThreadPoolExecutor(size, thread_name_prefix="database")

    async def __call__(self, function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        """The result of `function(*args, **kwargs)`, run in a thread of its own connection."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: _guarded(function, args, kwargs))

    def close(self) -> None:
        """Let the threads end."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _guarded(
    function: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Result:
    try:
        return function(*args, **kwargs)
    except DATABASE_TROUBLE:
        connection.close()  # a broken connection must not be met again
        raise
    finally:
        if connection.vendor == "postgresql":
            connection.close()  # back to the pool


class GatewayProcess:
    """Serves every account that no other living process serves."""

    def __init__(self) -> None:
        self.owner = this_process()
        self.pool = Pool(8)
        self.ambience = Ambience(database=self.pool, clock=timezone.now, chance=random.random)
        self._services: dict[str, tuple[AccountService, asyncio.Task[None]]] = {}
        self._ending: dict[str, asyncio.Task[None]] = {}

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve until `stopping` is set, then give everything up in good order."""
        await self._prepare()
        watching = asyncio.create_task(self._watch(stopping), name="watchdog")
        try:
            while not stopping.is_set():
                await self._round()
                await _pause(stopping, ROUND)
        finally:
            watching.cancel()
            await self._give_up_all()
            self.pool.close()

    async def _prepare(self) -> None:
        await self.pool(accounts.sync_environment)
        await self.pool(access.sync_environment, now=timezone.now())
        await self.pool(barring.sweep, now=timezone.now())

    async def _watch(self, stopping: asyncio.Event) -> None:
        """Make the watchdog's rounds here, too: somebody must notice when no worker does."""
        while not stopping.is_set():
            await _pause(stopping, rounds.EVERY.total_seconds())
            try:
                await self.pool(rounds.take, now=timezone.now())
            except DATABASE_TROUBLE as error:
                logger.warning("The watchdog cannot look: %s", type(error).__name__)
            except Exception:  # what goes on here must not end with it
                logger.exception("A round of the watchdog failed")

    async def _round(self) -> None:
        try:
            await self.pool(processes.beat, "gateway", now=timezone.now())
            wanted = {account.slug: account for account in await self.pool(accounts.enabled)}
            await self._renew(wanted)
            for slug, account in wanted.items():
                if slug not in self._services and slug not in self._ending:
                    await self._try_to_own(account)
        except DATABASE_TROUBLE:
            logger.exception("The database is away; looking again soon")

    async def _renew(self, wanted: dict[str, Account]) -> None:
        for slug, (service, task) in list(self._services.items()):
            until = _lease_end()
            held = await self.pool(leases.renew, service.fence, now=timezone.now(), ttl=LEASE)
            if held:
                service.held_until = until
            level, why = why_given_up(
                service.account, wanted.get(slug), is_held=held, is_over=task.done()
            )
            if why:
                logger.log(level, why, extra={"account": slug})
                self._give_up(slug)
        if self._ending:  # most end at once, and can be owned again in this very round
            await asyncio.wait(self._ending.values(), timeout=ROUND)

    async def _try_to_own(self, account: Account) -> None:
        until = _lease_end()
        fence: Fence | None = await self.pool(
            leases.acquire,
            account.lease_name,
            self.owner,
            now=timezone.now(),
            ttl=LEASE,
            is_dead=is_certainly_dead,
        )
        if fence is None:
            return
        service = AccountService(account, fence, self.ambience)
        service.held_until = until
        task = asyncio.create_task(service.run(), name=f"account {account.slug}")
        self._services[account.slug] = (service, task)
        logger.info("An account is served here", extra={"account": account.slug})

    def _give_up(self, slug: str) -> None:
        """End one service beside the others, whose leases must not wait for its last sends."""
        service, task = self._services.pop(slug)
        ending = asyncio.create_task(self._end(service, task), name=f"end of {slug}")
        self._ending[slug] = ending
        ending.add_done_callback(lambda _ending: self._ending.pop(slug, None))

    async def _end(self, service: AccountService, task: asyncio.Task[None]) -> None:
        service.stopping.set()
        await asyncio.wait([task], timeout=15)
        task.cancel()
        try:
            await self.pool(leases.release, service.fence, now=timezone.now())
        except DATABASE_TROUBLE:
            logger.exception("A lease could not be released; it runs out by itself")

    async def _give_up_all(self) -> None:
        for slug in list(self._services):
            self._give_up(slug)
        await asyncio.gather(*self._ending.values(), return_exceptions=True)


def _lease_end() -> float:
    """When a lease that is taken now will end, on the loop's clock, which no one can set."""
    return asyncio.get_running_loop().time() + LEASE.total_seconds()


def why_given_up(
    served: Account, wanted: Account | None, *, is_held: bool, is_over: bool
) -> tuple[int, str]:
    """Why an account is not served here any longer, and how loudly to say so; empty if it is.

    Args:
        served: The account as it is served.
        wanted: The account as it should be served; None for not at all.
        is_held: Its lease is still ours.
        is_over: Its service ended by itself.
    """
    if not is_held:
        return logging.WARNING, "Another process took over the account, which is let go here"
    if wanted is None:
        return logging.INFO, "The account was disabled, so it is disconnected"
    if (served.secret, served.options) != (wanted.secret, wanted.options):
        return logging.INFO, "The account was changed, so it is connected anew"
    if is_over:
        return logging.WARNING, "The service of the account ended by itself and is begun anew"
    return logging.INFO, ""


async def _pause(stopping: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stopping.wait(), seconds)
    except TimeoutError:
        return
