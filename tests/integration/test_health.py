"""The two pages for supervisors and load balancers: is it alive, and is it ready."""

import pytest
from django.utils import timezone

from delivery.processes import this_process
from gateway.models import ProcessBeat
from tests.factories import ago, make_account

pytestmark = pytest.mark.django_db
PROCESSES = ("gateway", "worker", "beat")


def seen(*kinds: str, at=None) -> None:
    """Processes of these kinds said lately that they are alive."""
    now = timezone.now()
    ProcessBeat.objects.bulk_create(
        ProcessBeat(name=f"{kind}:{this_process()}", kind=kind, started_at=now, seen_at=at or now)
        for kind in kinds
    )


def parts(client) -> dict[str, str]:
    """What `/readyz` says of each part that is not well."""
    response = client.get("/readyz")
    told = response.json()
    assert response.status_code == (200 if told["ready"] else 503)
    return {name: word for name, word in told["parts"].items() if word != "ok"}


@pytest.mark.proves("O1")
def test_a_site_with_all_its_parts_is_ready(client) -> None:
    seen(*PROCESSES)

    assert parts(client) == {}


@pytest.mark.proves("O1")
@pytest.mark.parametrize("missing", PROCESSES)
def test_a_process_that_was_not_seen_lately_is_named(client, missing) -> None:
    seen(*[kind for kind in PROCESSES if kind != missing])
    seen(missing, at=ago(minutes=1))

    assert parts(client) == {missing: f"no {missing} was seen lately"}


def test_a_broker_that_is_away_is_named_without_its_place(client, settings) -> None:
    seen(*PROCESSES)
    settings.REDIS_URL = "redis://:hush@127.0.0.1:1/0"

    assert parts(client) == {"broker": "the broker does not answer"}


@pytest.mark.proves("O1")
def test_a_site_that_is_not_ready_is_alive_all_the_same(client) -> None:
    assert parts(client).keys() == set(PROCESSES)
    assert client.get("/healthz").json() == {"alive": True}


@pytest.mark.proves("D10")
def test_a_refused_credential_raises_an_alarm_that_names_nobody(client) -> None:
    seen(*PROCESSES)
    make_account("secret-name", state="auth_failed", is_enabled=True)
    make_account("off", state="auth_failed", is_enabled=False)

    told = client.get("/readyz").json()
    assert told["ready"] is True
    assert told["alarms"] == ["credentials of accounts are refused: 1; run manage.py doctor"]


def test_a_site_whose_accounts_are_well_raises_no_alarm(client) -> None:
    make_account("telegram", state="ready", is_enabled=True)

    assert client.get("/readyz").json()["alarms"] == []
