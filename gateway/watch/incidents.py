"""Findings that last, as rows. Only writer of their table."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from delivery.forgetting import Rule
from gateway.conf import gateway_settings
from gateway.watch.alerting import Standing
from gateway.watch.models import Incident
from gateway.watch.sights import Finding


def note(findings: Sequence[Finding], *, now: datetime) -> None:
    """Write down what was seen just now: what is new, and what goes on."""
    rows = {
        found.key: Incident(
            key=found.key[:200],
            layer=found.layer,
            severity=found.severity,
            says=found.says[:700],
            fix=found.fix[:500],
            since=found.since or now,
            first_seen_at=now,
            seen_at=now,
        )
        for found in findings
    }
    known = {
        row.key: row for row in still_open().filter(key__in=[row.key for row in rows.values()])
    }
    fresh = [row for row in rows.values() if row.key not in known]
    Incident.objects.bulk_create(fresh, ignore_conflicts=True)
    for row in rows.values():
        if row.key in known:
            Incident.objects.filter(pk=known[row.key].pk).update(
                severity=row.severity, says=row.says, fix=row.fix, seen_at=now
            )


def still_open() -> QuerySet[Incident]:
    """What is not over."""
    return Incident.objects.filter(closed_at__isnull=True)


def standings() -> list[Standing]:
    """What is not over, as far as telling goes."""
    return [standing_of(row) for row in still_open().order_by("pk")]


def standing_of(row: Incident) -> Standing:
    """An incident as a plain value."""
    return Standing(
        pk=row.pk,
        severity=row.severity,
        says=row.says,
        fix=row.fix,
        since=f"{timezone.localtime(row.since):%Y-%m-%d %H:%M %Z}",
        began_at=row.first_seen_at,
        seen_at=row.seen_at,
        told=row.told,
    )


def tell(one: Standing, *, now: datetime) -> bool:
    """Note that somebody is told how bad it is; False if another process was quicker."""
    rows = still_open().filter(pk=one.pk, told=one.told)
    return bool(rows.update(told=one.severity, told_at=now))


def close(one: Standing, *, now: datetime) -> bool:
    """It is over; False if another process saw that first, or saw it again."""
    rows = still_open().filter(pk=one.pk, seen_at=one.seen_at)
    return bool(rows.update(closed_at=now))


def told_lately(*, now: datetime) -> int:
    """How many alerts went out within the last hour."""
    return Incident.objects.filter(told_at__gt=now - timedelta(hours=1)).count()


def _long_over(now: datetime) -> QuerySet[Incident]:
    return Incident.objects.filter(closed_at__lt=now - gateway_settings().retention.events)


OVER = Rule(what="incidents", model=Incident, past=_long_over, by="closed_at")
