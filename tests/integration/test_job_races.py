"""[C1]: however many clocks tick at the same moment, an instant of a job is run once."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from gateway.models import Turn
from gateway.schedules import sweeping
from gateway.schedules.models import Job, Run
from tests.integration.racing import race
from tests.integration.scheduling import let_in, make_job

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.proves("C1")]
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
DUE = NOON + timedelta(hours=2)


def take_all(jobs: list[Job]) -> list[bool]:
    return [sweeping.take(job, now=DUE) for job in jobs]


def test_of_clocks_that_tick_at_the_same_moment_one_runs_a_job():
    let_in("7")
    for number in range(5):
        make_job(f"every 2h look {number}", now=NOON)
    seen = [list(Job.objects.order_by("pk")) for _clock in range(4)]

    taken = race(*[partial(take_all, jobs) for jobs in seen])

    assert [sum(each) for each in zip(*taken, strict=True)] == [1] * 5
    assert Run.objects.count() == Turn.objects.count() == 5


def test_sweeps_at_the_same_moment_run_each_job_once():
    let_in("7")
    for number in range(5):
        make_job(f"every 2h look {number}", now=NOON)

    counts = race(*[lambda: sweeping.sweep(now=DUE)] * 4)

    assert sum(counts) == Run.objects.count() == Turn.objects.count() == 5
