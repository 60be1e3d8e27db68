"""What staff should see first: what is stuck, owed, disconnected and running."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from clarify import listing, standing
from clarify.listing import Trouble
from clarify.models import Prompt
from delivery.models import OPEN_STATES, Obligation
from delivery.states import State
from gateway import processes, prompting
from gateway.course import Course, course
from gateway.models import Account, AccountState, Decision, InboundEvent, Turn
from gateway.models.turns import OPEN_STATES as OPEN_TURNS
from gateway.states import TurnState

MOST = 8  # rows of each block
RECENT = timedelta(hours=24)


@dataclass(frozen=True)
class StuckPrompt:
    """An open question, and why it is open."""

    prompt: Prompt
    question: str
    why: str


@dataclass(frozen=True)
class OwedByAccount:
    """How much an account owes, and since when."""

    account: str
    count: int
    oldest: datetime


@dataclass(frozen=True, kw_only=True)
class Board:
    """Everything of the dashboard, as of one instant.

    Attributes:
        stuck: Questions that are stuck, those that end first before the others.
        stuck_count: How many there are.
        owed: Open messages by account, with the oldest.
        abandoned: Messages given up within a day.
        course: How much was owed and recovered in each hour of a day.
        accounts: Enabled accounts that are not connected.
        running: Turns that run or wait, the oldest first.
        queued: Turns in the queue.
        denied: Messages of people who were not allowed, within a day.
        missing: Kinds of process that were not seen lately.
    """

    stuck: list[StuckPrompt]
    stuck_count: int
    owed: list[OwedByAccount]
    abandoned: int
    course: Course
    accounts: list[Account]
    running: list[Turn]
    queued: int
    denied: int
    missing: list[str]


def board(*, now: datetime) -> Board:
    """What staff should see first; a fixed number of queries, each over an index."""
    stuck = listing.in_trouble(Prompt.objects.all(), Trouble.STUCK, now=now)
    open_turns = Turn.objects.filter(state__in=OPEN_TURNS)
    recent = now - RECENT
    return Board(
        stuck=_stuck(stuck, now),
        stuck_count=stuck.count(),
        owed=_owed(),
        abandoned=Obligation.objects.filter(state=State.ABANDONED, settled_at__gte=recent).count(),
        course=course(now=now),
        accounts=list(
            Account.objects.filter(is_enabled=True).exclude(state=AccountState.READY)[:MOST]
        ),
        running=list(
            open_turns.exclude(state=TurnState.QUEUED)
            .select_related("conversation")
            .order_by("id")[:MOST]
        ),
        queued=open_turns.filter(state=TurnState.QUEUED).count(),
        denied=InboundEvent.objects.filter(
            decision=Decision.DENIED, received_at__gte=recent
        ).count(),
        missing=[
            kind for kind in ("gateway", "worker", "beat") if not processes.alive(kind, now=now)
        ],
    )


def current() -> Board:
    """The board as of now."""
    return board(now=timezone.now())


def _stuck(prompts: QuerySet[Prompt], now: datetime) -> list[StuckPrompt]:
    rows = list(listing.with_standing(prompts).order_by(*listing.MOST_URGENT_FIRST)[:MOST])
    prompting.mark_barred(rows)
    return [
        StuckPrompt(prompt, prompt.gist, standing.why_open(prompt.standing, now=now))
        for prompt in rows
    ]


def _owed() -> list[OwedByAccount]:
    rows = Obligation.objects.filter(state__in=OPEN_STATES).values_list("account")
    counted = rows.annotate(count=Count("id"), oldest=Min("created_at")).order_by("oldest")
    return [OwedByAccount(account, count, oldest) for account, count, oldest in counted[:MOST]]
