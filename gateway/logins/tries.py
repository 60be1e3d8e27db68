"""Tries to log in: counted before they are made, so that many at once are no way around it.

Only writer of their tables.
"""

import hmac
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, QuerySet, Value, When

from delivery.forgetting import Rule
from gateway.logins import limits
from gateway.logins.limits import FORGOTTEN, Count, Failures
from gateway.logins.models import KnownPlace, LoginTry

KEEP_KNOWN = timedelta(days=180)


def digests(name: str, address: str) -> dict[Count, str]:
    """What a try is counted by.

    Args:
        name: As it was typed.
        address: As `limits.network` gives it.
    """
    name = name.strip().casefold()
    return {
        Count.PAIR: _digest("pair", name, address),
        Count.NAME: _digest("name", name),
        Count.ADDRESS: _digest("address", address),
    }


def _digest(*words: str) -> str:
    text = "\x1f".join(words).encode("utf-8", "replace")
    return hmac.new(settings.SECRET_KEY.encode(), text, "sha256").hexdigest()


@transaction.atomic
def begin(name: str, address: str, *, now: datetime) -> tuple[timedelta, Count | None]:
    """A try is about to be made: count it as failed until `succeed` says otherwise.

    Returns:
        How long it must wait, and which count says so; no time and None if it may be made. A try
        that must wait is not counted, so that nobody waits longer for asking.
    """
    keys = digests(name, address)
    # Made before they are held: of many tries at once each sees those before it.
    LoginTry.objects.bulk_create(
        [LoginTry(count=count, digest=digest, last_at=now) for count, digest in keys.items()],
        ignore_conflicts=True,
    )
    rows = LoginTry.objects.filter(digest__in=keys.values()).order_by("pk")
    held = {row.count: Failures(row.failures, row.last_at) for row in rows.select_for_update()}
    is_known = KnownPlace.objects.filter(digest=keys[Count.PAIR]).exists()
    pause, by = limits.wait(
        {count: held.get(count, Failures()) for count in Count}, is_known=is_known, now=now
    )
    if by is None:
        stale = When(last_at__lte=now - FORGOTTEN, then=Value(1))
        LoginTry.objects.filter(digest__in=keys.values()).update(
            failures=Case(stale, default=F("failures") + 1), last_at=now
        )
    return pause, by


@transaction.atomic
def succeed(name: str, address: str, *, now: datetime) -> None:
    """The try was right: its name is at home there, and its failures there are forgotten.

    The other counts lose this one try only, or whoever knows one password could guess for ever.
    """
    keys = digests(name, address)
    LoginTry.objects.filter(count=Count.PAIR, digest=keys[Count.PAIR]).delete()
    for count in (Count.NAME, Count.ADDRESS):
        LoginTry.objects.filter(count=count, digest=keys[count], failures__gt=0).update(
            failures=F("failures") - 1
        )
    KnownPlace.objects.update_or_create(digest=keys[Count.PAIR], defaults={"last_at": now})


def _stale(now: datetime) -> QuerySet[LoginTry]:
    return LoginTry.objects.filter(last_at__lt=now - FORGOTTEN)


def _unused(now: datetime) -> QuerySet[KnownPlace]:
    return KnownPlace.objects.filter(last_at__lt=now - KEEP_KNOWN)


RULES = (
    Rule(what="failed logins", model=LoginTry, past=_stale, by="last_at", batch=1000),
    Rule(what="known places", model=KnownPlace, past=_unused, by="last_at", batch=1000),
)
