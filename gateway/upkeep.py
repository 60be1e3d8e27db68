"""What is put right every few seconds, whatever was lost: one call of `tick`."""

import logging
from collections.abc import Callable
from datetime import datetime

from clarify import questions
from delivery.database import DATABASE_AWAY
from delivery.processes import is_certainly_dead, this_process
from gateway import barring, retention, turns
from gateway.conf import gateway_settings
from gateway.errors import TurnLost
from gateway.identity import links, pairing
from gateway.media import shelf
from gateway.models import Turn
from gateway.workbench import workbench

logger = logging.getLogger(__name__)


def tick(*, now: datetime) -> None:
    """Take back turns whose worker is gone, close what is overdue, wake what was overlooked.

    Each of these is tried, whatever becomes of the others: this is the net under everything.
    """
    capacity = gateway_settings().max_concurrent_turns
    _try(lambda: reclaim_turns(now=now))
    _try(lambda: questions.expire_overdue(now=now))
    _try(lambda: questions.close_undeliverable(now=now))
    _try(lambda: turns.wake_overlooked(now=now, capacity=capacity))
    _try(lambda: turns.tell_waiting(now=now, capacity=capacity))


def _try(step: Callable[[], object]) -> None:
    try:
        step()
    except DATABASE_AWAY:
        raise  # nothing else would go better
    except Exception:
        logger.exception("A step of the upkeep failed; the next one is taken all the same")


def reclaim_turns(*, now: datetime) -> int:
    """Take back every turn whose lease ran out or whose worker is certainly dead; how many."""
    count = 0
    for turn in turns.running():
        if _is_in_hand(turn, now):
            continue
        try:
            count += turns.reclaim(turn, now=now)
        except TurnLost:
            logger.info("A lost turn was ended by somebody else", extra={"turn": turn.pk})
        except DATABASE_AWAY:
            raise
        except Exception:
            logger.exception("A turn could not be taken back", extra={"turn": turn.pk})
    return count


def _is_in_hand(turn: Turn, now: datetime) -> bool:
    """Whether somebody carries it out.

    What runs in this very process does, though the lease ran out: the whole process was asleep, as
    on a laptop whose lid was closed, and the renewal comes in a moment.
    """
    if turn.owner == this_process() and workbench.holds(turn.pk):
        return True
    is_held = turn.lease_expires_at is not None and turn.lease_expires_at > now
    return is_held and not is_certainly_dead(turn.owner)


def housekeeping(*, now: datetime) -> None:
    """Drop what nobody needs any more."""
    pairing.tidy(now=now)
    links.tidy(now=now)
    barring.sweep(now=now)  # whatever shut somebody out, and told nobody
    while shelf.expire(shelf.store(), now=now) == shelf.EXPIRED_AT_ONCE:
        pass
    gone = retention.run(now=now)
    if gone:
        logger.info("Old rows were let go", extra={"gone": gone})
