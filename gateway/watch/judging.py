"""Which of what was seen is wrong, how bad it is, and what to do about it. Pure.

What mends itself within moments is no finding: each has a time that it is given first.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from gateway.watch.sights import (
    AccountSight,
    DeliverySight,
    ExecutionSight,
    Finding,
    Layer,
    Severity,
    Sight,
)

MOMENT = timedelta(minutes=1)  # a restart, a reconnect, a hand-over takes less
LONG = timedelta(minutes=10)
OWED_LONG, OWED_TOO_LONG = timedelta(minutes=10), timedelta(hours=1)
MANY_TRIES, MOSTLY = 20, 0.5
MANY_CLOSED = 10  # chats within an hour
LOW_DISK, FULL_DISK = 1024 * 2**20, 200 * 2**20  # bytes
SKEW_WARNING, SKEW_ERROR = 2.0, 8.0  # seconds; a lease is held for 12
DOCTOR = "Run: manage.py doctor"


def findings(sight: Sight) -> list[Finding]:
    """Everything that is wrong, layer by layer."""
    return [
        *(found for account in sight.accounts for found in _connection(account, sight)),
        *_clocks(sight.execution),
        *_processes(sight.execution),
        *_turns(sight.execution, sight.at),
        *_questions(sight.execution, sight.at),
        *_disk(sight.execution),
        *(found for account in sight.accounts for found in _debts(account, sight.at)),
        *_delivery(sight.delivery),
    ]


def _older(since: datetime | None, now: datetime, limit: timedelta) -> bool:
    return since is not None and now - since >= limit


# --- platform -------------------------------------------------------------------------------------


def _connection(account: AccountSight, sight: Sight) -> Iterator[Finding]:
    now = sight.at
    test = f"manage.py account test {account.name}"
    if account.state == "auth_failed":
        yield Finding(
            key=f"account:{account.name}",
            layer=Layer.PLATFORM,
            severity=Severity.ERROR,
            says=_with(f"{account.name}: {account.platform} refuses its credential.", account),
            fix=f"Enter the credential again, then: {test}",
            since=account.state_since,
        )
    elif not account.is_served:
        if "gateway" in sight.execution.alive:  # else the finding about that says it once for all
            yield Finding(
                key=f"account:{account.name}",
                layer=Layer.PLATFORM,
                severity=Severity.ERROR,
                says=f"{account.name}: no gateway process serves it.",
                fix="Start one (manage.py run_gateway, or bin/up); what is owed waits meanwhile.",
            )
    elif account.state != "ready" and _older(account.state_since, now, MOMENT):
        is_long = _older(account.state_since, now, LONG)
        yield Finding(
            key=f"account:{account.name}",
            layer=Layer.PLATFORM,
            severity=Severity.ERROR if is_long else Severity.WARNING,
            says=_with(f"{account.name}: its connection is {account.state}.", account),
            fix=f"It is tried again by itself. If that goes on: {test}",
            since=account.state_since,
        )


def _with(sentence: str, account: AccountSight) -> str:
    """`sentence`, and what was last wrong with the account."""
    return f"{sentence} It says: {account.error.rstrip('.')}." if account.error else sentence


def _clocks(seen: ExecutionSight) -> Iterator[Finding]:
    for whose, skew in seen.clock_skews.items():
        if abs(skew) >= SKEW_WARNING:
            yield Finding(
                key=f"clock:{whose}",
                layer=Layer.PLATFORM,
                severity=Severity.ERROR if abs(skew) >= SKEW_ERROR else Severity.WARNING,
                says=f"The clocks of this host and {whose} differ by {abs(skew):.1f} s.",
                fix="Let both keep time by NTP: leases and deadlines go by the clock.",
            )


# --- execution ------------------------------------------------------------------------------------


def _processes(seen: ExecutionSight) -> Iterator[Finding]:
    for kind, last in seen.processes.items():
        if kind not in seen.alive:
            yield Finding(
                key=f"process:{kind}",
                layer=Layer.EXECUTION,
                severity=Severity.ERROR,
                says=f"No {kind} process was seen lately.",
                fix=f"Start it (bin/up, or its unit); nothing is lost meanwhile. {DOCTOR}",
                since=last,
            )


def _turns(seen: ExecutionSight, now: datetime) -> Iterator[Finding]:
    if _older(seen.lost_since, now, MOMENT):
        yield Finding(
            key="turns:lost",
            layer=Layer.EXECUTION,
            severity=Severity.ERROR,
            says=f"{_turns_are(seen.lost)} in the hands of a worker that is gone.",
            fix=f"They are taken back every few seconds where beat and a worker run. {DOCTOR}",
            since=seen.lost_since,
        )
    if seen.running >= seen.capacity:
        yield Finding(
            key="turns:capacity",
            layer=Layer.EXECUTION,
            severity=Severity.WARNING,
            says=f"All {seen.capacity} places for running turns are taken; others wait.",
            fix="Raise HERMES_MAX_CONCURRENT_SESSIONS and start more workers, if this lasts.",
        )
    elif _older(seen.due_since, now, MOMENT):
        is_long = _older(seen.due_since, now, LONG)
        yield Finding(
            key="turns:due",
            layer=Layer.EXECUTION,
            severity=Severity.ERROR if is_long else Severity.WARNING,
            says=f"{_turns_are(seen.due)} due, and no worker comes.",
            fix=f"Workers are woken again by themselves. Look at their log. {DOCTOR}",
            since=seen.due_since,
        )


def _questions(seen: ExecutionSight, now: datetime) -> Iterator[Finding]:
    if seen.overdue:
        yield Finding(
            key="questions:overdue",
            layer=Layer.EXECUTION,
            severity=Severity.ERROR,
            says=f"Questions past their deadline that nothing has closed: {seen.overdue}.",
            fix=f"They are closed every few seconds where beat and a worker run. {DOCTOR}",
            since=seen.overdue_since,
        )
    if seen.unsent:
        yield Finding(
            key="questions:unsent",
            layer=Layer.EXECUTION,
            severity=Severity.WARNING,
            says=f"Questions that have reached nobody: {seen.unsent}.",
            fix="Look at why they are open (manage.py prompts list), and at their deliveries.",
            since=seen.unsent_since,
        )
    if _older(seen.forgotten_since, now, MOMENT):
        yield Finding(
            key="turns:forgotten",
            layer=Layer.EXECUTION,
            severity=Severity.WARNING,
            says=f"{_turns_are(seen.forgotten)} waiting though nothing is asked.",
            fix="Stop them in the admin; the person can ask again. Then report it: this is a bug.",
            since=seen.forgotten_since,
        )


def _turns_are(count: int) -> str:
    return "1 turn is" if count == 1 else f"{count} turns are"


def _disk(seen: ExecutionSight) -> Iterator[Finding]:
    if seen.free_bytes is not None and seen.free_bytes < LOW_DISK:
        yield Finding(
            key="disk",
            layer=Layer.EXECUTION,
            severity=Severity.ERROR if seen.free_bytes < FULL_DISK else Severity.WARNING,
            says=f"{seen.free_bytes // 2**20} MB are free on the disk of the data directory.",
            fix="Make room, or move HERMES_DATA_DIR to a larger disk.",
        )


# --- delivery -------------------------------------------------------------------------------------


def _debts(account: AccountSight, now: datetime) -> Iterator[Finding]:
    if _older(account.owed_since, now, OWED_LONG):
        is_long = _older(account.owed_since, now, OWED_TOO_LONG)
        yield Finding(
            key=f"owed:{account.name}",
            layer=Layer.DELIVERY,
            severity=Severity.ERROR if is_long else Severity.WARNING,
            says=f"{account.name} owes {_messages(account.owed)}, the oldest for long.",
            fix="Look at why: manage.py ledger list. What is a day old is given up.",
            since=account.owed_since,
        )
    if account.tried >= MANY_TRIES and account.failed >= account.tried * MOSTLY:
        yield Finding(
            key=f"tries:{account.name}",
            layer=Layer.DELIVERY,
            severity=Severity.WARNING,
            says=f"{account.name}: {account.failed} of {account.tried} tries to send within five"
            " minutes did not end well.",
            fix="Look at the last errors: manage.py ledger list. They are tried again, ever later.",
        )


def _delivery(seen: DeliverySight) -> Iterator[Finding]:
    if seen.abandoned:
        yield Finding(
            key="deliveries:abandoned",
            layer=Layer.DELIVERY,
            severity=Severity.WARNING,
            says=f"{_messages(seen.abandoned).capitalize()} given up within the last hour.",
            fix="Look at why: manage.py ledger list --state abandoned, then ledger retry.",
            since=seen.abandoned_since,
        )
    if seen.often_tried:
        yield Finding(
            key="deliveries:often_tried",
            layer=Layer.DELIVERY,
            severity=Severity.WARNING,
            says=f"{_messages(seen.often_tried).capitalize()} owed after many tries.",
            fix="Look at their errors: manage.py ledger list. They are tried again, ever later.",
        )
    if seen.closed_lately >= MANY_CLOSED:
        yield Finding(
            key="deliveries:closed",
            layer=Layer.DELIVERY,
            severity=Severity.WARNING,
            says=f"{seen.closed_lately} chats closed to us within the last hour.",
            fix="Many at once may mean that the bot was removed or reported: look at closed chats.",
        )


def _messages(count: int) -> str:
    return "one message" if count == 1 else f"{count} messages"
