"""The Celery application: turns, retries and upkeep."""

import os
import warnings

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import worker_ready
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_site.settings")  # noqa: TID251 - an entry point

# What a broker's URL that begins with redis:// (or redis+socket://) is spoken to with.
TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss"), "hermes_site.broker:Transport"))

# Whether root runs it is for the operator to decide; docs/operating.md tells them.
warnings.filterwarnings("ignore", "You're running the worker with superuser", SecurityWarning)

app = Celery("hermes")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Celery closes every connection around every task. Ours are either pooled, and then given back as
# soon as they are idle, or private to their thread and dear to open.
app.conf["CELERY_DB_REUSE_MAX"] = 10**9


@worker_ready.connect
def _hush(**_facts: object) -> None:
    """Take the broker's loss without advice about it: our tasks are made to be given out twice.

    Only now: Celery asks for these warnings while it starts.
    """
    warnings.filterwarnings("ignore", r"\s*In Celery 5\.1", PendingDeprecationWarning)
