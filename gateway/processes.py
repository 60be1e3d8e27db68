"""Which processes of this installation are alive; the only writer of their table."""

from datetime import datetime, timedelta

from delivery.processes import is_certainly_dead, this_process
from gateway.models import ProcessBeat

STALE = timedelta(seconds=15)
EVERY = timedelta(seconds=3)
_last_beat: dict[str, datetime] = {}


def beat(kind: str, *, now: datetime) -> None:
    """This process, of that kind, is alive; written down every few seconds at most."""
    name = f"{kind}:{this_process()}"
    last = _last_beat.get(name)
    if last is not None and now - last < EVERY:
        return
    ProcessBeat.objects.bulk_create(
        [ProcessBeat(name=name, kind=kind, started_at=now, seen_at=now)],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["seen_at"],
    )
    _last_beat[name] = now


def alive(kind: str, *, now: datetime) -> bool:
    """Whether a process of that kind was seen lately and is not known to be dead."""
    seen = ProcessBeat.objects.filter(kind=kind, seen_at__gt=now - STALE)
    names = seen.values_list("name", flat=True)
    return any(not is_certainly_dead(name.partition(":")[2]) for name in names)
