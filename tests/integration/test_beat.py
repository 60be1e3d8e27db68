"""What beat sends, against the tasks there are; and who says that beat is alive."""

import pytest
from celery import current_app
from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from gateway import launching, processes
from gateway.queue import RUN_TURNS
from gateway.tasks import run_upkeep
from hermes_site.beating import BeatingScheduler

OURS = ("delivery.", "clarify.", "gateway.", "schedules.", "watch.", "webhooks.")


def tasks_of_ours() -> set[str]:
    current_app.loader.import_default_modules()
    return {name for name in current_app.tasks if name.startswith(OURS)}


def test_beat_sends_every_task_but_the_one_that_messages_send():
    sent = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}

    assert tasks_of_ours() - {RUN_TURNS} == sent


@pytest.mark.django_db(transaction=True)  # the scheduler commits by itself
def test_beat_is_seen_although_no_worker_runs_what_it_sends():
    scheduler = BeatingScheduler(app=current_app, lazy=True)  # with nothing to send

    wait = scheduler.tick()

    assert processes.alive("beat", now=timezone.now())
    assert not processes.alive("worker", now=timezone.now())
    assert wait < processes.STALE.total_seconds() / 2


def test_beat_runs_with_the_scheduler_that_says_so():
    assert import_string(settings.CELERY_BEAT_SCHEDULER.replace(":", ".")) is BeatingScheduler
    assert "--scheduler" not in launching.BEAT  # the setting would not hold


@pytest.mark.django_db
def test_what_beat_sends_is_no_sign_of_beat():
    run_upkeep()

    assert not processes.alive("beat", now=timezone.now())
