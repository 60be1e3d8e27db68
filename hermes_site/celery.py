"""The Celery application: turns, retries and upkeep."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_site.settings")  # noqa: TID251 - an entry point

app = Celery("hermes")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
