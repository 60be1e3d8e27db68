"""What staff may do to an owed message, or a closed chat: each verb with its audit row.

Every verb does its work in one transaction and raises when there was nothing to do, in words that
the person who asked can act on.
"""

from datetime import datetime

from django.db import transaction

from delivery import auditing, destinations, ledger
from delivery.addresses import Address
from delivery.errors import IllegalTransition
from delivery.models import DeadDestination, Obligation
from delivery.states import State

BUSY = "It is being sent at this moment; look again in a minute."


def retry(obligation: Obligation, *, actor: str, now: datetime) -> None:
    """Owe an abandoned message again, or make a waiting one due at once.

    Raises:
        IllegalTransition: It is delivered, due already, or being sent at this moment.
    """
    with transaction.atomic():
        if not ledger.retry(obligation, now=now):
            raise _refusal(obligation, pending="It is due already; the gateway process sends it.")
        _note("delivery.retried", obligation, actor, now)


def abandon(obligation: Obligation, *, reason: str, actor: str, now: datetime) -> None:
    """Give an owed message up, with the reason.

    Raises:
        IllegalTransition: It is settled already, or being sent at this moment.
    """
    with transaction.atomic():
        if not ledger.withdraw(obligation, reason=reason or f"given up by {actor}", now=now):
            raise _refusal(obligation)
        _note("delivery.abandoned", obligation, actor, now, reason=reason)


def mark_delivered(obligation: Obligation, *, actor: str, now: datetime) -> None:
    """Settle a message that staff have seen arrive.

    Raises:
        IllegalTransition: It was delivered before, or is being sent at this moment.
    """
    with transaction.atomic():
        if not ledger.mark_delivered(obligation, reason=f"seen by {actor}", now=now):
            raise _refusal(obligation)
        _note("delivery.marked_delivered", obligation, actor, now)


def reopen(closed: DeadDestination, *, actor: str, now: datetime) -> None:
    """Send to a chat again that was closed to us and says nothing by itself.

    What was given up meanwhile stays given up until it is retried.
    """
    with transaction.atomic():
        destinations.revive(
            Address(platform=closed.platform, account=closed.account, chat_id=closed.chat_id)
        )
        subject = f"chat:{closed.account}:{closed.chat_id}"
        auditing.note("chat.reopened", actor=actor, subject=subject, now=now, reason=closed.reason)


def _note(action: str, obligation: Obligation, actor: str, now: datetime, **detail: str) -> None:
    subject = f"delivery:{obligation.delivery_id[:12]}"
    auditing.note(action, actor=actor, subject=subject, now=now, **detail)


def _refusal(obligation: Obligation, *, pending: str = BUSY) -> IllegalTransition:
    obligation.refresh_from_db()
    words = {
        State.PENDING: pending,
        State.ATTEMPTING: BUSY,
        State.FAILED: BUSY,
        State.DELIVERED: "It is delivered already; there is nothing to do.",
        State.ABANDONED: "It was given up already; retry it to owe it again.",
    }
    return IllegalTransition(words[State(obligation.state)])
