"""Waking workers. The queue is a hint: a sweep finds whatever was never woken."""

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

RUN_TURNS = "gateway.run_turns"


def wake_turns(conversation_id: int, *, after: float = 0.0) -> None:
    """Let a worker look at a conversation, once the transaction is committed.

    Args:
        conversation_id: Which one.
        after: Seconds from then on; the turn's row says the same, and the sweep keeps to it.
    """
    if after > 0:
        transaction.on_commit(lambda: send_run_turns_later(conversation_id, after))
    else:
        transaction.on_commit(lambda: send_run_turns(conversation_id))


def send_run_turns(conversation_id: int) -> None:
    """Let a worker look at a conversation now; a broker that is away is no error."""
    _send(conversation_id)


def send_run_turns_later(conversation_id: int, after: float) -> None:
    """The same in `after` seconds."""
    _send(conversation_id, countdown=after)


def _send(conversation_id: int, countdown: float | None = None) -> None:
    try:
        current_app.send_task(
            RUN_TURNS,
            kwargs={"conversation": conversation_id},
            queue="turns",
            retry=False,
            countdown=countdown,
        )
    except (OperationalError, OSError) as error:
        logger.warning(
            "The broker is away; the sweep will wake the worker: %s",
            type(error).__name__,
            extra={"conversation": conversation_id},
        )
