"""The limits of one account at work: its schedule, the clock that it is asked by, and a lock.

Both the event loop and the thread that claims from the ledger ask; the schedule itself is pure.
"""

import threading
from collections.abc import Callable
from datetime import datetime

from delivery.addresses import Address
from delivery.errors import NotSent, RateLimited, Refused, TransportError
from delivery.models import Kind, Obligation
from delivery.scheduling import Errand, Schedule


class Traffic:
    """What the outbox, the previews and the typing notices of one account share.

    Args:
        schedule: The account's buckets.
        clock: Tells the present.
    """

    def __init__(self, schedule: Schedule, clock: Callable[[], datetime]) -> None:
        self._schedule, self._clock = schedule, clock
        self._lock = threading.Lock()

    # --- for what may be dropped ---------------------------------------------------------------

    def has_room(self, address: Address, method: str) -> bool:
        """Whether something that may be dropped may go now; for messages, `ended` must follow."""
        with self._lock:
            return self._schedule.spare(errand_to(address, method), self._clock())

    def ended(self, address: Address, method: str, error: TransportError | None = None) -> None:
        """A message that could have been dropped came to its end."""
        self.finish(errand_to(address, method), error)

    # --- for what is owed ----------------------------------------------------------------------

    def room(self) -> int | None:
        """How many messages the account may send now; None for any number."""
        with self._lock:
            return self._schedule.room(self._clock())

    def held(self) -> list[str]:
        """The lanes that are not to be looked at yet."""
        with self._lock:
            return self._schedule.held(self._clock())

    def admit(self, heads: list[Obligation], most: int) -> list[Obligation]:
        """Those of `heads`, each the first of its lane, that may go now; `finish` must follow."""
        admitted: list[Obligation] = []
        with self._lock:
            now = self._clock()
            for head in heads:
                if len(admitted) >= most:
                    break
                if self._schedule.take_first(head.lane, errand_of(head), now):
                    admitted.append(head)
        return admitted

    def goes_on(self, errand: Errand) -> bool:
        """Whether the next part of a message may follow at once; `finish` must follow."""
        with self._lock:
            return self._schedule.take(errand, self._clock())

    def finish(self, errand: Errand, error: TransportError | None = None) -> None:
        """A message that was let go came to its end."""
        with self._lock:
            now = self._clock()
            if isinstance(error, RateLimited):
                self._schedule.limited(errand, error, now)
            self._schedule.end(errand, now, counts=not isinstance(error, NotSent | Refused))

    def look_at(self) -> datetime | None:
        """When something that waits for a limit may go; None if nothing does, or nobody knows."""
        with self._lock:
            return self._schedule.look_at(self._clock())

    def waits_for_an_end(self) -> bool:
        """Something may go as soon as a message that is under way has come to its end."""
        with self._lock:
            return self._schedule.waits_for_an_end


def errand_to(address: Address, method: str, *, is_media: bool = False) -> Errand:
    """What a call asks of the limits."""
    return Errand(
        chat=address.chat_id, is_private=address.is_private, method=method, is_media=is_media
    )


def errand_of(obligation: Obligation) -> Errand:
    """What an owed message asks of the limits, as far as it can be told before it is sent."""
    method = "edit" if obligation.edits_id or obligation.preview_key else "send"
    return errand_to(obligation.destination, method, is_media=obligation.kind == Kind.MEDIA)
