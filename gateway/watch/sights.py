"""What the watchdog looks at, and what it finds, as plain values. Pure."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Layer(StrEnum):
    """Which of the three lives a finding is about."""

    PLATFORM = "platform"  # connections
    EXECUTION = "execution"  # turns, questions, processes
    DELIVERY = "delivery"  # what is owed


class Severity(StrEnum):
    """How bad a finding is."""

    WARNING = "warning"  # it works, but not as it should
    ERROR = "error"  # something does not work


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        key: What it is, stable for as long as it lasts: `account:telegram`.
        layer: Which layer.
        severity: How bad.
        says: What is wrong, one sentence for people; it may change from look to look.
        fix: What to do about it, one sentence or two.
        since: Since when it is so; None if only the look itself can tell.
    """

    key: str
    layer: Layer
    severity: Severity
    says: str
    fix: str
    since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class AccountSight:
    """An enabled account.

    Attributes:
        name: Its name.
        platform: Of which platform.
        state: Of its connection.
        error: What was last wrong with it; empty for nothing.
        state_since: Since when it is in that state.
        is_served: A gateway process holds its lease.
        last_event_at: When it last received anything.
        owed: How many messages it owes.
        owed_since: Since when the oldest is owed.
        tried: Tries to send lately.
        failed: Those of them that did not end well.
    """

    name: str
    platform: str
    state: str
    error: str = ""
    state_since: datetime | None = None
    is_served: bool = True
    last_event_at: datetime | None = None
    owed: int = 0
    owed_since: datetime | None = None
    tried: int = 0
    failed: int = 0


@dataclass(frozen=True, kw_only=True)
class ExecutionSight:
    """Processes, turns and questions.

    Attributes:
        processes: When one of each kind was last seen; None for not within an hour.
        alive: The kinds of which one is alive.
        running: Turns in the hands of workers.
        capacity: How many may be.
        lost: Turns whose worker is gone and that nothing has taken back.
        lost_since: Since when the oldest is lost.
        due: Turns that a worker should take up and that none has.
        due_since: Since when the oldest is due.
        overdue: Questions past their deadline that nothing has closed.
        overdue_since: The oldest such deadline.
        unsent: Questions that have reached nobody for minutes.
        unsent_since: When the oldest of them was asked.
        forgotten: Turns that wait though nothing is asked.
        forgotten_since: Since when the oldest waits.
        free_bytes: Room on the disk of the data directory; None if it is not known.
        clock_skews: How far other clocks are ahead of ours, in seconds, by whose they are.
    """

    processes: dict[str, datetime | None] = field(default_factory=dict)
    alive: frozenset[str] = frozenset()
    running: int = 0
    capacity: int = 1
    lost: int = 0
    lost_since: datetime | None = None
    due: int = 0
    due_since: datetime | None = None
    overdue: int = 0
    overdue_since: datetime | None = None
    unsent: int = 0
    unsent_since: datetime | None = None
    forgotten: int = 0
    forgotten_since: datetime | None = None
    free_bytes: int | None = None
    clock_skews: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DeliverySight:
    """What is owed as a whole.

    Attributes:
        abandoned: Messages given up within the last hour.
        abandoned_since: When the first of them was.
        often_tried: Owed messages that were tried many times.
        closed_lately: Chats that closed to us within the last hour.
    """

    abandoned: int = 0
    abandoned_since: datetime | None = None
    often_tried: int = 0
    closed_lately: int = 0


@dataclass(frozen=True, kw_only=True)
class Sight:
    """Everything that was looked at in one round."""

    at: datetime
    accounts: tuple[AccountSight, ...] = ()
    execution: ExecutionSight = field(default_factory=ExecutionSight)
    delivery: DeliverySight = field(default_factory=DeliverySight)
