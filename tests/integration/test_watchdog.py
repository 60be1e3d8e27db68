"""[O1]: rounds of the watchdog: what is wrong is written down, told once, and its end, too."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from delivery import leases
from delivery.models import Kind, Obligation
from delivery.processes import this_process
from gateway import chats
from gateway.conf import gateway_settings
from gateway.models import Account, ProcessBeat, Turn
from gateway.watch import incidents, looking, rounds
from gateway.watch.models import Incident
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.proves("O1")]


@pytest.fixture
def told(settings):
    """Alerts go to a group on Telegram."""
    settings.GATEWAY = settings.GATEWAY | {"ALERTS_TO": ["telegram:-100", "nobody:5"]}


@pytest.fixture
def well(clock):
    """An installation in which everything runs."""
    account = factories.make_account("telegram", state="ready", state_changed_at=clock())
    keep_well(account, clock)
    return account


def keep_well(account: Account, clock) -> None:
    """Every process says now that it is alive, and the account is served."""
    now = clock()
    for kind in ("gateway", "worker", "beat"):
        ProcessBeat.objects.update_or_create(
            name=f"{kind}:{this_process()}",
            defaults={"kind": kind, "started_at": now, "seen_at": now},
        )
    leases.acquire(
        account.lease_name,
        this_process(),
        now=now,
        ttl=timedelta(seconds=60),
        is_dead=lambda _owner: False,
    )


def go_on(clock, account: Account, seconds: float = 30, times: int = 1) -> None:
    """Time passes in which everything runs and rounds are made."""
    for _ in range(times):
        clock.advance(seconds)
        keep_well(account, clock)
        owed = Obligation.objects.filter(kind=Kind.NOTICE)
        owed.update(state="delivered", settled_at=clock())  # the gateway process sends
        assert take_round(clock()) is not None


def take_round(now):
    """A round by a clock that others need not agree with."""
    return rounds.take(now=now, clocks=list)


def open_keys() -> list[str]:
    return sorted(incidents.still_open().values_list("key", flat=True))


def alerts() -> list[str]:
    owed = Obligation.objects.filter(kind=Kind.NOTICE).order_by("id")
    return [row.content.partition("\n")[0] for row in owed]


def break_account(**changes) -> None:
    Account.objects.update(state="auth_failed", last_error="401", **changes)


def test_a_round_in_a_healthy_installation_finds_nothing(well, told, clock) -> None:
    go_on(clock, well, times=3)

    assert open_keys() == []
    assert alerts() == []


def test_an_incident_is_told_once_and_its_end_once(well, told, clock) -> None:
    go_on(clock, well)
    break_account(state_changed_at=clock())
    go_on(clock, well)
    assert open_keys() == ["account:telegram"]
    assert alerts() == []  # it may mend itself in a moment

    go_on(clock, well, times=10)
    (first,) = alerts()
    assert first.startswith("**Error:** telegram: telegram refuses its credential. It says: 401.")

    Account.objects.update(state="ready", last_error="")
    go_on(clock, well, times=10)
    assert open_keys() == []
    assert alerts() == [first, "**Over:** telegram: telegram refuses its credential. It says: 401."]
    (row,) = Obligation.objects.filter(kind=Kind.NOTICE)[:1]
    assert (row.account, row.chat_id) == ("telegram", "-100")


def test_what_comes_and_goes_is_one_incident_and_two_words(well, told, clock) -> None:
    for _ in range(10):
        break_account(state_changed_at=clock())
        go_on(clock, well, times=3)
        Account.objects.update(state="ready")
        go_on(clock, well, times=3)
    go_on(clock, well, times=10)

    assert [row.key for row in Incident.objects.all()] == ["account:telegram"]
    assert len(alerts()) == 2


def test_what_was_over_before_anybody_was_told_is_told_to_nobody(well, told, clock) -> None:
    break_account(state_changed_at=clock())
    go_on(clock, well)
    Account.objects.update(state="ready")
    go_on(clock, well, times=10)

    assert open_keys() == []
    assert alerts() == []


def test_many_incidents_at_once_are_a_handful_of_alerts_and_a_number(well, told, clock) -> None:
    for number in range(40):
        factories.make_account(f"bot{number}", state="auth_failed", state_changed_at=clock())
    go_on(clock, well, times=4)

    assert len(open_keys()) == 40
    assert len(alerts()) == 6
    assert alerts()[-1].startswith("**Health:** 35 more things changed")


def test_two_processes_do_not_tell_the_same_twice(well, told, clock) -> None:
    break_account(state_changed_at=clock())
    go_on(clock, well)
    clock.advance(30)
    keep_well(well, clock)
    for _ in range(2):
        incidents.note([], now=clock())
        take_round(clock())
        rounds.tell(now=clock())

    assert len(alerts()) == 1


def test_a_round_is_made_by_one_process_at_a_time(well, clock) -> None:
    leases.acquire(
        "watchdog", "elsewhere/1/1", now=clock(), ttl=rounds.APART, is_dead=lambda _owner: False
    )

    assert take_round(clock()) is None
    clock.advance(21)
    assert take_round(clock()) is not None


def test_without_a_place_to_tell_incidents_are_seen_all_the_same(well, clock) -> None:
    break_account(state_changed_at=clock())
    go_on(clock, well, times=4)

    assert open_keys() == ["account:telegram"]
    assert alerts() == []


def test_an_account_alone_means_its_home(well, settings, clock) -> None:
    settings.GATEWAY = settings.GATEWAY | {"ALERTS_TO": ["telegram", "telegram:-5/7"]}
    assert [place.chat_id for place in rounds.targets()] == ["-5"]
    home = factories.make_conversation(chat_id="77").address
    chats.make_home(home, by="boss", now=clock())

    assert [(one.chat_id, one.thread_id) for one in rounds.targets()] == [("77", ""), ("-5", "7")]


def test_the_sights_are_counted_in_the_rows(well, clock) -> None:
    now = clock.advance(3600)
    long_ago = now - timedelta(minutes=30)
    factories.make_turn(state="queued", now=long_ago)
    behind = factories.make_turn(state="waiting", now=long_ago)  # waits, and nothing is asked
    factories.make_turn(behind.conversation, state="queued", now=long_ago)  # not due yet
    factories.make_turn(state="running", now=long_ago, lease_expires_at=long_ago)
    factories.make_prompt(now=long_ago, delivered=False)
    Turn.objects.filter(state="ready").delete()
    factories.make_obligation(now=long_ago, attempts=12, state="failed")
    factories.make_obligation(now=long_ago, state="abandoned", settled_at=now, error_kind="Refused")
    gone = {"settled_at": now, "state": "abandoned"}
    factories.make_obligation(now=long_ago, **gone)  # nobody wanted it any more
    factories.make_obligation(now=long_ago, error_kind="DestinationGone", **gone)

    seen = looking.look(now=now, clocks=list)

    assert (seen.execution.due, seen.execution.due_since) == (1, long_ago)
    assert (seen.execution.forgotten, seen.execution.lost) == (1, 1)
    assert seen.execution.unsent == 1
    assert seen.delivery.often_tried == 1
    assert seen.delivery.abandoned == 1
    (account,) = seen.accounts
    assert (account.owed, account.owed_since) == (2, long_ago)
    assert account.is_served is False  # its lease ran out


def test_a_look_is_a_fixed_number_of_queries(well, clock) -> None:
    few = queries(clock)
    for _ in range(15):
        factories.make_prompt(factories.make_turn(state="waiting", now=clock()), now=clock())
        factories.make_account()

    assert queries(clock) == few <= 25


def queries(clock) -> int:
    with CaptureQueriesContext(connection) as seen:
        looking.look(now=clock(), clocks=list)
    return len(seen)


def test_incidents_that_were_over_long_ago_go(well, clock) -> None:
    from gateway import retention

    break_account(state_changed_at=clock())
    go_on(clock, well)
    assert retention.run(now=clock() + timedelta(days=400)).get("incidents") is None
    Incident.objects.update(closed_at=clock())
    count = Incident.objects.count()

    keep = gateway_settings().retention.events
    assert retention.run(now=clock() + keep + timedelta(days=1))["incidents"] == count


# --- the page for staff ---------------------------------------------------------------------------


def test_the_health_page_shows_the_three_layers_to_staff(client) -> None:
    factories.make_account("<b>bot</b>", state="auth_failed", last_error="<script>401</script>")
    client.force_login(factories.make_staff())

    html = client.get("/health/").content.decode()

    for title in ("Connections", "Work", "Deliveries"):
        assert title in html
    assert "refuses its credential" in html
    assert "No worker process was seen lately." in html
    assert "<script>401" not in html
    assert "<b>bot" not in html


def test_the_health_page_says_when_all_is_well_and_what_is_over(client, clock) -> None:
    from django.utils import timezone

    clock.now = timezone.now()
    account = factories.make_account("telegram", state="ready", state_changed_at=clock())
    keep_well(account, clock)
    Incident.objects.create(
        key="x",
        layer="platform",
        severity="error",
        says="It was broken.",
        fix="-",
        since=clock(),
        first_seen_at=clock(),
        seen_at=clock(),
        closed_at=clock(),
    )
    client.force_login(factories.make_staff())

    html = client.get("/health/").content.decode()

    assert "All is well" in html
    assert "It was broken." in html


def test_the_health_page_is_for_those_with_the_permission(client) -> None:
    assert client.get("/health/").status_code == 302
    client.force_login(factories.make_staff("clerk", is_superuser=False))
    assert client.get("/health/").status_code == 403
    factories.make_staff("viewer", is_superuser=False)


@pytest.mark.parametrize("language", ["en", "fa", "zh-hans"])
def test_the_health_page_carries_no_inline_script_or_style(client, language) -> None:
    import re

    client.force_login(factories.make_staff())
    html = client.get("/health/", headers={"Accept-Language": language}).content.decode()

    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*src=)", html)
    assert f'lang="{language}"' in html
