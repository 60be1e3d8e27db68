"""The turns that this worker process runs at this moment: held on to, and stopped when asked.

One thread renews the leases of all of them; one subscription hears of stops at once, and the
renewal notices whatever stop it missed.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from django.db import connection
from django.utils import timezone

from delivery import hints
from delivery.database import DATABASE_TROUBLE
from delivery.processes import this_process
from gateway import processes, turns

logger = logging.getLogger(__name__)

# Turns of one worker process, whatever the whole installation may run: the remaining threads are
# for upkeep, which takes back the turns of dead workers and closes overdue questions.
MOST_IN_HAND = 125
RENEW_EVERY = 1.0  # seconds; also how late a stop can be noticed when its hint was lost


class Stoppable(Protocol):
    """A run of the agent."""

    def cancel(self) -> None:
        """Stop it, from any thread."""
        ...


class Workbench:
    """What one worker process has in hand."""

    def __init__(self) -> None:
        self._runs: dict[int, Stoppable] = {}
        self._lock = threading.Lock()
        self._halt = threading.Event()

    def open(self, submit: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        """Start renewing and listening.

        Args:
            submit: Runs a coroutine on this process's event loop.
        """
        self._halt.clear()
        threading.Thread(target=self._renew, name="leases", daemon=True).start()
        submit(self._listen())

    def close(self) -> None:
        """Stop renewing."""
        self._halt.set()

    def put(self, turn_id: int, run: Stoppable) -> None:
        """`run` carries out turn `turn_id`, in place of one that lost it."""
        with self._lock:
            former = self._runs.get(turn_id)
            self._runs[turn_id] = run
        if former is not None:
            former.cancel()

    def is_full(self) -> bool:
        """Whether this process has as much in hand as leaves its other threads room."""
        with self._lock:
            return len(self._runs) >= MOST_IN_HAND

    def take_away(self, turn_id: int, run: Stoppable) -> None:
        """`run` is over; another one of the same turn stays where it is."""
        with self._lock:
            if self._runs.get(turn_id) is run:
                del self._runs[turn_id]

    def holds(self, turn_id: int) -> bool:
        """Whether turn `turn_id` runs here."""
        with self._lock:
            return turn_id in self._runs

    def stop(self, turn_id: int) -> None:
        """Stop turn `turn_id` if it runs here."""
        with self._lock:
            run = self._runs.get(turn_id)
        if run is not None:
            run.cancel()

    def stop_all(self) -> None:
        """Stop every run; their turns are laid down for another worker to go on with."""
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.cancel()

    async def _listen(self) -> None:
        while not self._halt.is_set():
            try:
                async for hint in hints.subscribe(hints.WORKERS):
                    if hint["type"] == "turn.stop":
                        self.stop(int(hint["turn"]))
            except Exception:  # the renewal notices what is missed meanwhile
                logger.exception("Listening for stops was interrupted")
                await asyncio.sleep(1.0)

    def _renew(self) -> None:
        while not self._halt.wait(RENEW_EVERY):
            try:
                self._renew_once()
            except DATABASE_TROUBLE:
                logger.exception("Leases could not be renewed; trying again")
                connection.close()

    def _renew_once(self) -> None:
        processes.beat("worker", now=timezone.now())
        with self._lock:
            held = set(self._runs)
        if not held:
            return
        for turn_id in held - turns.renew(this_process(), held, now=timezone.now()):
            self.stop(turn_id)


workbench = Workbench()
