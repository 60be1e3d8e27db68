"""What beat sends, against the tasks there are."""

from celery import current_app
from django.conf import settings

from gateway.queue import RUN_TURNS

OURS = ("delivery.", "clarify.", "gateway.")


def tasks_of_ours() -> set[str]:
    current_app.loader.import_default_modules()
    return {name for name in current_app.tasks if name.startswith(OURS)}


def test_beat_sends_every_task_but_the_one_that_messages_send():
    sent = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}

    assert tasks_of_ours() - {RUN_TURNS} == sent
