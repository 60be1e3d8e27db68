"""What this app lets go of in time ([O2]): the only place where its rows are deleted by age."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import QuerySet

from clarify import permits
from clarify.conf import clarify_settings
from clarify.models import Permit, Prompt, Reply
from clarify.states import State
from delivery.forgetting import BATCHES, Rule, forget, register_need
from delivery.models import Obligation


def _long_closed(now: datetime) -> QuerySet[Prompt]:
    old = Prompt.objects.filter(updated_at__lt=now - clarify_settings().keep_closed)
    return old.exclude(state=State.PENDING)


def _long_over(now: datetime) -> QuerySet[Permit]:
    return Permit.objects.filter(expires_at__lt=now - clarify_settings().keep_permits)


PROMPTS = Rule(
    what="closed questions and approvals",
    model=Prompt,
    past=_long_closed,
    by="updated_at",
    reads=("correlation",),
    along=frozenset({Reply}),
)
PERMITS = Rule(what="lasting approvals", model=Permit, past=_long_over, by="expires_at")
RULES = (PERMITS, PROMPTS)


def run(*, now: datetime, batches: int = BATCHES) -> dict[str, int]:
    """Let go of what was kept long enough.

    Args:
        now: The present.
        batches: How many small transactions each table may take.

    Returns:
        How many rows of each kind went, by what they are called; an empty table is left out.
    """
    gone = {rule.what: forget(rule, now=now, batches=batches) for rule in RULES}
    return {what: count for what, count in gone.items() if count}


def _shows_what_is_open(rows: Sequence[Obligation], now: datetime) -> Iterable[int | None]:
    """Those of `rows` that show a question which may still be answered."""
    del now
    shown = Prompt.objects.filter(obligation__in=[row.pk for row in rows], state=State.PENDING)
    return shown.values_list("obligation", flat=True)


def _gave_what_counts(rows: Sequence[Prompt], now: datetime) -> Iterable[int | None]:
    """Those of `rows` whose lasting approval counts: it says who gave it, and for what."""
    given = permits.in_force(now).filter(prompt__in=[row.pk for row in rows])
    return given.values_list("prompt", flat=True)


def register_needs() -> None:
    """Say what of the tables below and of our own is still needed."""
    register_need(Obligation, _shows_what_is_open)
    register_need(Prompt, _gave_what_counts)
