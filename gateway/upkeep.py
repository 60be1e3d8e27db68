"""What is put right every few seconds, whatever was lost: one call of `tick`."""

import logging
from datetime import datetime

from clarify import questions
from delivery.processes import is_certainly_dead
from gateway import processes, turns
from gateway.conf import gateway_settings
from gateway.errors import TurnLost

logger = logging.getLogger(__name__)


def tick(*, now: datetime) -> None:
    """Take back turns whose worker is gone, close what is overdue, wake what was overlooked."""
    reclaim_turns(now=now)
    questions.expire_overdue(now=now)
    questions.close_undeliverable(now=now)
    turns.wake_overlooked(now=now, capacity=gateway_settings().max_concurrent_turns)


def reclaim_turns(*, now: datetime) -> int:
    """Take back every turn whose lease ran out or whose worker is certainly dead; how many."""
    count = 0
    for turn in turns.running():
        if (
            turn.lease_expires_at
            and turn.lease_expires_at > now
            and not is_certainly_dead(turn.owner)
        ):
            continue
        try:
            count += turns.reclaim(turn, now=now)
        except TurnLost:
            logger.info("A lost turn was ended by somebody else", extra={"turn": turn.pk})
    return count


def housekeeping(*, now: datetime) -> None:
    """Drop what nobody needs any more."""
    processes.forget(now=now)
