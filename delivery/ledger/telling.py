"""Telling people of what was given up: one line, itself a debt, never about such a line ([D6])."""

from collections.abc import Iterable
from datetime import datetime

from delivery import destinations, wording
from delivery.ledger.debts import Debt, record
from delivery.models import Kind, Obligation

# Nobody misses a notice, and what only changes an earlier message is seen there.
WORTH_A_WORD = {
    Kind.FINAL,
    Kind.PROMPT,
    Kind.APPROVAL,
    Kind.CONTROL,
    Kind.ERROR,
    Kind.CRON,
    Kind.BACKGROUND,
    Kind.MEDIA,
    Kind.CROSS,
}


def tell(given_up: Iterable[Obligation], *, now: datetime) -> None:
    """Owe one line to each place about what it will not get; in the caller's transaction.

    A place that is closed to us is owed none. The same messages given up again make no second one.
    """
    lanes: dict[str, list[Obligation]] = {}
    for obligation in given_up:
        if obligation.kind in WORTH_A_WORD and not obligation.edits_id:
            lanes.setdefault(obligation.lane, []).append(obligation)
    for lost in lanes.values():
        last = lost[-1]
        if destinations.is_dead(last.destination):
            continue
        debt = Debt(
            conversation_key=last.conversation_key,
            trigger=f"given up: {last.delivery_id}",
            address=last.destination,
            kind=Kind.NOTICE,
            content=wording.given_up(len(lost), last.pk),
            correlation=last.correlation,
        )
        record(debt, now=now)
