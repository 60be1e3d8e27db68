"""The events that came in, each stored once, with what was decided: only writer of that table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from clarify.models import Prompt
from delivery.content import Limit
from delivery.splitting import measure
from gateway import commands, fragments, platforms, statements, wording
from gateway.deeds import Deed
from gateway.messages import (
    Attachment,
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


def last_piece(turn: Turn) -> InboundEvent | None:
    """The message that a turn's prompt ends with."""
    return InboundEvent.objects.filter(turn=turn).order_by("-id").first()


def prompt_of(message: InboundEvent, *, edited: str) -> str:
    """What the agent reads of all the messages of a turn, when one of them says `edited` now."""
    limit = platforms.get(message.platform).capabilities.limit
    said = ""
    before: InboundEvent | None = None
    for event in _of_turn(message.turn_id):
        words = _words(event, edited if event.pk == message.pk else event.text)
        said += _joint(before, event, limit) + words if before else words
        before = event
    return said


def _of_turn(turn_id: int | None) -> list[InboundEvent]:
    spoken = [Decision.TURN, Decision.COMMAND]
    rows = InboundEvent.objects.filter(turn=turn_id, kind="message", decision__in=spoken)
    return list(rows.order_by("id"))


def _words(event: InboundEvent, text: str) -> str:
    if event.decision == Decision.COMMAND:
        command = commands.parse(text)
        text = command.rest if isinstance(command, commands.Command) else text
    labels = [wording.file_label(Attachment(**facts)) for facts in event.attachments]
    return "\n".join([text, *labels] if text else labels)


def _joint(before: InboundEvent, event: InboundEvent, limit: Limit) -> str:
    """What stands between two messages of a turn, as they were put together when they came."""
    if before.attachments or event.attachments:
        return "\n"
    length = measure(before.text, limit.unit)
    if not fragments.may_go_on(length, limit):
        return "\n\n"
    return fragments.joint(length, limit)


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
