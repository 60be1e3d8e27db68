"""From a request to a turn: verified over the raw body, in time, once, and answered at once ([W1]).

What is written is written in one transaction: that the event was taken, what was decided about it,
and the turn. If the process dies before its end, nothing is there and the sender, who got no
answer, tries again; if it dies after it, the sender tries again and hears that it is there.
"""

import math
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from delivery import frozen
from gateway import inbound, sessions, turns
from gateway.accounts import CONSOLE
from gateway.commissions import Commission
from gateway.inbound import Verdict
from gateway.keys import KeyFields
from gateway.messages import ChatType, InboundMessage, Source
from gateway.models import Decision, Turn
from gateway.platforms.webhook import KIND, schemes, templates, wire
from gateway.platforms.webhook.errors import NotTaken, Unreadable
from gateway.platforms.webhook.schemes import Request
from gateway.platforms.webhook.wire import Event
from gateway.webhooks import endpoints
from gateway.webhooks.errors import NoSuchEndpoint, TooMany
from gateway.webhooks.models import Endpoint, Goal, Outcome, Receipt

MINUTE = timedelta(minutes=1)
insert_receipt = frozen.Insert(Receipt, unless_there=True)


class Status(StrEnum):
    """What became of a request, as its sender is told."""

    ACCEPTED = "accepted"  # it is stored, and its turn will run
    DUPLICATE = "duplicate"  # it was taken before
    IGNORED = "ignored"  # it is none of those that begin a turn
    CHALLENGED = "challenged"  # the sender only wanted to know who listens


@dataclass(frozen=True)
class Taken:
    """A request that was taken.

    Attributes:
        status: What became of it.
        event_id: By which it is known here.
        challenge: What the sender wants back.
    """

    status: Status
    event_id: str = ""
    challenge: str = ""


@frozen.rows
def _listening(*, name: str) -> QuerySet[Endpoint]:
    """The endpoint of that name, if it takes anything."""
    return Endpoint.objects.filter(name=name, is_enabled=True)


@frozen.exists
def _is_there(*, endpoint: int, event_id: str) -> QuerySet[Receipt]:
    """Whether an event was taken before."""
    return Receipt.objects.filter(endpoint=endpoint, event_id=event_id)


def listening(name: str) -> Endpoint:
    """The endpoint that listens under a name.

    Raises:
        NoSuchEndpoint: None does.
    """
    found = _listening(name=name)
    if not found:
        message = "Compare the address with the one that the endpoint's owner gave you."
        raise NoSuchEndpoint(message)
    return found[0]


def receive(endpoint: Endpoint, request: Request, *, now: datetime) -> Taken:
    """Take a request in, once.

    Args:
        endpoint: Where it came to.
        request: What came; its body is no larger than the endpoint takes.
        now: The present.

    Raises:
        NotTaken: It is not genuine, not in time, or cannot be understood.
        TooMany: The endpoint takes no more for a while.
        BadSecret: The endpoint's secret cannot be read with this installation's key.
        DatabaseError: The database is away; nothing was stored.
    """
    try:
        event = understood(endpoint, request, now=now)
    except NotTaken as error:
        endpoints.note_refusal(endpoint, f"{error.title}. {error}", now=now)
        raise
    if event.challenge is not None:
        return Taken(Status.CHALLENGED, challenge=event.challenge)
    event_id = event.event_id or f"own:{uuid.uuid4()}"
    if _is_there(endpoint=endpoint.pk, event_id=event_id):
        return Taken(Status.DUPLICATE, event_id)
    try:
        return _store(endpoint, event, event_id, len(request.body), now)
    except IntegrityError:  # the same event came twice at once, or its receipt is gone already
        return Taken(Status.DUPLICATE, event_id)


def understood(endpoint: Endpoint, request: Request, *, now: datetime) -> Event:
    """What a genuine request says.

    Raises:
        NotTaken: It is not genuine, not in time, or cannot be understood.
        BadSecret: The endpoint's secret cannot be read with this installation's key.
    """
    rule = endpoint.rule
    proof = schemes.verify(rule, endpoints.secrets_of(endpoint, now), request, now)
    event = wire.read(rule, endpoint.sources, request, proof)
    if endpoint.needs_id and not event.event_id and event.challenge is None:
        message = (
            f"The event has no id where this endpoint looks for it ({endpoint.id_from or 'the'}"
            " usual header of its scheme). Send one that is the same for every try of one event."
        )
        raise Unreadable(message)
    return event


