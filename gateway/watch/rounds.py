"""One round of the watchdog: look, write down, tell ([O1]).

Gateway processes and workers make rounds, so that either finds out when the other is gone; a lease
sees to it that one of them does so at a time. What is safe to mend is mended elsewhere, all the
while: connections are tried again, accounts and turns taken over, workers woken. The watchdog says
what that did not mend.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from delivery import leases, ledger
from delivery.addresses import Address
from delivery.ledger import Debt
from delivery.models import Kind
from delivery.processes import is_certainly_dead, this_process
from gateway import chats
from gateway.conf import gateway_settings
from gateway.doctoring import other_clocks
from gateway.models import Account, Conversation
from gateway.watch import alerting, incidents, judging, looking
from gateway.watch.alerting import Telling, Word
from gateway.watch.looking import Clocks
from gateway.watch.sights import Sight

logger = logging.getLogger(__name__)

EVERY = timedelta(seconds=30)
APART = timedelta(seconds=20)


def take(*, now: datetime, clocks: Clocks = other_clocks) -> Sight | None:
    """Make a round, unless another process has just made one.

    Args:
        now: The present.
        clocks: Tells what time it is by others' clocks.

    Returns:
        What was seen; None if it was not our turn.
    """
    fence = leases.acquire(
        "watchdog", this_process(), now=now, ttl=APART, is_dead=is_certainly_dead
    )
    if fence is None:
        return None
    sight = looking.look(now=now, clocks=clocks)
    incidents.note(judging.findings(sight), now=now)
    tell(now=now)
    return sight


@transaction.atomic
def tell(*, now: datetime) -> None:
    """Owe the alerts that are due, and close what is over."""
    standings = incidents.standings()
    places = targets()
    due = alerting.due(standings, now=now)
    chosen = alerting.chosen(due, told_lately=incidents.told_lately(now=now))
    won = {telling.standing.pk for telling in due if _note(telling, now)}
    for telling in chosen:
        if telling.standing.pk in won:
            _owe(places, alerting.message(telling, page()), _occasion(telling), now)
    rest = len([one for one in due[len(chosen) :] if one.standing.pk in won])
    if rest:
        _owe(places, alerting.summary(rest, page()), f"rest:{now.isoformat()}", now)
    for one in standings:
        if alerting.is_over(one, now=now) and not one.told:
            incidents.close(one, now=now)


def _note(telling: Telling, now: datetime) -> bool:
    one = telling.standing
    logger.log(
        logging.INFO if telling.word is Word.OVER else logging.WARNING,
        "Health: %s",
        one.says,
        extra={"incident": one.pk, "word": telling.word.value},
    )
    if telling.word is Word.OVER:
        return incidents.close(one, now=now)
    return incidents.tell(one, now=now)


def _occasion(telling: Telling) -> str:
    return f"incident:{telling.standing.pk}:{telling.word}"


def _owe(places: Sequence[Address], text: str, occasion: str, now: datetime) -> None:
    for place in places:
        debt = Debt(
            conversation_key="", trigger=occasion, address=place, kind=Kind.NOTICE, content=text
        )
        ledger.record(debt, now=now)


def page() -> str:
    """The address of the page that shows everything."""
    return f"{settings.BASE_URL.rstrip('/')}/health/"


def targets() -> list[Address]:
    """The places that are told, as `HERMES_ALERTS_TO` names them; those that there are."""
    found = [_target(name) for name in gateway_settings().alerts_to]
    return [place for place in found if place is not None]


def _target(name: str) -> Address | None:
    """`account`, which means its home, or `account:chat`, or `account:chat/thread`."""
    slug, _, rest = name.partition(":")
    if not rest:
        return chats.home_of(slug)
    account = Account.objects.filter(slug=slug).first()
    if account is None:
        return None
    chat_id, _, thread_id = rest.partition("/")
    known = Conversation.objects.filter(account=slug, chat_id=chat_id, thread_id=thread_id).first()
    if known is not None:
        return known.address
    return Address(platform=account.platform, account=slug, chat_id=chat_id, thread_id=thread_id)
