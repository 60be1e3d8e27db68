"""A platform with limits of its own, that fails as platforms do, in virtual time.

It counts as a real one counts: what it accepted, in windows that slide. What should never happen
it writes into `complaints`.
"""

import asyncio
import itertools
import random
from collections import deque
from dataclasses import dataclass, field

from delivery.addresses import Address
from delivery.content import Limit, Rendered, Unit
from delivery.errors import (
    AuthenticationRefused,
    DestinationGone,
    NetworkDown,
    OutcomeUnknown,
    RateLimited,
    TransportError,
)
from delivery.ports import OutgoingPart, Rate, Rates, Receipt

MARK = "(again) "


@dataclass(frozen=True)
class Accepted:
    """One message or edit that the platform took."""

    at: float
    chat: str
    key: str
    text: str
    is_edit: bool

    @property
    def is_marked(self) -> bool:
        return self.text.startswith(MARK)


@dataclass
class Window:
    """A limit as the platform counts it."""

    rate: Rate
    passed: deque[float] = field(default_factory=deque)

    def has_room(self, now: float) -> bool:
        while self.passed and self.passed[0] <= now - self.rate.seconds + 1e-6:
            self.passed.popleft()
        return len(self.passed) < self.rate.calls


class RoughPlatform:
    """Takes messages, most of the time.

    Args:
        rates: What it lets pass.
        seed: Of its whims.
        trouble: How often a call goes wrong for no reason, from 0 to 1.

    Attributes:
        is_away: Nothing reaches it.
        refuses_us: The credential is refused.
        dead: The chats that are closed.
        floods: How often each chat answers 429 without need.
    """

    def __init__(self, rates: Rates, seed: int = 1, trouble: float = 0.0) -> None:
        self.rates, self.trouble = rates, trouble
        self.chance = random.Random(seed)
        self.accepted: list[Accepted] = []
        self.complaints: list[str] = []
        self.limited = 0
        self.most_at_once = 0
        self.is_away = self.refuses_us = False
        self.dead: set[str] = set()
        self.floods: dict[str, int] = {}
        self.global_flood = 0
        self._at_once = 0
        self._ids = itertools.count(1)
        self._account = Window(rates.account)
        self._chats: dict[str, Window] = {}
        self._closed: dict[str, float] = {}

    async def send(self, part: OutgoingPart) -> Receipt:
        return await self._message(part, is_edit=False)

    async def edit(self, message_id: str, part: OutgoingPart) -> Receipt:
        return await self._message(part, is_edit=True)

    async def delete(self, address: Address, message_id: str) -> None:
        await self._travel()

    async def typing(self, address: Address) -> None:
        await self._travel()
        if self.is_away:
            raise NetworkDown

    async def _message(self, part: OutgoingPart, *, is_edit: bool) -> Receipt:
        chat, loop = part.address.chat_id, asyncio.get_running_loop()
        for scope in (chat, ""):
            if self._closed.get(scope, 0.0) > loop.time():
                self.complaints.append(f"{part.idempotency_key} came to a closed {scope or 'bot'}")
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await self._travel()
            self._refuse(part.address, loop.time())
            whim = self.chance.random()
            if whim < self.trouble / 2:
                raise NetworkDown("500")
            if whim < self.trouble * 3 / 4:
                raise OutcomeUnknown("lost on the way there")
            self._take(part, loop.time(), is_edit=is_edit)
            await self._travel()
            if whim < self.trouble:
                raise OutcomeUnknown("lost on the way back")
            return Receipt(str(next(self._ids)))
        finally:
            self._at_once -= 1

    async def _travel(self) -> None:
        await asyncio.sleep(self.chance.uniform(0.02, 0.3))

    def _refuse(self, address: Address, now: float) -> None:
        chat = address.chat_id
        if self.is_away:
            raise NetworkDown
        if self.refuses_us:
            raise AuthenticationRefused
        if chat in self.dead:
            raise DestinationGone("blocked")
        if self.global_flood:
            self.global_flood -= 1
            raise self._limit("", 20.0, now, "account")
        if self.floods.get(chat, 0):
            self.floods[chat] -= 1
            raise self._limit(chat, 7.0, now, "chat")
        for window, scope in ((self._account, ""), (self._window(address), chat)):
            if window is not None and not window.has_room(now):
                self.complaints.append(f"too much for {scope or 'the bot'} at {now:.1f}")
                raise self._limit(scope, 1.0, now, "chat" if scope else "account")

    def _limit(self, scope: str, seconds: float, now: float, name: str) -> TransportError:
        self.limited += 1
        self._closed[scope] = now + seconds - 0.001
        return RateLimited(retry_after=seconds, scope=name)

    def _window(self, address: Address) -> Window | None:
        rate = self.rates.private if address.is_private else self.rates.group
        if rate is None:
            return None
        return self._chats.setdefault(address.chat_id, Window(rate))

    def _take(self, part: OutgoingPart, now: float, *, is_edit: bool) -> None:
        self._account.passed.append(now)
        window = self._window(part.address)
        if window is not None:
            window.passed.append(now)
        self.accepted.append(
            Accepted(now, part.address.chat_id, part.idempotency_key, part.body.text, is_edit)
        )


class PlainDialect:
    """Text as it is; a mark goes before it."""

    limit = Limit(4096, Unit.CHARACTERS)

    def render(self, markdown: str, *, reserve: int = 0) -> list[Rendered]:
        return [Rendered(text=markdown, plain=markdown, length=len(markdown))]

    def mark(self, part: Rendered, marker: str) -> Rendered:
        text = f"{MARK}{part.text}"
        return Rendered(text=text, plain=text, length=len(text))

    def measure(self, text: str) -> int:
        return len(text)
