"""[O1]: what is wrong, how bad it is, and what to do."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.watch.judging import findings
from gateway.watch.sights import (
    AccountSight,
    DeliverySight,
    ExecutionSight,
    Layer,
    Severity,
    Sight,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL = frozenset({"gateway", "worker", "beat"})
SEEN = dict.fromkeys(sorted(ALL), NOW)
pytestmark = pytest.mark.proves("O1")


def ago(**time: float) -> datetime:
    return NOW - timedelta(**time)


def account(**facts) -> AccountSight:
    well = {"name": "bot", "platform": "telegram", "state": "ready", "state_since": ago(days=1)}
    return AccountSight(**(well | facts))


def seen(*accounts: AccountSight, delivery: DeliverySight | None = None, **execution) -> Sight:
    well = {"processes": SEEN, "alive": ALL, "capacity": 10}
    return Sight(
        at=NOW,
        accounts=accounts,
        execution=ExecutionSight(**(well | execution)),
        delivery=delivery or DeliverySight(),
    )


def found(sight: Sight) -> dict[str, Severity]:
    return {one.key: one.severity for one in findings(sight)}


def test_an_installation_that_is_well_has_no_findings() -> None:
    busy = {"running": 9, "due": 3, "due_since": ago(seconds=20), "free_bytes": 2**40}

    assert findings(seen(account(owed=5, owed_since=ago(minutes=2)), **busy)) == []


@pytest.mark.parametrize(
    ("facts", "severity"),
    [
        ({"state": "auth_failed", "state_since": NOW}, Severity.ERROR),
        ({"state": "degraded", "state_since": ago(seconds=59)}, None),
        ({"state": "degraded", "state_since": ago(seconds=61)}, Severity.WARNING),
        ({"state": "disconnected", "state_since": ago(minutes=11)}, Severity.ERROR),
        ({"is_served": False}, Severity.ERROR),
    ],
)
def test_an_account_that_is_not_connected_is_found_once_it_had_a_moment(facts, severity) -> None:
    expected = {"account:bot": severity} if severity else {}

    assert found(seen(account(**facts))) == expected


def test_without_any_gateway_process_that_alone_is_said() -> None:
    many = [account(name=f"bot{number}", is_served=False) for number in range(9)]

    assert found(seen(*many, alive=ALL - {"gateway"})) == {"process:gateway": Severity.ERROR}


@pytest.mark.parametrize("kind", sorted(ALL))
def test_a_process_that_is_not_alive_is_found_with_when_it_was_last_seen(kind) -> None:
    (one,) = findings(seen(alive=ALL - {kind}, processes=SEEN | {kind: ago(minutes=7)}))

    assert (one.key, one.severity, one.since) == (
        f"process:{kind}",
        Severity.ERROR,
        ago(minutes=7),
    )
    assert "bin/up" in one.fix


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"due": 1, "due_since": ago(minutes=2)}, {"turns:due": Severity.WARNING}),
        ({"due": 1, "due_since": ago(minutes=12)}, {"turns:due": Severity.ERROR}),
        ({"due": 1, "due_since": ago(minutes=12), "running": 10}, {"turns:capacity": "warning"}),
        ({"lost": 1, "lost_since": ago(seconds=30)}, {}),
        ({"lost": 1, "lost_since": ago(seconds=90)}, {"turns:lost": Severity.ERROR}),
        ({"overdue": 2, "overdue_since": ago(minutes=1)}, {"questions:overdue": Severity.ERROR}),
        ({"unsent": 2, "unsent_since": ago(minutes=3)}, {"questions:unsent": Severity.WARNING}),
        ({"forgotten": 1, "forgotten_since": ago(minutes=3)}, {"turns:forgotten": "warning"}),
        ({"free_bytes": 500 * 2**20}, {"disk": Severity.WARNING}),
        ({"free_bytes": 5 * 2**20}, {"disk": Severity.ERROR}),
        ({"clock_skews": {"the broker": -3.0}}, {"clock:the broker": Severity.WARNING}),
        ({"clock_skews": {"the broker": 9.0}}, {"clock:the broker": Severity.ERROR}),
        ({"clock_skews": {"the broker": 0.4}}, {}),
    ],
)
def test_what_is_wrong_with_turns_questions_and_the_host_is_found(facts, expected) -> None:
    assert found(seen(**facts)) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"owed": 1, "owed_since": ago(minutes=11)}, {"owed:bot": Severity.WARNING}),
        ({"owed": 9, "owed_since": ago(hours=2)}, {"owed:bot": Severity.ERROR}),
        ({"tried": 30, "failed": 10}, {}),
        ({"tried": 30, "failed": 15}, {"tries:bot": Severity.WARNING}),
        ({"tried": 10, "failed": 10}, {}),
    ],
)
def test_what_an_account_owes_for_long_or_cannot_send_is_found(facts, expected) -> None:
    assert found(seen(account(**facts))) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"abandoned": 1}, {"deliveries:abandoned": Severity.WARNING}),
        ({"often_tried": 2}, {"deliveries:often_tried": Severity.WARNING}),
        ({"closed_lately": 9}, {}),
        ({"closed_lately": 10}, {"deliveries:closed": Severity.WARNING}),
    ],
)
def test_what_was_given_up_is_found(facts, expected) -> None:
    assert found(seen(delivery=DeliverySight(**facts))) == expected


def test_every_finding_says_in_which_layer_and_what_to_do() -> None:
    everything = seen(
        account(state="auth_failed", owed=1, owed_since=ago(hours=2), tried=50, failed=50),
        account(name="other", state="degraded"),
        delivery=DeliverySight(abandoned=2, often_tried=1, closed_lately=20),
        alive=frozenset({"gateway"}),
        due=2,
        due_since=ago(hours=1),
        lost=2,
        lost_since=ago(hours=1),
        overdue=1,
        unsent=1,
        forgotten=2,
        forgotten_since=ago(hours=1),
        free_bytes=1,
        clock_skews={"the database": 60.0},
    )

    told = findings(everything)

    assert {one.layer for one in told} == set(Layer)
    assert len({one.key for one in told}) == len(told) >= 13
    assert all(one.says.endswith((".", "…")) and one.fix for one in told)
