"""The Celery application: turns, retries and upkeep."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_site.settings")  # noqa: TID251 - an entry point

app = Celery("hermes")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Celery closes every connection around every task. Ours are either pooled, and then given back as
# soon as they are idle, or private to their thread and dear to open.
app.conf["CELERY_DB_REUSE_MAX"] = 10**9
