"""[O1]: `/metrics` tells how things stand, to monitoring and to nobody else."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from delivery import destinations
from gateway import metrics
from gateway.models import ProcessBeat, Turn
from tests import factories

pytestmark = pytest.mark.django_db
MONITORING = Path(__file__).resolve().parents[2] / "docs" / "monitoring.md"


def measured(now=None) -> dict[tuple[str, ...], float]:
    """All samples, by name and the values of their labels."""
    page = metrics.page(now=now or timezone.now())
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


@pytest.mark.proves("O1")
def test_a_fresh_installation_can_be_measured() -> None:
    found = measured()

    assert found["hermes_process_up", "worker"] == 0
    assert found["hermes_chats_closed",] == 0
    assert found["hermes_turns_capacity",] == 120


@pytest.mark.proves("O1")
def test_what_is_queued_runs_and_waits_is_counted_with_its_age() -> None:
    now = timezone.now()
    factories.make_turn(state="queued", now=now - timedelta(seconds=90))
    factories.make_turn(state="queued", now=now)
    prompt = factories.make_prompt(now=now - timedelta(seconds=60))
    factories.make_turn(state="finished", now=now, finished_at=now)

    found = measured(now)

    assert found["hermes_turns_open", "queued"] == 2
    assert found["hermes_turns_open", "waiting"] == 1
    assert found["hermes_turn_oldest_seconds", "queued"] == 90
    assert found["hermes_turns_ended_5m", "finished"] == 1
    assert found["hermes_prompts_open", prompt.kind] == 1
    assert found["hermes_prompt_oldest_seconds", prompt.kind] == 60


@pytest.mark.proves("O1")
def test_what_is_owed_is_counted_by_platform_kind_and_state() -> None:
    now = timezone.now()
    factories.make_obligation(now=now - timedelta(minutes=2))
    factories.make_obligation(now=now, state="failed")
    done = factories.settle(factories.make_obligation(now=now), at=now)
    destinations.bury(done.destination, reason="blocked", now=now)

    found = measured(now)

    assert found["hermes_deliveries_owed", "telegram", "final", "pending"] == 1
    assert found["hermes_deliveries_owed", "telegram", "final", "failed"] == 1
    assert found["hermes_delivery_oldest_seconds", "telegram", "telegram"] == 120
    assert found["hermes_deliveries_settled_5m", "telegram", "delivered"] == 1
    assert found["hermes_attempts_5m", "telegram", "accepted"] == 1
    assert found["hermes_chats_closed",] == 1


@pytest.mark.proves("O1", "O2")
def test_tokens_and_costs_of_what_ended_lately_are_added_up() -> None:
    now = timezone.now()
    usage = {"input_tokens": 10, "output_tokens": 4, "model": "m", "cost": "0.5", "currency": "EUR"}
    for _ in range(2):
        factories.make_turn(state="finished", now=now, finished_at=now, usage=usage)
    factories.make_turn(state="finished", now=now, finished_at=now)
    old = now - timedelta(minutes=6)
    factories.make_turn(state="finished", now=old, finished_at=old, usage=usage)

    found = measured(now)

    assert found["hermes_tokens_5m", "m", "input"] == 20
    assert found["hermes_tokens_5m", "m", "output"] == 8
    assert found["hermes_cost_5m", "EUR"] == 1.0


@pytest.mark.proves("O1")
def test_accounts_and_processes_are_told_by_name() -> None:
    now = timezone.now()
    factories.make_account("bot", state="auth_failed", last_event_at=now - timedelta(hours=1))
    ProcessBeat.objects.create(
        name="beat:elsewhere/1/1", kind="beat", started_at=now, seen_at=now - timedelta(seconds=5)
    )

    found = measured(now)

    assert found["hermes_account_state", "bot", "telegram", "auth_failed"] == 1
    assert found["hermes_account_ready", "bot", "telegram"] == 0
    assert found["hermes_account_last_event_seconds", "bot", "telegram"] == 3600
    assert found["hermes_process_up", "beat"] == 1
    assert found["hermes_process_seen_seconds", "beat"] == 5


def test_inbound_events_are_counted_by_what_was_decided() -> None:
    factories.make_inbound()
    factories.make_inbound(factories.make_turn())

    found = measured()

    assert found["hermes_inbound_5m", "telegram", "ignored"] == 1
    assert found["hermes_inbound_5m", "telegram", "turn"] == 1


@pytest.mark.proves("O1")
def test_the_number_of_queries_does_not_grow_and_none_reads_a_whole_table() -> None:
    few = queries()
    now = timezone.now()
    for _ in range(20):
        factories.make_prompt(factories.make_turn(state="waiting", now=now))
        factories.make_obligation(now=now)
        factories.make_account()
    old = now - timedelta(days=1)
    template = factories.make_turn(state="finished", now=old, finished_at=old)
    Turn.objects.bulk_create(
        Turn(
            conversation_id=template.conversation_id,
            session_id=template.session_id,
            state="finished",
            created_at=old,
            updated_at=old,
            finished_at=old,
            woken_at=old,
        )
        for _ in range(2000)
    )

    many = queries()

    assert len(many) == len(few) <= 30
    if connection.vendor == "sqlite":
        assert [sql for sql in many if is_scan(sql)] == []


def queries() -> list[str]:
    with CaptureQueriesContext(connection) as seen:
        metrics.page(now=timezone.now())
    return [query["sql"] for query in seen if query["sql"].startswith("SELECT")]


def is_scan(sql: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}".replace("%", "%%"), ())
        steps = [row[3] for row in cursor.fetchall()]
    big = r"SCAN (gateway_turn|delivery_obligation|gateway_inboundevent|clarify_prompt)(?! USING)"
    return any(re.match(big, step) for step in steps)


# --- who may look ---------------------------------------------------------------------------------


@pytest.mark.proves("O1", "X1")
def test_without_a_token_only_this_host_may_look(client) -> None:
    assert client.get("/metrics").status_code == 200
    refused = client.get("/metrics", REMOTE_ADDR="203.0.113.5")
    assert refused.status_code == 403
    assert "HERMES_METRICS_TOKEN" in refused.content.decode()


@pytest.mark.proves("O1", "X1")
@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_who_comes_through_a_proxy_on_this_host_is_not_of_this_host(client, header) -> None:
    assert client.get("/metrics", headers={header: "203.0.113.5"}).status_code == 403


@pytest.mark.proves("O1", "X1")
def test_with_a_token_everybody_needs_it(client, settings) -> None:
    settings.METRICS_TOKEN = "s3cret-ü"

    for words in (None, "Bearer wrong", "Basic s3cret", "s3cret"):
        headers = {"Authorization": words} if words else {}
        assert client.get("/metrics", headers=headers).status_code == 401
    settings.METRICS_TOKEN = "s3cret"
    told = client.get(
        "/metrics", headers={"Authorization": "Bearer s3cret"}, REMOTE_ADDR="203.0.113.5"
    )
    assert told.status_code == 200
    assert told["Content-Type"].startswith("text/plain; version=0.0.4")


@pytest.mark.proves("O1")
def test_every_measurement_is_documented_by_its_name() -> None:
    documented = set(re.findall(r"^\| `(hermes_\w+)` \|", MONITORING.read_text(), re.MULTILINE))

    assert documented == {family.name for family in metrics.families(now=timezone.now())}
