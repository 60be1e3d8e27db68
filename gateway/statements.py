"""The statements that every message passes, made once (`frozen`); for the nouns that own a table.

`turns` and `sessions`, `intake`, `accounts` and `access` use them; nobody else does.
"""

from datetime import datetime
from typing import Any

from django.db.models import Case, F, Q, QuerySet, When

from delivery import frozen
from delivery.frozen import Update
from gateway.commissions import UNATTENDED
from gateway.models import (
    Account,
    AllowEntry,
    ChatPolicy,
    Conversation,
    InboundEvent,
    Session,
    TranscriptEntry,
    Turn,
)
from gateway.states import ACTIVE, OPEN, TURNS, TurnEvent, TurnState

insert_event = frozen.Insert(InboundEvent)
insert_turn = frozen.Insert(Turn)
insert_entries = frozen.Insert(TranscriptEntry)
insert_conversation = frozen.Insert(Conversation)
insert_session = frozen.Insert(Session)


@frozen.values
def stored_events(
    *, account: str, ids: list[str], keys: list[str]
) -> QuerySet[InboundEvent, tuple[str, str | None]]:
    """Event id and message key of those events that are stored already; no list may be empty."""
    same = Q(event_id__in=ids) | Q(message_key__in=keys)
    return InboundEvent.objects.filter(same, account=account).values_list("event_id", "message_key")


@frozen.rows
def allow_entries(*, platform: str, users: list[str]) -> QuerySet[AllowEntry]:
    """The allowlist entries of a platform that may be about one of these users."""
    return AllowEntry.objects.filter(platform=platform, user_id__in=users)


@frozen.rows
def chat_policies(*, account: str) -> QuerySet[ChatPolicy]:
    """All that is set for an account and its chats, and for everywhere."""
    return ChatPolicy.objects.filter(account__in=["", account]).order_by()


@frozen.rows
def conversations(*, key: str) -> QuerySet[Conversation]:
    """The conversation under a key, with its current session; none or one."""
    return Conversation.objects.filter(key=key).select_related("session").order_by("pk")


@frozen.update
def begin_with(*, pk: int, session: int) -> Update:
    """Let a conversation go on in a session."""
    return Conversation.objects.filter(pk=pk), {"session_id": session}


@frozen.rows
def conversation_now(*, pk: int) -> QuerySet[Conversation]:
    """A conversation as it is at this moment."""
    return Conversation.objects.filter(pk=pk).order_by()


@frozen.update
def confirm_cursor(*, slug: str, cursor: str) -> Update:
    """Move the end of an account's stored events."""
    return Account.objects.filter(slug=slug), {"cursor": cursor}


@frozen.update
def confirm_events(*, slug: str, cursor: str, now: datetime) -> Update:
    """The same, when there were events."""
    return Account.objects.filter(slug=slug), {"cursor": cursor, "last_event_at": now}


@frozen.rows
def first_open_turn(*, conversation: int) -> QuerySet[Turn]:
    """The turn of a conversation that is next, with what it is run with; none or one.

    The one that has begun, whatever its number: of two messages stored at the same moment, the
    later number may become visible first.
    """
    candidates = Turn.objects.filter(conversation=conversation, state__in=sorted(OPEN))
    begun_first = Case(When(state__in=sorted(ACTIVE), then=0), default=1)
    return candidates.select_related("conversation", "session").order_by(begun_first, "id")[:1]


@frozen.rows
def open_turns(*, conversation: int) -> QuerySet[Turn]:
    """The open turns of a conversation, in order of their numbers."""
    return Turn.objects.filter(conversation=conversation, state__in=sorted(OPEN)).order_by("id")


@frozen.rows
def joinable_turns(*, conversation: int) -> QuerySet[Turn]:
    """The queued turns of a conversation that the running one may take in, in order."""
    queued = Turn.objects.filter(
        conversation=conversation, state=TurnState.QUEUED, state__in=sorted(OPEN), may_join=True
    )
    return queued.select_related("conversation", "session").order_by("id")


@frozen.values
def running_turns() -> QuerySet[Turn, tuple[int]]:
    """The ids of all turns that some worker runs and somebody waits for."""
    running = Turn.objects.filter(state=TurnState.RUNNING)
    attended = running.exclude(conversation__chat_type__in=sorted(UNATTENDED))
    return attended.order_by().values_list("pk")


@frozen.values
def running_apart(*, kind: str) -> QuerySet[Turn, tuple[int]]:
    """The ids of all turns that some worker runs in places of a kind, with a bound of their own."""
    running = Turn.objects.filter(state=TurnState.RUNNING, conversation__chat_type=kind)
    return running.order_by().values_list("pk")


@frozen.update
def claim_turn(
    *, pk: int, epoch: int, owner: str, until: datetime, started: datetime, now: datetime
) -> Update:
    """Take a turn that is still as it was seen."""
    return Turn.objects.filter(pk=pk, epoch=epoch, state__in=TURNS.sources(TurnEvent.CLAIM)), {
        "state": TURNS.target(TurnEvent.CLAIM),
        "owner": owner,
        "epoch": F("epoch") + 1,
        "lease_expires_at": until,
        "started_at": started,
        "updated_at": now,
    }


def held_turn(pk: Any, owner: Any, epoch: Any, *, event: TurnEvent | None = None) -> QuerySet[Turn]:
    """The row of a turn, if it is still run under that claim, and `event` may happen to it."""
    states = TURNS.sources(event) if event else [TurnState.RUNNING]
    return Turn.objects.filter(pk=pk, state__in=states, owner=owner, epoch=epoch)


@frozen.update
def hold_turn(*, pk: int, owner: str, epoch: int, until: datetime, now: datetime) -> Update:
    """Say that the work on a turn goes on."""
    return held_turn(pk, owner, epoch), {"lease_expires_at": until, "updated_at": now}


@frozen.update
def hold_speaking_turn(
    *,
    pk: int,
    owner: str,
    epoch: int,
    spoken: str,
    usage: dict[str, Any],
    until: datetime,
    now: datetime,
) -> Update:
    """The same, with what the agent has said and cost so far."""
    return held_turn(pk, owner, epoch), {
        "spoken": spoken,
        "usage": usage,
        "lease_expires_at": until,
        "updated_at": now,
    }


@frozen.update
def finish_turn(*, pk: int, owner: str, epoch: int, usage: dict[str, Any], now: datetime) -> Update:
    """End a turn well."""
    return held_turn(pk, owner, epoch, event=TurnEvent.FINISH), {
        "state": TURNS.target(TurnEvent.FINISH),
        "usage": usage,
        "owner": "",
        "finished_at": now,
        "updated_at": now,
    }


@frozen.values
def transcript(*, session: int) -> QuerySet[TranscriptEntry, tuple[dict[str, Any], int | None]]:
    """The model messages of a session in order, each with the turn it belongs to."""
    entries = TranscriptEntry.objects.filter(session=session)
    kept = entries.filter(undone_at=None)
    return kept.order_by("position").values_list("message", "turn_id")


@frozen.values
def last_position(*, session: int) -> QuerySet[TranscriptEntry, tuple[int]]:
    """The position of the last model message of a session; none or one."""
    entries = TranscriptEntry.objects.filter(session=session)
    return entries.order_by("-position").values_list("position")[:1]
