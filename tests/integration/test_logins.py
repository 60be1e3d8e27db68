"""[X1]: guessing passwords is slowed down on every login page, and locks nobody else out."""

from datetime import timedelta

import pytest
from django.utils import timezone

from gateway import retention
from gateway.logins import tries
from gateway.logins.limits import Count
from gateway.logins.models import KnownPlace, LoginTry
from gateway.models import AuditEvent
from tests import factories
from tests.integration.racing import race

pytestmark = [pytest.mark.django_db, pytest.mark.proves("X1")]
PAGES = ("/login/", "/admin/login/")
HOME, ELSEWHERE = "198.51.100.7", "203.0.113.66"


@pytest.fixture
def boss():
    return factories.make_staff()


def enter(client, password: str, *, name: str = "boss", path: str = "/login/", address=HOME):
    """Try to log in; what the page answers."""
    facts = {"username": name, "password": password}
    return client.post(path, facts, REMOTE_ADDR=address)


def is_in(response) -> bool:
    return response.status_code == 302


@pytest.mark.parametrize("path", PAGES)
def test_the_right_password_logs_in_at_once(client, boss, path) -> None:
    assert is_in(enter(client, "pass", path=path))


@pytest.mark.parametrize("path", PAGES)
def test_after_a_few_wrong_ones_even_the_right_one_must_wait_and_the_page_says_how_long(
    client, boss, path
) -> None:
    for _ in range(5):
        assert "Too many tries" not in enter(client, "wrong", path=path).content.decode()

    answer = enter(client, "pass", path=path)

    assert not is_in(answer)
    assert "Too many tries. Wait 15 seconds, then try again." in answer.content.decode()


def test_after_the_wait_the_right_password_works_and_clears_the_count(client, boss) -> None:
    for _ in range(5):
        enter(client, "wrong")
    LoginTry.objects.update(last_at=timezone.now() - timedelta(seconds=16))

    assert is_in(enter(client, "pass"))
    assert not LoginTry.objects.filter(count=Count.PAIR).exists()


def test_asking_while_one_must_wait_makes_nobody_wait_longer(client, boss) -> None:
    for _ in range(20):
        enter(client, "wrong")

    assert LoginTry.objects.get(count=Count.PAIR).failures == 5


def test_an_attacker_elsewhere_does_not_lock_out_who_is_at_home(client, boss) -> None:
    assert is_in(enter(client, "pass"))
    client.logout()
    for number in range(30):
        enter(client, "wrong", address=f"203.0.113.{number}")

    assert LoginTry.objects.get(count=Count.NAME).failures >= 20
    assert not is_in(enter(client, "pass", address=ELSEWHERE))  # a new place waits
    assert is_in(enter(client, "pass"))  # where they always log in does not


def test_guessing_many_names_from_one_address_is_slowed_down(client, boss) -> None:
    for number in range(60):
        enter(client, "wrong", name=f"name{number}", address=ELSEWHERE)

    answer = enter(client, "pass", address=ELSEWHERE)
    assert "Too many tries" in answer.content.decode()
    assert is_in(enter(client, "pass", address=HOME))


def test_whoever_knows_one_password_cannot_guess_others_for_ever(client, boss) -> None:
    factories.make_staff("friend")
    for _ in range(6):
        for _ in range(10):
            enter(client, "wrong", address=ELSEWHERE, name=f"n{_}")
        enter(client, "pass", address=ELSEWHERE, name="friend")

    assert LoginTry.objects.get(count=Count.ADDRESS).failures >= 50


def test_behind_a_proxy_on_this_host_each_visitor_has_a_count_of_their_own(client, boss) -> None:
    for _ in range(6):
        client.post(
            "/login/",
            {"username": "boss", "password": "wrong"},
            REMOTE_ADDR="127.0.0.1",
            headers={"X-Forwarded-For": ELSEWHERE},
        )

    answer = client.post(
        "/login/",
        {"username": "boss", "password": "pass"},
        REMOTE_ADDR="127.0.0.1",
        headers={"X-Forwarded-For": HOME},
    )
    assert is_in(answer)


def test_what_is_put_off_has_one_row_in_the_audit_log_however_often(client, boss) -> None:
    for _ in range(12):
        enter(client, "wrong")

    row = AuditEvent.objects.get(action="login.put_off")
    assert row.subject == f"address:{HOME}"


def test_no_name_and_no_password_is_stored(client, boss) -> None:
    enter(client, "hunter2", name="correct horse battery staple")

    stored = " ".join(f"{row.digest} {row}" for row in LoginTry.objects.all())
    assert "horse" not in stored
    assert "hunter2" not in stored


def test_a_form_without_a_name_or_a_password_counts_nothing(client, boss) -> None:
    enter(client, "", name="boss")
    enter(client, "x", name="")

    assert not LoginTry.objects.exists()


def test_old_failures_and_unused_places_go(boss) -> None:
    now = timezone.now()
    tries.begin("boss", HOME, now=now)
    tries.succeed("boss", HOME, now=now)
    tries.begin("boss", HOME, now=now)

    gone = retention.run(now=now + timedelta(days=200))

    assert (gone["failed logins"], gone["known places"]) == (3, 1)


@pytest.mark.django_db(transaction=True)
def test_of_many_tries_at_once_only_the_free_ones_are_made() -> None:
    now = timezone.now()

    results = race(*[lambda: tries.begin("boss", HOME, now=now)[1]] * 12)

    assert results.count(None) == 5
    assert not KnownPlace.objects.exists()
