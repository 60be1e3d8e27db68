"""Wrong codes, counted for each person in the database, so that no restart forgets them."""

from datetime import datetime, timedelta

from django.db.models import F

from gateway.identity.models import Tries

HOUR = timedelta(hours=1)
MOST = 10  # wrong codes of one person within an hour


def are_left(person: str, *, now: datetime) -> bool:
    """Whether somebody may enter another code."""
    used_up = Tries.objects.filter(person=person[:400], since__gt=now - HOUR, count__gte=MOST)
    return not used_up.exists()


def note_wrong(person: str, *, now: datetime) -> None:
    """Somebody entered a code that is none."""
    row, is_new = Tries.objects.get_or_create(
        person=person[:400], defaults={"since": now, "count": 1}
    )
    if is_new:
        return
    mine = Tries.objects.filter(pk=row.pk)
    if not mine.filter(since__gt=now - HOUR).update(count=F("count") + 1):
        mine.update(since=now, count=1)


def forget(*, now: datetime) -> None:
    """Drop what counts no more."""
    Tries.objects.filter(since__lt=now - HOUR).delete()
