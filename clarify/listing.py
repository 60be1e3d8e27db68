"""Open questions as the rows of a list: what is stuck, and why; nothing here writes ([Q21]).

Each look is a fixed number of queries, however many questions are open.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from clarify.models import Prompt, PromptKind, Reply
from clarify.standing import OVERDUE
from clarify.states import Effect, State
from delivery.models import Part
from delivery.states import MAYBE_SEEN
from delivery.states import State as DeliveryState

STUCK_AFTER = timedelta(minutes=2)  # most people who will answer have done so
MOST_URGENT_FIRST = ("expires_at", "id")


class Trouble(StrEnum):
    """What can be the matter with an open question."""

    STUCK = "stuck"  # any of the others, or open for minutes
    OVERDUE = "overdue"  # its deadline has passed and nothing closed it
    UNSENT = "unsent"  # its message has not reached the platform
    BEHIND = "behind"  # it is not shown, because an earlier one is open
    REFUSED = "refused"  # the last reply was not taken as an answer
    SILENT = "silent"  # it was shown, and nobody has said anything


def with_standing(rows: QuerySet[Prompt]) -> QuerySet[Prompt]:
    """`rows` with all that `Prompt.standing` reads."""
    earlier = Prompt.objects.filter(
        conversation_key=OuterRef("conversation_key"), state=State.PENDING, id__lt=OuterRef("id")
    ).exclude(kind=PromptKind.APPROVAL)
    return (
        rows.select_related("obligation")
        .prefetch_related("replies", "obligation__parts")
        .annotate(ahead=Subquery(earlier.order_by("id").values("pk")[:1]))
    )


def in_trouble(rows: QuerySet[Prompt], trouble: Trouble, *, now: datetime) -> QuerySet[Prompt]:
    """The open questions among `rows` with which that is the matter."""
    last = Reply.objects.filter(prompt=OuterRef("pk")).order_by("-id")
    seen = Part.objects.filter(obligation=OuterRef("obligation"), state__in=MAYBE_SEEN)
    known = rows.filter(state=State.PENDING).alias(
        last_outcome=Subquery(last.values("outcome")[:1]), is_seen=Exists(seen)
    )
    return known.filter(_meaning(now)[trouble])


def _meaning(now: datetime) -> Mapping[Trouble, Q]:
    is_delivered = Q(obligation__state=DeliveryState.DELIVERED)
    overdue = Q(expires_at__lt=now - OVERDUE)
    unsent = Q(obligation__isnull=False, is_seen=False) & ~is_delivered
    behind = Q(obligation__isnull=True)
    refused = Q(last_outcome__in=[Effect.HINTED, Effect.REFUSED])
    silent = Q(last_outcome__isnull=True) & (Q(is_seen=True) | is_delivered)
    tried = unsent & ~Q(obligation__state=DeliveryState.PENDING)
    return {
        Trouble.STUCK: overdue | tried | refused | Q(created_at__lte=now - STUCK_AFTER),
        Trouble.OVERDUE: overdue,
        Trouble.UNSENT: unsent,
        Trouble.BEHIND: behind,
        Trouble.REFUSED: refused,
        Trouble.SILENT: silent,
    }
