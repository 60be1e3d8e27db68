"""The events that came in, each stored once, with what was decided: only writer of that table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from clarify.models import Prompt
from gateway import statements
from gateway.deeds import Deed
from gateway.messages import (
    ButtonPress,
    ChatMoved,
    EditedMessage,
    Ignored,
    Inbound,
    InboundMessage,
    Membership,
    Source,
    clean,
)
from gateway.models import Conversation, Decision, InboundEvent, Turn
from gateway.states import TurnState

KINDS: dict[type[Inbound], str] = {
    InboundMessage: "message",
    ButtonPress: "press",
    EditedMessage: "edit",
    ChatMoved: "moved",
    Membership: "membership",
    Ignored: "other",
}


@dataclass
class Verdict:
    """What was decided about one event.

    Attributes:
        decision: What became of it.
        reason: Why, for staff.
        conversation: The conversation it was said in.
        turn: The turn it began or changed.
        prompt: The question it is about.
        deeds: What is to be done on the platform at once; this is not stored.
    """

    decision: Decision
    reason: str = ""
    conversation: Conversation | None = None
    turn: Turn | None = None
    prompt: Prompt | None = None
    deeds: tuple[Deed, ...] = ()


def fresh(account: str, events: Sequence[Inbound]) -> list[Inbound]:
    """Those of `events` that are not stored yet, neither under their id nor as the same message."""
    if not events:
        return []
    ids = [event.event_id[:255] for event in events]
    keys = [key for event in events if (key := _message_key(event))]
    rows = statements.stored_events(account=account, ids=ids, keys=keys or [""])
    known, said = {event_id for event_id, _ in rows}, {key for _, key in rows if key}
    return [
        event
        for event in events
        if event.event_id[:255] not in known and _message_key(event) not in said
    ]


def store(account: str, event: Inbound, verdict: Verdict, *, now: datetime) -> None:
    """Store an event with what was decided about it.

    Raises:
        IntegrityError: It is stored already.
    """
    row = _row(account, event, now)
    row.decision, row.reason = verdict.decision, verdict.reason[:500]
    row.conversation, row.turn = verdict.conversation, verdict.turn
    row.prompt_id = verdict.prompt.pk if verdict.prompt else None
    statements.insert_event.one(row)


def keep_poison(account: str, event: Inbound, error: Exception, *, now: datetime) -> None:
    """Store an event that could not be handled, so that it is passed by from now on."""
    row = _row(account, event, now)
    row.decision, row.reason = Decision.POISON, f"{type(error).__name__}: {error}"[:500]
    row.attachments = []
    for name, value in vars(row).items():  # it may be poison because of what no row can hold
        if isinstance(value, str):
            setattr(row, name, clean(value))
    InboundEvent.objects.bulk_create([row], ignore_conflicts=True)


def not_begun(message: Source) -> InboundEvent | None:
    """The stored event of a message, if the turn it began is still in the queue."""
    return InboundEvent.objects.filter(
        account=message.account,
        chat_id=message.chat_id,
        message_id=message.message_id,
        decision=Decision.TURN,
        turn__state=TurnState.QUEUED,
    ).first()


def reword(message: InboundEvent, text: str) -> None:
    """A stored message was changed by the one who said it."""
    InboundEvent.objects.filter(pk=message.pk).update(text=text)


def _row(account: str, event: Inbound, now: datetime) -> InboundEvent:
    row = InboundEvent(
        account=account, event_id=event.event_id[:255], kind=KINDS[type(event)], received_at=now
    )
    source: Source | None = getattr(event, "source", None)
    if source is not None:
        row.platform, row.chat_type = source.platform, source.chat_type.value
        row.chat_id, row.thread_id = source.chat_id[:255], source.thread_id[:255]
        row.scope_id, row.message_id = source.scope_id[:255], source.message_id[:255]
        row.sender_id, row.sender_name = source.user_id[:255], source.user_name[:255]
    if isinstance(event, InboundMessage):
        row.text, row.sent_at, row.reply_to = event.text, event.sent_at, event.reply_to[:255]
        row.attachments = [vars(attachment) for attachment in event.attachments]
        row.message_key = _message_key(event) or None
    elif isinstance(event, ButtonPress | EditedMessage):
        row.text = event.data if isinstance(event, ButtonPress) else event.text
    return row


def _message_key(event: Inbound) -> str:
    """Chat and message id of a message, which no second event may claim; empty for the rest."""
    if not isinstance(event, InboundMessage) or not event.source.message_id:
        return ""
    return f"{event.source.chat_id}/{event.source.message_id}"[:600]
