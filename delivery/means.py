"""What whoever sends works with: the way out, the limits, the database, the time and chance."""

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Protocol, TypeVar

from django.db import DataError, IntegrityError

from delivery.addresses import Address
from delivery.database import DATABASE_TROUBLE
from delivery.ports import Outlet, Transport
from delivery.traffic import Traffic

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


class Database(Protocol):
    """Runs a synchronous function that uses the database, off the event loop."""

    def __call__(
        self, function: Callable[..., Result], *args: Any, **kwargs: Any
    ) -> Awaitable[Result]:
        """The result of `function(*args, **kwargs)`."""
        ...


class Previews(Protocol):
    """The live messages of this account."""

    async def take_over(self, key: str, chat_id: str = "") -> list[str]:
        """End the preview `key`.

        Args:
            key: Which.
            chat_id: Where its answer goes; what is shown in another chat is no concern of that.

        Returns:
            The platform ids of its messages, in order; an empty one for a message that may stand
            there though nobody knows its id.
        """
        ...


@dataclasses.dataclass(frozen=True)
class Ambience:
    """What an outbox needs of the world around it: the database, the time and chance."""

    database: Database
    clock: Callable[[], datetime]
    chance: Callable[[], float]


@dataclasses.dataclass(frozen=True)
class Reports:
    """What whoever sends tells the outbox.

    Attributes:
        postponed: A message is due again at this time.
        refused: The credential is refused, and nothing more may be tried.
        moved: The chat at an address has another id.
    """

    postponed: Callable[[datetime], None]
    refused: Callable[[], None]
    moved: Callable[[Address, str], None]


@dataclasses.dataclass(frozen=True)
class Means:
    """What every sending of one account works with."""

    transport: Transport
    outlet: Outlet
    previews: Previews
    traffic: Traffic
    ambience: Ambience
    reports: Reports


async def insist(call: Callable[[], Awaitable[Result]]) -> Result:
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
