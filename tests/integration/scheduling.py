"""People who have the agent do things later, and the clock that does them."""

from datetime import datetime

from delivery.addresses import Address
from gateway import turns
from gateway.models import Turn
from gateway.schedules import jobs, saying
from gateway.schedules.asking import Asker
from gateway.schedules.jobs import By
from gateway.schedules.models import Job, Place
from tests.factories import make_account, make_allow_entry

LANE = Address(platform="telegram", account="telegram", chat_id="7")
STAFF = By("boss")


def make_asker(**changes) -> Asker:
    """Ada, in her private chat."""
    facts = {"origin": LANE, "id": "7", "name": "Ada"}
    return Asker(**(facts | changes))


def let_in(user_id: str = "7") -> None:
    make_account("telegram")
    make_allow_entry(user_id=user_id)


def make_job(words: str = "every 2h look at the mail", *, now: datetime, asker=None, **changes):
    """A job as a person orders it; the columns of `changes` are set afterwards."""
    said = saying.read(words, zone="UTC", now=now)
    job = jobs.order(said, asker or make_asker(), now=now)
    if changes:
        Job.objects.filter(pk=job.pk).update(**changes)
        job.refresh_from_db()
    return job


def make_place(name: str = "ops", **changes) -> Place:
    facts = {"account": "telegram", "platform": "telegram", "chat_id": "-100", "name": name}
    return Place.objects.create(**(facts | changes))


def end(turn: Turn, words: str = "Nothing new.", *, now: datetime, as_failed: bool = False) -> Turn:
    """A worker does the work of a turn at once."""
    claimed = turns.claim(turn.conversation_id, "host/1/1", now=now, capacity=9)
    assert claimed is not None
    assert claimed.pk == turn.pk
    if as_failed:
        turns.fail(claimed, "limit", "It took too long.", "", now=now)
    else:
        turns.finish(claimed, words, [], {}, now=now)
    return Turn.objects.get(pk=turn.pk)
