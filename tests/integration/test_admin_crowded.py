"""[U2]: a hundred thousand rows cost the lists of the admin no more than a few."""

import re
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from clarify.models import Prompt
from delivery.models import Attempt, Obligation, Part
from gateway.models import AuditEvent, InboundEvent, ToolCall, Turn
from tests import factories
from tests.integration.paging import page

pytestmark = [pytest.mark.django_db, pytest.mark.proves("U2")]
MANY = 100_000
HUGE = (InboundEvent, Turn, Obligation, AuditEvent)
LARGE = {Part: 20_000, Prompt: 20_000}
BIG = (*HUGE, *LARGE)
LISTED = (*BIG, Attempt, ToolCall)
# How many there are, and Django's strip of days above a list: one statement each, over one column.
SUMMED_UP = re.compile(r"^SELECT (COUNT\(\*\)|DISTINCT (DATE_TRUNC|django_datetime_trunc))")
FRESH = {
    "event_id": "'e' || n",
    "message_key": "'m' || n",
    "delivery_id": "'d' || n",
    "token": "'t' || n",
    "call_id": "'c' || n",
    "position": "n",
    "conversation_key": "'k' || n",
}


@pytest.fixture
def staff_client(client):
    client.force_login(factories.make_staff())
    return client


@pytest.fixture
def seeds():
    """One row of each large table, and all that belongs to it."""
    turn = factories.make_turn(state="finished", now=datetime(2026, 1, 1, tzinfo=UTC))
    factories.make_inbound(turn)
    prompt = factories.make_prompt(turn)
    Prompt.objects.filter(pk=prompt.pk).update(state="answered")
    factories.settle(factories.make_obligation(turn=turn))
    AuditEvent.objects.create(at=turn.created_at, actor="Grace", action="allow.added")


def queries_of(client, path: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return [query["sql"] for query in captured]


def multiply() -> None:
    """Make many rows like the one that is there, in one statement for each table."""
    with connection.cursor() as cursor:
        for model in BIG:
            cursor.execute(_copying(model))
        cursor.execute("ANALYZE")


def _copying(model) -> str:
    last = LARGE.get(model, MANY) + 9
    row = model.objects.order_by("pk").last()
    columns = [field.column for field in model._meta.concrete_fields if not field.primary_key]
    values = [FRESH.get(column, f'seed."{column}"') for column in columns]
    if model is Prompt:
        values[columns.index("correlation")] = "'x' || n"
    names = ", ".join(f'"{column}"' for column in columns)
    if connection.vendor == "postgresql":
        numbers = f"generate_series(10, {last}) AS numbers(n)"
    else:
        numbers = (
            "(WITH RECURSIVE counted(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM counted"
            f" WHERE n < {last}) SELECT n FROM counted) AS numbers"
        )
    table = model._meta.db_table
    return (
        f'INSERT INTO "{table}" ({names}) SELECT {", ".join(values)}'
        f' FROM "{table}" AS seed, {numbers} WHERE seed."id" = {row.pk}'
    )


def test_a_hundred_thousand_rows_cost_no_more_queries_and_no_reading_of_whole_tables(
    staff_client, seeds
) -> None:
    paths = [page(model, "changelist") for model in LISTED] + [reverse("admin:index")]
    few = {path: len(queries_of(staff_client, path)) for path in paths}

    multiply()

    for model in BIG:
        assert model.objects.count() > LARGE.get(model, MANY)
    dear = []
    for path in paths:
        many = queries_of(staff_client, path)
        assert len(many) <= few[path] + 6, path
        dear += [f"{path}: {sql}" for sql in many if sorts_a_whole_table(sql)]
    assert dear == []


def sorts_a_whole_table(sql: str) -> bool:
    """Whether a page of rows is had by reading all of them and sorting."""
    if not sql.startswith("SELECT") or SUMMED_UP.match(sql) or "ORDER BY" not in sql:
        return False
    plan = plan_of(sql)
    tables = "|".join(model._meta.db_table for model in BIG)
    if connection.vendor == "postgresql":
        return bool(re.search(rf"Seq Scan on ({tables})  \(", plan)) and "Sort" in plan
    return bool(re.search(rf"SCAN ({tables})\b(?! USING)", plan)) and "TEMP B-TREE" in plan


def plan_of(sql: str) -> str:
    explained = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explained} {sql}".replace("%", "%%"), ())
        return "\n".join(str(row[-1]) for row in cursor.fetchall())
