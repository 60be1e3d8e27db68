"""Everything the watchdog looks at: a fixed number of queries over what is open or recent."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet

from clarify import listing
from clarify.listing import Trouble
from clarify.models import Prompt
from clarify.states import State as PromptState
from delivery.errors import DestinationGone
from delivery.ledger.shelf import TOO_OLD
from delivery.ledger.telling import WORTH_A_WORD
from delivery.literals import literal
from delivery.models import OPEN_STATES, Attempt, DeadDestination, Kind, Lease, Obligation, Outcome
from delivery.processes import is_certainly_dead
from delivery.states import State
from gateway import doctoring, processes
from gateway.conf import gateway_settings
from gateway.launching import COMMANDS
from gateway.models import Account, ProcessBeat, ToolCall, ToolState, Turn
from gateway.models.turns import ACTIVE_STATES
from gateway.states import TurnState
from gateway.watch.sights import AccountSight, DeliverySight, ExecutionSight, Sight

LATELY = timedelta(minutes=5)
AN_HOUR = timedelta(hours=1)
GRACE = timedelta(minutes=1)
UNSENT_FOR = timedelta(minutes=2)
OFTEN = 10  # tries of one message


Clocks = Callable[[], Iterable[tuple[str, datetime]]]


def look(*, now: datetime, clocks: Clocks = doctoring.other_clocks) -> Sight:
    """Everything, as of `now`.

    Args:
        now: The present by this host's clock.
        clocks: Tells what time it is by others' clocks.
    """
    skews = {whose: (there - now).total_seconds() for whose, there in clocks()}
    return Sight(
        at=now,
        accounts=_accounts(now),
        execution=replace(_execution(now), clock_skews=skews),
        delivery=_delivery(now),
    )


# --- platform -------------------------------------------------------------------------------------


def _accounts(now: datetime) -> tuple[AccountSight, ...]:
    rows = list(Account.objects.filter(is_enabled=True).order_by("slug"))
    names = [row.lease_name for row in rows]
    held = Lease.objects.filter(name__in=names, expires_at__gt=now).exclude(owner="")
    served = {lease.name for lease in held if not is_certainly_dead(lease.owner)}
    owed = {account: (count, since) for account, count, since in _owed_by_account()}
    tried = {account: (count, failed) for account, count, failed in _tried_by_account(now)}
    return tuple(
        AccountSight(
            name=row.slug,
            platform=row.platform,
            state=row.state,
            error=row.last_error,
            state_since=row.state_changed_at,
            is_served=row.lease_name in served,
            last_event_at=row.last_event_at,
            owed=owed.get(row.slug, (0, None))[0],
            owed_since=owed.get(row.slug, (0, None))[1],
            tried=tried.get(row.slug, (0, 0))[0],
            failed=tried.get(row.slug, (0, 0))[1],
        )
        for row in rows
    )


def _owed() -> QuerySet[Obligation]:
    return Obligation.objects.filter(state__in=literal(OPEN_STATES)).order_by()


def _owed_by_account() -> list[tuple[str, int, datetime]]:
    counted = _owed().values("account").annotate(count=Count("pk"), since=Min("created_at"))
    return list(counted.values_list("account", "count", "since"))


def _tried_by_account(now: datetime) -> list[tuple[str, int, int]]:
    # Every try changes its message's row, and that has an index.
    lately = Attempt.objects.filter(
        part__obligation__updated_at__gte=now - LATELY, finished_at__gte=now - LATELY
    )
    counted = (
        lately.order_by()
        .values("part__obligation__account")
        .annotate(count=Count("pk"), failed=Count("pk", filter=~Q(outcome=Outcome.ACCEPTED)))
    )
    return list(counted.values_list("part__obligation__account", "count", "failed"))


# --- execution ------------------------------------------------------------------------------------


def _execution(now: datetime) -> ExecutionSight:
    beats = ProcessBeat.objects.filter(seen_at__gt=now - AN_HOUR).order_by().values("kind")
    seen = dict(beats.annotate(last=Max("seen_at")).values_list("kind", "last"))
    running = Turn.objects.filter(state=TurnState.RUNNING)
    lost = running.filter(lease_expires_at__lt=now - GRACE)
    lost_count, lost_since = _count(lost, "lease_expires_at")
    due_count, due_since = _due(now)
    overdue = listing.in_trouble(Prompt.objects.all(), Trouble.OVERDUE, now=now)
    overdue_count, overdue_since = _count(overdue, "expires_at")
    unsent_count, unsent_since = _count(_unsent(now), "created_at")
    forgotten_count, forgotten_since = _count(_forgotten(now), "updated_at")
    return ExecutionSight(
        processes={kind: seen.get(kind) for kind in COMMANDS},
        alive=frozenset(kind for kind in COMMANDS if processes.alive(kind, now=now)),
        running=running.count(),
        capacity=gateway_settings().max_concurrent_turns,
        lost=lost_count,
        lost_since=lost_since,
        due=due_count,
        due_since=due_since,
        overdue=overdue_count,
        overdue_since=overdue_since,
        unsent=unsent_count,
        unsent_since=unsent_since,
        forgotten=forgotten_count,
        forgotten_since=forgotten_since,
        free_bytes=_free_bytes(),
    )


def _count(rows: QuerySet[Turn] | QuerySet[Prompt], column: str) -> tuple[int, datetime | None]:
    found = rows.order_by().aggregate(count=Count("pk"), since=Min(column))
    return found["count"], found["since"]


def _due(now: datetime) -> tuple[int, datetime | None]:
    """Turns that a worker could take up: answered ones, and the first of each idle conversation."""
    active = Turn.objects.filter(conversation=OuterRef("conversation"), state__in=ACTIVE_STATES)
    is_held = Q(held_until__isnull=False, held_until__gt=now)
    queued = Turn.objects.filter(~Exists(active), ~is_held, state=TurnState.QUEUED)
    ready = Turn.objects.filter(state=TurnState.READY)
    (fresh, fresh_since), (answered, answered_since) = (
        _count(queued, "updated_at"),
        _count(ready, "updated_at"),
    )
    return fresh + answered, min(filter(None, (fresh_since, answered_since)), default=None)


def _unsent(now: datetime) -> QuerySet[Prompt]:
    owed = _owed().filter(kind__in=[Kind.PROMPT, Kind.APPROVAL], created_at__lt=now - UNSENT_FOR)
    return Prompt.objects.filter(state=PromptState.PENDING, obligation__in=owed.values("pk"))


def _forgotten(now: datetime) -> QuerySet[Turn]:
    asked = ToolCall.objects.filter(turn=OuterRef("pk"), state=ToolState.WAITING)
    return Turn.objects.filter(~Exists(asked), state=TurnState.WAITING, updated_at__lt=now - GRACE)


def _free_bytes() -> int | None:
    try:
        return shutil.disk_usage(Path(settings.DATA_DIR)).free
    except OSError:
        return None


# --- delivery -------------------------------------------------------------------------------------


def _delivery(now: datetime) -> DeliverySight:
    found = given_up(now).aggregate(count=Count("pk"), since=Min("settled_at"))
    return DeliverySight(
        abandoned=found["count"],
        abandoned_since=found["since"],
        often_tried=_owed().filter(attempts__gte=OFTEN).count(),
        closed_lately=DeadDestination.objects.filter(since__gte=now - AN_HOUR).count(),
    )


def given_up(now: datetime) -> QuerySet[Obligation]:
    """What somebody will miss and did not get within the last hour.

    Not what nobody wanted any more, nor what a chat that closed to us did not take.
    """
    lately = Obligation.objects.filter(
        settled_at__gte=now - AN_HOUR, state=State.ABANDONED, kind__in=WORTH_A_WORD, edits=None
    )
    failed = lately.exclude(error_kind="") | lately.filter(reason=TOO_OLD)
    return failed.exclude(error_kind=DestinationGone.__name__).order_by()
