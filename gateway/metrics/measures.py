"""What is measured: how much is queued, asked and owed, how old it is, and what came of the rest.

Everything is counted in the rows themselves when somebody asks, so that every web process of an
installation gives the same numbers and a restart loses none. A query reads what is open, or what
changed within `WINDOW`; never a table from end to end.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Min, QuerySet

from clarify import listing
from clarify.listing import Trouble
from clarify.models import Prompt
from clarify.states import State as PromptState
from delivery.literals import literal
from delivery.models import OPEN_STATES, Attempt, DeadDestination, Obligation
from gateway import processes
from gateway.conf import gateway_settings
from gateway.launching import COMMANDS
from gateway.metrics import exposition
from gateway.metrics.exposition import Family, Sample
from gateway.models import Account, AccountState, InboundEvent, ProcessBeat, Turn
from gateway.models.turns import OPEN_STATES as OPEN_TURNS
from gateway.watch import incidents

WINDOW = timedelta(minutes=5)


def page(*, now: datetime) -> str:
    """All measurements as the text that Prometheus reads."""
    return exposition.text(families(now=now))


def families(*, now: datetime) -> list[Family]:
    """All measurements, as of `now`."""
    return [
        *_turns(now),
        *_usage(now),
        *_prompts(now),
        *_owed(now),
        *_attempts(now),
        *_inbound(now),
        *_accounts(now),
        *_processes(now),
        _counted(
            "hermes_incidents",
            "What is wrong at the moment, by layer and severity.",
            incidents.still_open(),
            *("layer", "severity"),
        ),
    ]


def _turns(now: datetime) -> Iterable[Family]:
    rows = Turn.objects.filter(state__in=literal(OPEN_TURNS)).order_by().values("state")
    counted = list(rows.annotate(count=Count("id"), since=Min("updated_at")))
    yield Family(
        "hermes_turns_open",
        "Turns that are not over, by state: queued, running, waiting for a person, ready.",
        tuple(Sample(row["count"], {"state": row["state"]}) for row in counted),
    )
    yield Family(
        "hermes_turn_oldest_seconds",
        "How long the turn of each state that moved least lately has not moved.",
        tuple(Sample(_age(row["since"], now), {"state": row["state"]}) for row in counted),
    )
    yield Family(
        "hermes_turns_capacity",
        "How many turns may run at once in the whole installation.",
        (Sample(gateway_settings().max_concurrent_turns),),
    )
    ended = Turn.objects.filter(updated_at__gte=now - WINDOW, finished_at__isnull=False)
    yield _counted(
        "hermes_turns_ended_5m", "Turns that ended within five minutes, by how.", ended, "state"
    )


def _usage(now: datetime) -> Iterable[Family]:
    tokens: dict[tuple[str, str], int] = dict.fromkeys((("", "input"), ("", "output")), 0)
    money: dict[str, Decimal] = {}
    ended = Turn.objects.filter(updated_at__gte=now - WINDOW, finished_at__isnull=False)
    for usage in ended.order_by("updated_at").values_list("usage", flat=True).iterator():
        for direction in ("input", "output"):
            key = str(usage.get("model", "")), direction
            tokens[key] = tokens.get(key, 0) + int(usage.get(f"{direction}_tokens", 0))
        if "cost" in usage:
            currency = str(usage.get("currency", ""))
            money[currency] = money.get(currency, Decimal(0)) + Decimal(usage["cost"])
    yield Family(
        "hermes_tokens_5m",
        "Tokens of models used by the turns that ended within five minutes.",
        tuple(
            Sample(count, {"model": model, "direction": direction})
            for (model, direction), count in tokens.items()
        ),
    )
    yield Family(
        "hermes_cost_5m",
        "What those turns have cost, as far as prices are known, by currency.",
        tuple(Sample(float(paid), {"currency": name}) for name, paid in money.items()),
    )


def _prompts(now: datetime) -> Iterable[Family]:
    pending = Prompt.objects.filter(state=PromptState.PENDING).order_by()
    counted = list(pending.values("kind").annotate(count=Count("id"), since=Min("created_at")))
    yield Family(
        "hermes_prompts_open",
        "Questions and approvals that wait for a person, by kind.",
        tuple(Sample(row["count"], {"kind": row["kind"]}) for row in counted),
    )
    yield Family(
        "hermes_prompt_oldest_seconds",
        "How long the oldest of each kind has waited.",
        tuple(Sample(_age(row["since"], now), {"kind": row["kind"]}) for row in counted),
    )
    overdue = listing.in_trouble(Prompt.objects.all(), Trouble.OVERDUE, now=now)
    yield Family(
        "hermes_prompts_overdue",
        "Questions whose deadline has passed and that nothing has closed.",
        (Sample(overdue.count()),),
    )


def _owed(now: datetime) -> Iterable[Family]:
    rows = Obligation.objects.filter(state__in=literal(OPEN_STATES)).order_by()
    by = ("platform", "kind", "state")
    yield _counted("hermes_deliveries_owed", "Messages that are owed and not delivered.", rows, *by)
    oldest = rows.values("platform", "account").annotate(since=Min("created_at"))
    yield Family(
        "hermes_delivery_oldest_seconds",
        "How long the oldest owed message of each account has been owed.",
        tuple(
            Sample(
                _age(row["since"], now), {"platform": row["platform"], "account": row["account"]}
            )
            for row in oldest
        ),
    )
    settled = Obligation.objects.filter(settled_at__gte=now - WINDOW)
    yield _counted(
        "hermes_deliveries_settled_5m",
        "Messages delivered or given up within five minutes.",
        settled,
        *("platform", "state"),
    )
    yield Family(
        "hermes_chats_closed",
        "Chats that refused us for good and have not spoken since.",
        (Sample(DeadDestination.objects.count()),),
    )


def _attempts(now: datetime) -> Iterable[Family]:
    # Every try changes its message's row, and that has an index.
    lately = Attempt.objects.filter(
        part__obligation__updated_at__gte=now - WINDOW, finished_at__gte=now - WINDOW
    )
    yield _counted(
        "hermes_attempts_5m",
        "Tries to send within five minutes, by how they ended.",
        lately,
        *("part__obligation__platform", "outcome"),
    )


def _inbound(now: datetime) -> Iterable[Family]:
    lately = InboundEvent.objects.filter(received_at__gte=now - WINDOW)
    yield _counted(
        "hermes_inbound_5m",
        "Events that came in within five minutes, by what was decided.",
        lately,
        *("platform", "decision"),
    )


def _accounts(now: datetime) -> Iterable[Family]:
    rows = list(Account.objects.order_by("slug"))
    yield Family(
        "hermes_account_state",
        "1 for the state that each account is in.",
        tuple(
            Sample(1, {"account": row.slug, "platform": row.platform, "state": row.state})
            for row in rows
        ),
    )
    yield Family(
        "hermes_account_ready",
        "Whether each enabled account is connected.",
        tuple(
            Sample(row.state == AccountState.READY, {"account": row.slug, "platform": row.platform})
            for row in rows
            if row.is_enabled
        ),
    )
    yield Family(
        "hermes_account_last_event_seconds",
        "How long ago each enabled account last received anything.",
        tuple(
            Sample(_age(row.last_event_at, now), {"account": row.slug, "platform": row.platform})
            for row in rows
            if row.is_enabled and row.last_event_at
        ),
    )


def _processes(now: datetime) -> Iterable[Family]:
    alive = {kind: processes.alive(kind, now=now) for kind in COMMANDS}
    yield Family(
        "hermes_process_up",
        "Whether a process of each kind was seen lately.",
        tuple(Sample(is_alive, {"kind": kind}) for kind, is_alive in alive.items()),
    )
    rows = ProcessBeat.objects.values("kind").order_by("kind")
    yield Family(
        "hermes_process_seen_seconds",
        "How long ago a process of each kind last said that it is alive.",
        tuple(
            Sample(_age(row["last"], now), {"kind": row["kind"]})
            for row in rows.annotate(last=Max("seen_at"))
        ),
    )


def _counted(name: str, words: str, rows: QuerySet[Any], *by: str) -> Family:
    """How many of `rows` there are of each value of some columns, named by their last part."""
    groups = rows.order_by().values(*by).annotate(count=Count("pk"))
    samples = (
        Sample(group["count"], {one.rpartition("__")[2]: str(group[one]) for one in by})
        for group in groups
    )
    return Family(name, words, tuple(samples))


def _age(since: datetime, now: datetime) -> float:
    return max((now - since).total_seconds(), 0.0)
