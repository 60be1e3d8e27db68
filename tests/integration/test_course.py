"""How much was owed and recovered in each hour of the last day, as staff see it."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from gateway.course import HOURS, hours_until
from tests.factories import ago, make_obligation, make_staff

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def now():
    return timezone.now().replace(minute=30)


def owe(now, *, began, ended=None, state="delivered", recoveries=0):
    """A message that was recorded and settled so many hours ago."""
    owed = make_obligation(now=now - began * HOUR)
    changes = {"created_at": now - began * HOUR}
    if ended is not None:
        changes |= {"state": state, "settled_at": now - ended * HOUR, "recoveries": recoveries}
    type(owed).objects.filter(pk=owed.pk).update(**changes)


def columns(now, name):
    return [getattr(hour, name) for hour in hours_until(now)]


def test_a_message_is_owed_at_the_end_of_each_hour_until_it_is_settled(now) -> None:
    owe(now, began=5, ended=2)
    assert columns(now, "owed") == [0] * 18 + [1, 1, 1] + [0, 0, 0]


def test_what_is_still_owed_is_owed_since_it_was_recorded(now) -> None:
    owe(now, began=3)
    owe(now, began=300)
    assert columns(now, "owed") == [1] * 20 + [2] * 4


def test_what_was_settled_at_once_was_owed_at_the_end_of_no_hour(now) -> None:
    owe(now, began=4, ended=4)
    assert columns(now, "owed") == [0] * HOURS


def test_what_was_settled_before_the_day_is_not_counted(now) -> None:
    owe(now, began=40, ended=30, recoveries=1)
    assert hours_until(now) == [hour for hour in hours_until(now) if not hour.owed]
    assert sum(columns(now, "recovered")) == 0


def test_recovered_is_what_arrived_after_nobody_knew_whether_it_had(now) -> None:
    owe(now, began=2, ended=1, recoveries=2)
    owe(now, began=2, ended=1)
    owe(now, began=2, ended=1, state="abandoned", recoveries=3)
    assert columns(now, "recovered")[-2] == sum(columns(now, "recovered")) == 1
    assert columns(now, "given_up")[-2] == sum(columns(now, "given_up")) == 1


def test_two_looks_at_the_ledger_are_enough(now, django_assert_num_queries) -> None:
    with django_assert_num_queries(2):
        hours_until(now)


def test_the_first_page_of_the_admin_shows_it_without_a_script(client, now) -> None:
    owe(now, began=2, ended=1, recoveries=1)
    make_obligation(now=ago(hours=1))
    client.force_login(make_staff())
    page = client.get(reverse("admin:index")).content.decode()
    chart = page[page.index("staff-course") : page.rindex("staff-hours")]
    assert "1 now, at most" in chart
    assert chart.count("<svg") == 3
    assert "<script" not in chart
    assert 'aria-label="Recovered, hour by hour: ' in chart
    x = chart.partition('<rect x="')[2].partition('"')[0]
    assert 0 <= float(x) < 480


def test_numbers_of_a_drawing_are_written_for_the_browser_in_every_language(client, now) -> None:
    owe(now, began=5)
    client.force_login(make_staff())
    page = client.get(reverse("admin:index"), headers={"Accept-Language": "fa"}).content.decode()
    assert float(page.partition('<rect x="')[2].partition('"')[0]) > 0
