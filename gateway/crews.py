"""The two groups of staff that every installation has: operators and auditors ([A6]).

They are made, and completed, whenever the database is migrated. Whoever wants another cut makes a
group of their own: what is taken from these two comes back with the next upgrade.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import AppConfig, apps
from django.contrib.auth.models import Group, Permission
from django.db.models import Q

OPERATORS, AUDITORS = "Operators", "Auditors"
APPS = (
    *("clarify", "delivery", "gateway", "identity", "schedules", "watch", "webhooks"),
    "django_celery_beat",
)
# What operators act on, by app and model; all else they read, as auditors do.
ACTED_ON = {
    "clarify": ("prompt", "permit"),
    "delivery": ("obligation",),
    "gateway": ("account", "allowentry", "conversation", "session", "turn"),
    "identity": ("pairing", "link"),
    "schedules": ("job", "backgroundtask", "place"),
    "webhooks": ("endpoint",),
}
# What they make and take away as well.
KEPT = {
    "gateway": ("allowentry", "chatpolicy", "homechannel"),
    "identity": ("strangerpolicy",),
    "schedules": ("job", "place"),
}


def after_migrating(sender: AppConfig, **_facts: Any) -> None:
    """Complete the groups when every app has made its permissions; for Django's `post_migrate`."""
    migrated = [app for app in apps.get_app_configs() if app.models_module is not None]
    if sender is migrated[-1]:
        complete()


def complete() -> None:
    """Make the groups, and give each what it lacks."""
    reading = Q(content_type__app_label__in=APPS, codename__startswith="view_")
    acting = Q(pk__in=[])
    for app, codename in deeds():
        acting |= Q(content_type__app_label=app, codename=codename)
    _give(AUDITORS, Permission.objects.filter(reading).values_list("pk", flat=True))
    _give(OPERATORS, Permission.objects.filter(reading | acting).values_list("pk", flat=True))


def deeds() -> Iterator[tuple[str, str]]:
    """What operators may do beside reading: app and permission."""
    yield from _named(ACTED_ON, ["change"])
    yield from _named(KEPT, ["add", "change", "delete"])


def _named(models: dict[str, tuple[str, ...]], verbs: list[str]) -> Iterator[tuple[str, str]]:
    for app, names in models.items():
        for name in names:
            yield from ((app, f"{verb}_{name}") for verb in verbs)


def _give(name: str, wanted: Iterable[int]) -> None:
    group, _ = Group.objects.get_or_create(name=name)
    has = set(group.permissions.values_list("pk", flat=True))
    if missing := set(wanted) - has:
        group.permissions.add(*missing)