@transaction.atomic
def _store(endpoint: Endpoint, event: Event, event_id: str, size: int, now: datetime) -> Taken:
    _refuse_too_many(endpoint, now)
    wanted = wire.wants(endpoint.events, event.name)
    prompt = templates.render(endpoint.template, event, endpoint=endpoint.name)
    verdict = Verdict(Decision.IGNORED, f"not one of the kinds that begin a turn: {event.name}")
    if wanted:
        verdict = _begin(endpoint, event, event_id, prompt, now)
    receipt = Receipt(
        endpoint_id=endpoint.pk,
        event_id=event_id,
        event=event.name,
        outcome=Outcome.TURN if wanted else Outcome.IGNORED,
        turn=verdict.turn,
        size=size,
        received_at=now,
    )
    if not insert_receipt.one(receipt):
        raise IntegrityError("the event was taken meanwhile")
    inbound.store(KIND, _message(endpoint, event_id, prompt, now), verdict, now=now)
    return Taken(Status.ACCEPTED if wanted else Status.IGNORED, event_id)


def _refuse_too_many(endpoint: Endpoint, now: datetime) -> None:
    most = endpoint.per_minute
    if not most:
        return
    lately = Receipt.objects.filter(endpoint=endpoint.pk).order_by("-received_at")
    last = lately.values_list("received_at", flat=True)[most - 1 : most].first()
    if last is None or last <= now - MINUTE:
        return
    message = f"This endpoint takes {most} events a minute. Send the same again later."
    wait = math.ceil((last + MINUTE - now).total_seconds())
    raise TooMany(message, retry_after=max(wait, 1))


def _begin(endpoint: Endpoint, event: Event, event_id: str, prompt: str, now: datetime) -> Verdict:
    """A turn for the event, in a conversation where nobody sits; it runs later."""
    place = KeyFields(
        profile="default",
        platform=CONSOLE,
        account=CONSOLE,
        scope_id="",
        chat_type=ChatType.WEBHOOK.value,
        chat_id=endpoint.name,
        thread_id="" if endpoint.shares_history else event_id,
    )
    told = _commission(endpoint, event_id)
    if endpoint.shares_history:
        conversation = sessions.find_or_open(place, title=endpoint.name, now=now)
        if conversation.commission != told.as_dict():
            sessions.commission(conversation, told, title=endpoint.name, language="")
    else:
        title = f"{endpoint.name}: {event.name}"
        conversation = sessions.open_new(place, told, title=title, now=now)
    turn: Turn = turns.enqueue(
        turns.NewTurn(
            conversation=conversation,
            prompt=prompt,
            sender_id=f"{KIND}:{endpoint.name}",
            sender_name=endpoint.name,
            reply_to="",
        ),
        now=now,
    )
    return Verdict(Decision.TURN, conversation=conversation, turn=turn)


def _commission(endpoint: Endpoint, event_id: str) -> Commission:
    is_for_people = endpoint.goal in {Goal.HOME, Goal.CHAT}
    return Commission(
        answers=endpoints.destination(endpoint, event_id),
        label=f"**{endpoint.name}**" if is_for_people else "",
    )


def _message(endpoint: Endpoint, event_id: str, prompt: str, now: datetime) -> InboundMessage:
    return InboundMessage(
        source=Source(
            platform=KIND,
            account=KIND,
            chat_type=ChatType.WEBHOOK,
            chat_id=endpoint.name,
            thread_id=event_id,
            user_id=f"{KIND}:{endpoint.name}",
            user_name=endpoint.name,
            message_id=event_id,
            is_bot=True,
        ),
        event_id=f"{endpoint.name}/{event_id}",
        text=prompt,
        sent_at=now,
    )


def forget(*, before: datetime) -> int:
    """Drop the receipts of events that no sender tries again; how many."""
    return Receipt.objects.filter(received_at__lt=before).delete()[0]
