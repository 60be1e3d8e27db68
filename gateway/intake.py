"""The one way in: deduplicate, authorise, intercept, route; each step one line of `_message`.

Everything about one event happens in one transaction together with the cursor that confirms it.
What must be done on the platform at once (acknowledging a press, showing that we type) comes back
as values; the caller does it after the commit.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.db import IntegrityError, InterfaceError, OperationalError, transaction

from clarify import questions
from clarify.errors import NotYours, UnknownPrompt
from clarify.models import Prompt
from clarify.questions import Answerer, Effect, Outcome
from delivery import leases, ledger
from delivery.addresses import Address
from delivery.errors import LeaseLost
from delivery.leases import Fence
from delivery.ledger import Debt
from delivery.models import Kind
from gateway import access, accounts, commands, handlers, keys, sessions, statements, turns, wording
from gateway.conf import gateway_settings
from gateway.messages import (
    Batch,
    ButtonPress,
    ChatMoved,
    ChatType,
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

logger = logging.getLogger(__name__)

HANDFUL = 10  # events to a transaction: fewer commits, and nobody waits long for the writer's lock


@dataclass(frozen=True)
class AckPress:
    """Answer a press on the platform, now."""

    press: ButtonPress
    text: str
    alert: bool = False


@dataclass(frozen=True)
class StartTyping:
    """Show that an answer is being made."""

    address: Address
    turn: int


Deed = AckPress | StartTyping


@dataclass
class Verdict:
    """What was decided about one event."""

    decision: Decision
    reason: str = ""
    conversation: Conversation | None = None
    turn: Turn | None = None
    prompt: Prompt | None = None
    deeds: tuple[Deed, ...] = ()


def receive(account: str, fence: Fence, batch: Batch, *, now: datetime) -> list[Deed]:
    """Take a batch in, a handful of events to a transaction, the cursor with the last of them.

    Args:
        account: The account it came to.
        fence: The right to act for that account.
        batch: What came.
        now: The present.

    Returns:
        What is to be done on the platform at once.

    Raises:
        LeaseLost: Another process owns the account; nothing of the rest was stored.
        DatabaseError: The database is away; the same batch will come again.
    """
    known, said = _known(account, batch.events)
    fresh = [event for event in batch.events if event.event_id not in known]
    fresh = [event for event in fresh if message_key(event) not in said]
    deeds: list[Deed] = []
    for start in range(0, max(len(fresh), 1), HANDFUL):
        handful = fresh[start : start + HANDFUL]
        cursor = batch.cursor if start + HANDFUL >= len(fresh) else None
        try:
            with transaction.atomic():
                deeds += _take_handful(account, fence, handful, cursor, now, _take)
        except (LeaseLost, OperationalError, InterfaceError):
            raise
        except Exception:  # noqa: BLE001 - which of them it was shows when each is tried by itself
            with transaction.atomic():
                deeds += _take_handful(account, fence, handful, cursor, now, _take_or_keep)
    return deeds


def _take_handful(
    account: str,
    fence: Fence,
    events: Sequence[Inbound],
    cursor: str | None,
    now: datetime,
    one: Callable[[str, Inbound, datetime], tuple[Deed, ...]],
) -> list[Deed]:
    if not leases.is_current(fence):
        raise LeaseLost
    deeds = [deed for event in events for deed in one(account, event, now)]
    if cursor is not None:
        accounts.confirm(account, cursor, now=now, saw_event=bool(events))
    return deeds


def _known(account: str, events: tuple[Inbound, ...]) -> tuple[set[str], set[str]]:
    """The event ids and the message keys among `events` that are stored already."""
    if not events:
        return set(), set()
    ids = [event.event_id[:255] for event in events]
    keys = [key for event in events if (key := message_key(event))]
    rows = statements.stored_events(account=account, ids=ids, keys=keys or [""])
    return {event_id for event_id, _ in rows}, {key for _, key in rows if key}


def message_key(event: Inbound) -> str:
    """Chat and message id of a message, which no second event may claim; empty for the rest."""
    if not isinstance(event, InboundMessage) or not event.source.message_id:
        return ""
    return f"{event.source.chat_id}/{event.source.message_id}"[:600]


def take(account: str, event: Inbound, *, now: datetime) -> tuple[Deed, ...]:
    """Take one event in, once; an event that cannot be handled is kept and named, and passed by.

    Raises:
        DatabaseError: The database is away.
    """
    known, said = _known(account, (event,))
    if known or message_key(event) in said:
        return ()
    with transaction.atomic():
        return _take_or_keep(account, event, now)


def _take_or_keep(account: str, event: Inbound, now: datetime) -> tuple[Deed, ...]:
    try:
        with transaction.atomic():
            return _take(account, event, now)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        if isinstance(error, IntegrityError) and any(_known(account, (event,))):
            return ()  # the same event came in twice at once
        logger.exception("An event could not be handled", extra={"event": clean(event.event_id)})
        _keep_poison(account, event, error, now)
        return (AckPress(event, ""),) if isinstance(event, ButtonPress) else ()


def _keep_poison(account: str, event: Inbound, error: Exception, now: datetime) -> None:
    row = _row(account, event, now)
    row.decision, row.reason = Decision.POISON, f"{type(error).__name__}: {error}"[:500]
    row.attachments = []
    for name, value in vars(row).items():  # it may be poison because of what no row can hold
        if isinstance(value, str):
            setattr(row, name, clean(value))
    InboundEvent.objects.bulk_create([row], ignore_conflicts=True)


def _take(account: str, event: Inbound, now: datetime) -> tuple[Deed, ...]:
    row = _row(account, event, now)
    verdict = _decide(event, now)
    row.decision, row.reason = verdict.decision, verdict.reason[:500]
    row.conversation, row.turn = verdict.conversation, verdict.turn
    row.prompt_id = verdict.prompt.pk if verdict.prompt else None
    statements.insert_event.one(row)
    return verdict.deeds


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
        row.message_key = message_key(event) or None
    elif isinstance(event, ButtonPress | EditedMessage):
        row.text = event.data if isinstance(event, ButtonPress) else event.text
    return row


def _decide(event: Inbound, now: datetime) -> Verdict:
    return DECIDERS[type(event)](event, now)


def _ignored(event: Ignored, now: datetime) -> Verdict:  # noqa: ARG001 - one signature for all
    return Verdict(Decision.IGNORED, event.reason)


def _moved(event: ChatMoved, now: datetime) -> Verdict:
    count = sessions.move_chat(
        event.platform, event.account, event.old_chat_id, event.new_chat_id, now=now
    )
    return Verdict(Decision.IGNORED, f"the chat has a new id; {count} conversations moved along")


def _membership(event: Membership, now: datetime) -> Verdict:
    address = event.source.address
    if event.is_member:
        ledger.revive(address)
        return Verdict(Decision.IGNORED, "we are in that chat")
    ledger.bury(address, reason="we were removed or blocked", now=now)
    return Verdict(Decision.IGNORED, "we were removed or blocked")


def _message(event: InboundMessage, now: datetime) -> Verdict:
    source = event.source
    if source.is_bot:
        return Verdict(Decision.IGNORED, "a bot said it")
    if event.command_for_other:
        return Verdict(Decision.IGNORED, "a command for another bot")
    judged = access.judge(source)
    if not judged.allowed:
        return _deny(event, judged.reason, now)
    ledger.revive(source.address)
    conversation = sessions.find_or_open(
        keys.fields_of(source, keys.Sharing()), title=source.user_name, now=now
    )
    for step in STEPS if not questions.nothing_lately(conversation.key, now=now) else QUIET_STEPS:
        verdict = step(event, conversation, now)
        if verdict is not None:
            verdict.conversation = conversation
            return verdict
    return _as_turn(event, conversation, now)


def _deny(event: InboundMessage, reason: str, now: datetime) -> Verdict:
    source = event.source
    if source.chat_type is ChatType.DM and access.is_first_denial(source, now=now):
        _say(source, f"denied:{event.event_id}", wording.denied(source), Kind.NOTICE, now)
    return Verdict(Decision.DENIED, reason)


def _as_command(event: InboundMessage, conversation: Conversation, now: datetime) -> Verdict | None:
    command = commands.parse(event.text)
    if command is None:
        return None
    if isinstance(command, commands.UnknownCommand):
        if not _is_addressed(event):
            return None
        _reply(event, conversation, wording.unknown_command(command), Kind.CONTROL, now)
        return Verdict(Decision.COMMAND, f"unknown: {command.name}")
    done = handlers.run(command, event, conversation, now=now)
    if done.say:
        _reply(event, conversation, done.say, Kind.CONTROL, now)
    return Verdict(Decision.COMMAND, command.spec.name, prompt=done.prompt)


def _as_answer(event: InboundMessage, conversation: Conversation, now: datetime) -> Verdict | None:
    if event.attachments or not event.text.strip():
        return None
    answerer = answerer_of(event.source)
    mine = _open_to(event, conversation)
    if not mine:
        return None
    outcome = questions.answer_text(mine[0], event.text, answerer, now=now)
    if outcome.effect is Effect.NOTHING:
        return None
    if outcome.say and outcome.effect is not Effect.RESOLVED:
        _reply(event, conversation, outcome.say, Kind.CONTROL, now)
    decision = Decision.HINT if outcome.effect is Effect.HINTED else Decision.ANSWER
    deeds = _typing_after(outcome, event.source.address)
    return Verdict(decision, outcome.effect.value, prompt=outcome.prompt, deeds=deeds)


def _open_to(event: InboundMessage, conversation: Conversation) -> list[Prompt]:
    """The open questions that the sender may answer here; only the one that is quoted, if any."""
    prompts = questions.pending_for(conversation.key)
    if event.reply_to and prompts:
        quoted = questions.quoted(conversation.key, event.reply_to)
        if quoted is not None:
            prompts = [prompt for prompt in prompts if prompt.pk == quoted.pk]
    answerer = answerer_of(event.source)
    return [
        prompt
        for prompt in prompts
        if questions.may_answer(prompt, answerer)
        and prompt.lane == event.source.address.lane
        and prompt.kind != "approval"
    ]


def _typing_after(outcome: Outcome, address: Address) -> tuple[Deed, ...]:
    turn = keys.turn_of(outcome.prompt.correlation)
    if outcome.effect is not Effect.RESOLVED or turn is None:
        return ()
    return (StartTyping(address, turn),)


def _is_addressed(event: InboundMessage) -> bool:
    private = {ChatType.DM, ChatType.CONSOLE, ChatType.WEBHOOK}
    return event.mentions_bot or event.source.chat_type in private


def _unless_addressed(
    event: InboundMessage, conversation: Conversation, now: datetime
) -> Verdict | None:
    del conversation, now
    if _is_addressed(event):
        return None
    return Verdict(Decision.IGNORED, "a group message that does not mention us")


def _as_late_answer(
    event: InboundMessage, conversation: Conversation, now: datetime
) -> Verdict | None:
    quoted = questions.quoted(conversation.key, event.reply_to) if event.reply_to else None
    closed = quoted or questions.closed_lately(conversation.key, now=now)
    if closed is None or closed.is_open or event.attachments:
        return None
    if not questions.looks_like_answer(closed, event.text):
        return None
    if not questions.may_answer(closed, answerer_of(event.source)):
        return None
    _reply(event, conversation, questions.closed_words(closed), Kind.CONTROL, now)
    return Verdict(Decision.CLOSED, f"the question is {closed.state}", prompt=closed)


def _as_stale(event: InboundMessage, conversation: Conversation, now: datetime) -> Verdict | None:
    if now - event.sent_at <= gateway_settings().max_message_age:
        return None
    _reply(event, conversation, str(wording.TOO_OLD), Kind.NOTICE, now)
    return Verdict(Decision.IGNORED, "it is too old to be answered")


def _as_turn(event: InboundMessage, conversation: Conversation, now: datetime) -> Verdict:
    text = wording.as_prompt(event)
    if not text.strip():
        return Verdict(Decision.IGNORED, "nothing was said", conversation)
    if event.attachments and (still_open := _open_to(event, conversation)):
        asked = still_open[0].question_set.questions[0].text
        _reply(event, conversation, wording.still_open(asked), Kind.NOTICE, now)
    turn = turns.enqueue(
        turns.NewTurn(
            conversation=conversation,
            prompt=text,
            sender_id=event.source.user_id,
            sender_name=event.source.user_name,
            reply_to=event.source.message_id,
        ),
        now=now,
    )
    deeds = (StartTyping(event.source.address, turn.pk),)
    return Verdict(Decision.TURN, "", conversation, turn, deeds=deeds)


def _edited(event: EditedMessage, now: datetime) -> Verdict:
    original = InboundEvent.objects.filter(
        account=event.source.account,
        chat_id=event.source.chat_id,
        message_id=event.source.message_id,
        decision=Decision.TURN,
        turn__state=TurnState.QUEUED,
    ).first()
    if original is None or not access.judge(event.source).allowed:
        return Verdict(Decision.IGNORED, "the message was edited after it was handled")
    if turns.reword(cast("int", original.turn_id), event.text, now=now):
        InboundEvent.objects.filter(pk=original.pk).update(text=event.text)
    return Verdict(Decision.EDITED, "a waiting message was changed", turn=original.turn)


def _pressed(event: ButtonPress, now: datetime) -> Verdict:
    """A press is acknowledged whatever becomes of it."""
    judged = access.judge(event.source)
    if not judged.allowed:
        return Verdict(
            Decision.DENIED,
            judged.reason,
            deeds=(AckPress(event, str(wording.NOT_YOURS), alert=True),),
        )
    answerer = answerer_of(event.source)
    try:
        outcome, wants_text = questions.press(
            event.data, lane=event.source.address.lane, answerer=answerer, now=now
        )
    except UnknownPrompt:
        return Verdict(
            Decision.IGNORED,
            "no such button",
            deeds=(AckPress(event, str(wording.UNKNOWN_BUTTON), alert=True),),
        )
    except NotYours:
        return Verdict(
            Decision.DENIED,
            "another person was asked",
            deeds=(AckPress(event, str(wording.NOT_YOURS), alert=True),),
        )
    late = outcome.effect is Effect.TOO_LATE
    deeds: tuple[Deed, ...] = (AckPress(event, outcome.say, alert=late or wants_text),)
    deeds += _typing_after(outcome, event.source.address)
    decision = Decision.CLOSED if late else Decision.ANSWER
    return Verdict(decision, outcome.effect.value, prompt=outcome.prompt, deeds=deeds)


def answerer_of(source: Source) -> Answerer:
    """The sender of `source` as somebody who answers."""
    return Answerer(id=source.user_id, name=source.user_name, surface=source.platform)


def _reply(
    event: InboundMessage, conversation: Conversation, words: str, kind: Kind, now: datetime
) -> None:
    _say(event.source, f"event:{event.event_id}", words, kind, now, key=conversation.key)


def _say(
    source: Source, trigger: str, words: str, kind: Kind, now: datetime, *, key: str = ""
) -> None:
    ledger.record(
        Debt(
            conversation_key=key,
            trigger=trigger,
            address=source.address,
            kind=kind,
            content=str(words),
            reply_to=source.message_id if source.chat_type is not ChatType.DM else "",
        ),
        now=now,
    )


# Control commands come first, then an open question, then everything else ([Q9]).
STEPS: tuple[Callable[[InboundMessage, Conversation, datetime], Verdict | None], ...] = (
    _as_command,
    _as_answer,
    _unless_addressed,
    _as_late_answer,
    _as_stale,
)
QUIET_STEPS = (_as_command, _unless_addressed, _as_stale)
KINDS: dict[type[Inbound], str] = {
    InboundMessage: "message",
    ButtonPress: "press",
    EditedMessage: "edit",
    ChatMoved: "moved",
    Membership: "membership",
    Ignored: "other",
}
DECIDERS: dict[type[Inbound], Callable[..., Verdict]] = {
    InboundMessage: _message,
    ButtonPress: _pressed,
    EditedMessage: _edited,
    ChatMoved: _moved,
    Membership: _membership,
    Ignored: _ignored,
}
