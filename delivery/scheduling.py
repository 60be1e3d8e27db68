"""What may be sent now, what waits for what, and when to look again. Pure: time is an argument.

Four scopes have buckets of their own ([D10]): the account, the chat, the method (`send`, `edit`,
`typing`) and media. A bucket is empty when as many messages were sent as the platform allows, and
closed for as long as the platform asked us to wait. A message goes out when every bucket that it
draws on lets it.

What is owed takes what there is. What may be dropped (previews, typing notices, the word that
ends the spinner of a press) takes only what is left: a quarter of each bucket is kept for what is
owed ([D9]).
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from delivery.errors import RateLimited
from delivery.ports import Rate, Rates

MOST_CHATS = 1000  # buckets kept before those that say nothing are thrown away
COUNTED = {"send", "edit"}  # what platforms count as messages


@dataclass(frozen=True, kw_only=True)
class Errand:
    """One message, or one thing that may be dropped, as the limits see it.

    Attributes:
        chat: The platform's id of the chat.
        is_private: It is a chat of one person with us.
        method: `send`, `edit`, `typing` or `acknowledge`.
        is_media: It carries a file.
    """

    chat: str
    is_private: bool
    method: str
    is_media: bool = False


@dataclass
class Bucket:
    """One limit: so many in any stretch of so many seconds, and none while it is closed.

    A window that slides, and no tokens that pile up: what the platform counts is never exceeded.
    A message counts from the moment that it is let go, and until a window after its end: when in
    between the platform took it, nobody knows.
    """

    rate: Rate | None
    closed_until: datetime | None = None
    under_way: int = 0
    _ended: deque[datetime] = field(default_factory=deque)

    def free_at(self, now: datetime, *, keep: int = 0) -> datetime | None:
        """When the next one may go, if `keep` are to be left for others.

        Returns:
            `now` for at once; None for as soon as one that is under way has ended.
        """
        free = max(now, self.closed_until or now)
        if self.rate is None:
            return free
        room = max(1, self.rate.calls - keep) - self.under_way
        if room <= 0:
            return None
        self._forget(now, self.rate)
        if len(self._ended) < room:
            return free
        return max(free, self._ended[-room] + timedelta(seconds=self.rate.seconds))

    def left(self, now: datetime) -> int | None:
        """How many may go now; None for any number."""
        if self.is_closed(now):
            return 0
        if self.rate is None:
            return None
        self._forget(now, self.rate)
        return max(0, self.rate.calls - self.under_way - len(self._ended))

    def is_closed(self, now: datetime) -> bool:
        """Whether the platform asked to wait, and the time is not over."""
        return self.closed_until is not None and self.closed_until > now

    def take(self) -> None:
        """One goes out."""
        self.under_way += 1

    def end(self, now: datetime, *, counts: bool) -> None:
        """It came to its end; it counts unless it was certainly not taken."""
        self.under_way -= 1
        if counts and self.rate is not None:
            self._ended.append(now)

    def close(self, until: datetime) -> None:
        """The platform asked to wait; the longest such word holds."""
        self.closed_until = max(until, self.closed_until or until)

    def says_nothing(self, now: datetime) -> bool:
        """A fresh bucket would say the same."""
        return not self.under_way and self.left(now) == (self.rate.calls if self.rate else None)

    def _forget(self, now: datetime, rate: Rate) -> None:
        window = timedelta(seconds=rate.seconds)
        while self._ended and self._ended[0] + window <= now:
            self._ended.popleft()


class Schedule:
    """The buckets of one account, and the lanes that wait for them.

    Args:
        rates: How much the platform lets the account send.
    """

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self.account = Bucket(rates.account)
        self.media = Bucket(rates.media)
        self._methods: dict[str, Bucket] = {}
        self._chats: dict[str, Bucket] = {}
        self._waiting: dict[str, datetime] = {}
        self._soon: set[str] = set()

    # --- what is owed -------------------------------------------------------------------------

    def take(self, errand: Errand, now: datetime) -> bool:
        """Whether a message may go now; if so, it counts, and `end` must follow."""
        buckets = self._buckets(errand, now)
        if any(bucket.free_at(now) != now for bucket in buckets):
            return False
        for bucket in buckets:
            bucket.take()
        return True

    def take_first(self, lane: str, errand: Errand, now: datetime) -> bool:
        """As `take`, for the first message of a lane, which is left alone until it may go."""
        if self.take(errand, now):
            return True
        times = [bucket.free_at(now) for bucket in self._buckets(errand, now)]
        known = [at for at in times if at is not None]
        if len(known) == len(times):
            self._waiting[lane] = max(known)
        else:
            self._soon.add(lane)
        return False

    def end(self, errand: Errand, now: datetime, *, counts: bool) -> None:
        """A message that was let go came to its end; it counts unless certainly not taken."""
        for bucket in self._buckets(errand, now):
            bucket.end(now, counts=counts)
        self._soon.clear()

    def room(self, now: datetime) -> int | None:
        """How many messages the account may send now; None for any number."""
        return self.account.left(now)

    # --- what may be dropped ------------------------------------------------------------------

    def spare(self, errand: Errand, now: datetime) -> bool:
        """Whether there is enough left for something that may be dropped.

        Messages and edits count, and `end` must follow; a typing notice or an acknowledgement
        costs nothing, and only yields to what is closed.
        """
        buckets = self._buckets(errand, now)
        if any(bucket.is_closed(now) for bucket in buckets):
            return False
        if errand.method not in COUNTED:
            return True
        if any(bucket.free_at(now, keep=_kept(bucket)) != now for bucket in buckets):
            return False
        for bucket in buckets:
            bucket.take()
        return True

    # --- what the platform says -----------------------------------------------------------------

    def limited(self, errand: Errand, error: RateLimited, now: datetime) -> None:
        """The platform asked to wait: close the bucket that it named."""
        scopes = {
            "account": self.account,
            "media": self.media,
            "method": self._method(errand.method),
        }
        bucket = scopes.get(error.scope) or self._chat(errand, now)
        bucket.close(now + timedelta(seconds=error.retry_after))

    # --- which lanes wait ------------------------------------------------------------------------

    def held(self, now: datetime) -> list[str]:
        """The lanes that are not to be looked at yet."""
        self._waiting = {lane: until for lane, until in self._waiting.items() if until > now}
        return [*self._waiting, *self._soon]

    def look_at(self, now: datetime) -> datetime | None:
        """When something that waits for a bucket may go; None if nothing does, or nobody knows."""
        account = self.account.free_at(now)
        if account is None or account > now:
            return account
        # What is due already was held when the account had no room either.
        return min((max(now, until) for until in self._waiting.values()), default=None)

    @property
    def waits_for_an_end(self) -> bool:
        """Something may go as soon as a message that is under way has come to its end."""
        return bool(self._soon) or self.account.rate is not None

    # --- inside ------------------------------------------------------------------------------

    def _buckets(self, errand: Errand, now: datetime) -> list[Bucket]:
        media = [self.media] if errand.is_media else []
        return [self.account, self._chat(errand, now), self._method(errand.method), *media]

    def _chat(self, errand: Errand, now: datetime) -> Bucket:
        bucket = self._chats.get(errand.chat)
        if bucket is None:
            if len(self._chats) >= MOST_CHATS:
                self._chats = {
                    chat: kept for chat, kept in self._chats.items() if not kept.says_nothing(now)
                }
            rate = self.rates.private if errand.is_private else self.rates.group
            bucket = self._chats[errand.chat] = Bucket(rate)
        return bucket

    def _method(self, method: str) -> Bucket:
        return self._methods.setdefault(method, Bucket(None))


def _kept(bucket: Bucket) -> int:
    """How much of a bucket is kept for what is owed: a quarter, rounded up."""
    return -(-bucket.rate.calls // 4) if bucket.rate else 0
