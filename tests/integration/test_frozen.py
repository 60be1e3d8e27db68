"""Statements made once give what the same queryset gives, on whatever database the tests run."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.test.utils import CaptureQueriesContext

from delivery import frozen
from delivery.models import Kind, Lease, Obligation, Part
from delivery.states import State

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)
insert = frozen.Insert(Obligation, unless_there=True)
insert_parts = frozen.Insert(Part)


@frozen.rows
def by_lane(*, lanes: list[str]) -> QuerySet[Obligation]:
    return Obligation.objects.filter(lane__in=lanes).select_related("edits").order_by("pk")


@frozen.rows
def outside(*, lanes: list[str]) -> QuerySet[Obligation]:
    return Obligation.objects.exclude(lane__in=lanes).order_by("pk")


@frozen.values
def facts(*, before: datetime) -> QuerySet[Obligation, tuple]:
    due = Obligation.objects.filter(next_attempt_at__lte=before).order_by("pk")
    return due.values_list("lane", "address", "next_attempt_at")


@frozen.exists
def has_parts(*, pk: int) -> QuerySet[Obligation]:
    parts = Part.objects.filter(obligation=OuterRef("pk"))
    return Obligation.objects.filter(Exists(parts), pk=pk)


@frozen.update
def rewrite(*, pk: int, state: State, address: dict, now: datetime | None) -> frozen.Update:
    return Obligation.objects.filter(pk=pk, state=State.PENDING), {
        "state": state,
        "address": address,
        "settled_at": now,
        "attempts": F("attempts") + 1,
    }


def owed(name: str, **changes) -> Obligation:
    fields = {
        "delivery_id": name,
        "lane": name,
        "kind": Kind.FINAL,
        "address": {"chat": name, "names": ["ä", "🙂"]},
        "next_attempt_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Obligation(**{**fields, **changes})


def stored(name: str, **changes) -> Obligation:
    row = owed(name, **changes)
    assert insert.one(row)
    return row


def test_an_inserted_row_is_the_row_that_was_given() -> None:
    row = stored("a")
    found = Obligation.objects.get()
    assert found == row
    assert not row._state.adding
    names = [field.attname for field in Obligation._meta.concrete_fields]
    assert [getattr(found, name) for name in names] == [getattr(row, name) for name in names]


def test_a_row_that_is_there_is_left_out_and_nothing_is_broken() -> None:
    with transaction.atomic():
        first = stored("a")
        again = owed("a")
        assert not insert.one(again)
        assert again.pk is None
        assert Obligation.objects.get() == first


def test_several_rows_go_in_at_once() -> None:
    row = stored("a")
    for count in (1, 3):
        Part.objects.all().delete()
        with CaptureQueriesContext(connection) as seen:
            insert_parts.many(
                Part(obligation=row, position=n, body={"n": n}, idempotency_key=str(n))
                for n in range(count)
            )
        assert len(seen) == 1
        assert [p.body for p in Part.objects.order_by("position")] == [
            {"n": n} for n in range(count)
        ]
    insert_parts.many([])


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_a_list_may_have_any_length(count) -> None:
    rows = [stored(f"lane {n}") for n in range(9)]
    lanes = [row.lane for row in rows[:count]]
    assert by_lane(lanes=lanes) == rows[:count]
    assert outside(lanes=lanes) == rows[count:]


def test_nothing_may_be_excluded() -> None:
    row = stored("a")
    assert outside(lanes=[]) == [row]


def test_related_rows_come_with_the_row() -> None:
    shown = stored("a")
    stored("b", edits=shown)
    (found,) = by_lane(lanes=["b"])
    with CaptureQueriesContext(connection) as seen:
        assert found.edits == shown
        assert found.edits.next_attempt_at == NOW
    assert len(seen) == 0
    (alone,) = by_lane(lanes=["a"])
    assert alone.edits is None


def test_tuples_hold_what_the_fields_hold() -> None:
    row = stored("a")
    stored("b", next_attempt_at=NOW + timedelta(seconds=1))
    assert facts(before=NOW) == [("a", row.address, NOW)]


def test_whether_there_is_a_row_is_found_out() -> None:
    row = stored("a")
    assert not has_parts(pk=row.pk)
    insert_parts.one(Part(obligation=row, position=0, body={}, idempotency_key="x"))
    assert has_parts(pk=row.pk)


def test_an_update_counts_and_guards() -> None:
    row = stored("a")
    address = {"chat": "b", "deep": [1, {"two": None}]}
    assert rewrite(pk=row.pk, state=State.DELIVERED, address=address, now=NOW) == 1
    assert rewrite(pk=row.pk, state=State.FAILED, address={}, now=NOW) == 0
    row.refresh_from_db()
    assert (row.state, row.address, row.settled_at) == ("delivered", address, NOW)
    assert row.attempts == 1


def test_none_may_be_written() -> None:
    row = stored("a", settled_at=NOW)
    assert rewrite(pk=row.pk, state=State.FAILED, address={}, now=None) == 1
    row.refresh_from_db()
    assert row.settled_at is None


def test_the_function_is_run_once_for_each_length() -> None:
    ran = []

    @frozen.rows
    def leases(*, names: list[str]) -> QuerySet[Lease]:
        ran.append(len(names))
        return Lease.objects.filter(name__in=names)

    for count in (1, 1, 2, 2, 3, 4, 1):
        assert leases(names=["x"] * count) == []
    assert ran == [1, 2, 4]
