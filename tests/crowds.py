"""A crowd of people, each of whom was asked something in a chat of their own and has not answered.

One of them is asked by the product's own functions; the rest are copies of every row that made,
with names of their own. That takes seconds where ten thousand real messages would take minutes.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, OuterRef, Subquery

from clarify.models import Prompt
from delivery.addresses import Address
from delivery.models import Obligation, Part
from gateway.models import Conversation, Session, ToolCall, Turn
from tests.factories import make_conversation, make_prompt, make_turn

Row = TypeVar("Row", bound=Model)
FIRST_CHAT = 7_000_000  # nobody else in a test or a benchmark has so high an id
BATCH = 500


@transaction.atomic
def make_crowd(count: int, *, now: datetime, first_chat: int = FIRST_CHAT) -> list[Prompt]:
    """Ask `count` people, whose chat ids count up from `first_chat`; their open prompts."""
    first = make_conversation(now=now, chat_id=str(first_chat))
    model = make_prompt(make_turn(first, state="waiting", now=now), now=now)
    turn = Turn.objects.get(pk=int(model.correlation))
    call = ToolCall.objects.get(turn=turn)
    chats = [str(first_chat + number) for number in range(1, count)]
    conversations = _conversations(first, chats)
    turns = _copies(
        turn,
        conversations,
        conversation_id=lambda c: c.pk,
        session_id=lambda c: c.session_id,
        sender_id=lambda c: c.chat_id,
    )
    _copies(call, turns, turn_id=lambda t: t.pk)
    places = list(zip(conversations, turns, strict=True))
    shown = _messages(model.obligation, places)
    prompts = _copies(
        model,
        list(zip(places, shown, strict=True)),
        correlation=lambda it: it[0][1].correlation,
        conversation_key=lambda it: it[0][0].key,
        lane=lambda it: it[1].lane,
        address=lambda it: it[1].address,
        asker_id=lambda it: it[0][0].chat_id,
        token=lambda it: f"crowd{it[0][0].chat_id}",
        obligation_id=lambda it: it[1].pk,
    )
    return [model, *prompts]


def _conversations(first: Conversation, chats: Sequence[str]) -> list[Conversation]:
    def named(chat: str) -> str:
        return first.key.replace(first.chat_id, chat)

    conversations = _copies(first, chats, key=named, chat_id=lambda chat: chat, session_id=_none)
    sessions = _copies(first.session, conversations, conversation_id=lambda c: c.pk)
    own = Session.objects.filter(conversation=OuterRef("pk")).values("pk")[:1]
    Conversation.objects.filter(session=None).update(session=Subquery(own))
    for conversation, session in zip(conversations, sessions, strict=True):
        conversation.session = session
    return conversations


def _messages(first: Obligation, places: Sequence[tuple[Conversation, Turn]]) -> list[Obligation]:
    def at(place: tuple[Conversation, Turn]) -> Address:
        return place[0].address

    shown = _copies(
        first,
        places,
        delivery_id=lambda place: f"crowd{place[0].chat_id}",
        conversation_key=lambda place: place[0].key,
        correlation=lambda place: place[1].correlation,
        chat_id=lambda place: place[0].chat_id,
        lane=lambda place: at(place).lane,
        address=lambda place: at(place).as_dict(),
    )
    _copies(
        Part.objects.get(obligation=first),
        shown,
        obligation_id=lambda message: message.pk,
        message_id=lambda message: message.chat_id,
        idempotency_key=lambda message: f"crowd{message.chat_id}",
    )
    return shown


def _copies(row: Row, each: Sequence[Any], **changes: Callable[[Any], Any]) -> list[Row]:
    """One copy of `row` for each item, stored; `changes` give the columns in which they differ."""
    kind = type(row)
    same = {
        field.attname: getattr(row, field.attname)
        for field in kind._meta.concrete_fields
        if not field.primary_key
    }
    rows = [kind(**same | {name: of(item) for name, of in changes.items()}) for item in each]
    return kind._default_manager.bulk_create(rows, batch_size=BATCH)


def _none(_chat: str) -> None:
    """A column that is filled in later."""
