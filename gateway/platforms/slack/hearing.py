"""What comes in to one Slack account, and when Slack may forget it.

An envelope is acknowledged when what it held is stored, which the caller tells by asking for what
comes after it; until then Slack keeps it and tells it again over another socket.
"""

import asyncio
import logging
import uuid
from collections import OrderedDict
from dataclasses import dataclass, replace

import aiohttp

from delivery.errors import TransportError
from gateway.messages import Batch, Inbound, InboundMessage
from gateway.platforms.slack import wire
from gateway.platforms.slack.sockets import Envelope, Sockets
from gateway.platforms.slack.web import Web

_LOGGER = logging.getLogger(__name__)

PATIENCE = 30.0  # seconds for which one look for news waits
MOST_AT_ONCE = 50  # envelopes
NAME_SECONDS = 1.0  # a name is worth no more of the three seconds for an acknowledgement
MOST_NAMES = 5000


@dataclass(frozen=True)
class _HandedOut:
    """What was given and is not known to be stored yet."""

    batch: Batch
    envelopes: tuple[Envelope, ...]


class Hearing:
    """Hears what one account is told.

    Args:
        web: The Web API.
        sockets: Where it comes from; None where it comes over HTTP, to another process.
        us: Who we are.
    """

    def __init__(self, web: Web, sockets: Sockets | None, us: wire.Us) -> None:
        self._web, self._sockets, self._us = web, sockets, us
        self._handed: _HandedOut | None = None
        self._names: OrderedDict[str, str] = OrderedDict()

    async def receive(self, cursor: str) -> Batch:
        """Wait for envelopes.

        Asked with the cursor of what was given last, it is acknowledged; asked with another, it is
        given again.
        """
        if self._handed is not None:
            if cursor != self._handed.batch.cursor:
                return self._handed.batch
            await self._acknowledge_all(self._handed.envelopes)
            self._handed = None
        if self._sockets is None:
            return await self._wait_for_others(cursor)
        envelopes = await self._sockets.next(PATIENCE, MOST_AT_ONCE)
        events = [event for one in envelopes for event in self._read(one)]
        if not events:
            await self._acknowledge_all(tuple(envelopes))
            return Batch(cursor, ())
        batch = Batch(uuid.uuid4().hex, tuple(await self._with_names(events)))
        self._handed = _HandedOut(batch, tuple(envelopes))
        return batch

    async def close(self) -> None:
        """Hear nothing any more; what was not acknowledged comes again."""
        self._handed = None
        if self._sockets is not None:
            await self._sockets.close()

    async def _wait_for_others(self, cursor: str) -> Batch:
        """Events come over HTTP, to another process; here it is only seen whether Slack is there.

        Raises:
            AuthenticationRefused: The token was revoked meanwhile.
        """
        await asyncio.sleep(PATIENCE)
        await self._web.ask("auth.test")
        return Batch(cursor, ())

    def _read(self, envelope: Envelope) -> list[Inbound]:
        return wire.normalise(envelope.kind, envelope.payload, self._us)

    async def _acknowledge_all(self, envelopes: tuple[Envelope, ...]) -> None:
        for one in envelopes:
            try:
                await one.line.acknowledge(one, wire.answer_to(one.kind, one.payload))
            except (aiohttp.ClientError, OSError) as error:
                # Slack tells it again, and what is stored is known.
                _LOGGER.info("An envelope was not acknowledged: %s", type(error).__name__)

    async def _with_names(self, events: list[Inbound]) -> list[Inbound]:
        """Messages say who spoke by id alone; staff and the agent want to know the name."""
        try:
            async with asyncio.timeout(NAME_SECONDS):
                return [await self._named(event) for event in events]
        except (TimeoutError, TransportError):
            return events

    async def _named(self, event: Inbound) -> Inbound:
        if not isinstance(event, InboundMessage) or event.source.user_name or event.source.is_bot:
            return event
        name = await self._name_of(event.source.user_id)
        return replace(event, source=replace(event.source, user_name=name))

    async def _name_of(self, user_id: str) -> str:
        if user_id not in self._names:
            found = await self._web.ask("users.info", {"user": user_id}, is_form=True)
            self._names[user_id] = wire.name_in(found)
            if len(self._names) > MOST_NAMES:
                self._names.popitem(last=False)
        return self._names[user_id]
