"""A turn from the queue to its end, as the one who runs it tells it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from django.db import IntegrityError, transaction
from django.db.models import F

from clarify import questions
from clarify.ports import Resolved
from delivery import hints
from gateway import attention, keys, queue, sessions, statements, wording
from gateway.errors import TurnLost
from gateway.models import Conversation, Turn
from gateway.states import TURNS, FailureKind, TurnEvent, TurnState
from gateway.turns import claims, joining, owing, toolcalls

FAILED = "(This could not be answered because of an error.)"


@dataclass(frozen=True, kw_only=True)
class NewTurn:
    """What a turn is begun with."""

    conversation: Conversation
    prompt: str
    sender_id: str
    sender_name: str
    reply_to: str
    sender_alt: str = ""  # the platform's stable id of the same person
    is_bots: bool = False
    held_until: datetime | None = None  # its files are on their way
    gathers_until: datetime | None = None  # more pieces of the same message may come
    may_join: bool = False  # the turn that runs may take it in
    told_at: datetime | None = None  # the person knows that it waits


def enqueue(new: NewTurn, *, now: datetime) -> Turn:
    """Queue a turn in the caller's transaction, and wake a worker after it."""
    conversation = new.conversation
    turn = Turn(
        conversation=conversation,
        session_id=cast("int", conversation.session_id),  # an open conversation has one
        prompt=new.prompt,
        sender_id=new.sender_id,
        sender_name=new.sender_name[:255],
        sender_alt=new.sender_alt[:255],
        is_bots=new.is_bots,
        reply_to=new.reply_to,
        created_at=now,
        woken_at=now,
        held_until=new.held_until,
        gathers_until=new.gathers_until,
        may_join=new.may_join,
        told_at=new.told_at,
        updated_at=now,
    )
    statements.insert_turn.one(turn)
    if new.held_until is None:
        wait = (new.gathers_until - now).total_seconds() if new.gathers_until else 0.0
        queue.wake_turns(conversation.pk, after=wait)
    hints.conversation_changed(conversation.key)
    hints.operators_changed()
    return turn


def reword(turn_id: int, prompt: str, *, now: datetime) -> bool:
    """What a queued turn answers was changed before the turn began.

    Returns:
        Whether it had not begun.
    """
    queued = Turn.objects.filter(pk=turn_id, state=TurnState.QUEUED)
    return bool(queued.update(prompt=prompt, updated_at=now))


def claim(conversation_id: int, owner: str, *, now: datetime, capacity: int) -> Turn | None:
    """Take the turn of a conversation that is next, if it may run now.

    Args:
        conversation_id: Which conversation.
        owner: The identity of the calling process.
        now: The present.
        capacity: The most turns of chats that may run at once in the whole installation; jobs and
            tasks have bounds of their own ([T11]).

    Returns:
        The turn, now running under a new epoch; None if there is nothing to run, another turn of
        the conversation is active, or the installation is full.
    """
    turn = _next(conversation_id)
    if turn is None or _waits_for_more(turn, now):
        return None
    if claims.room(turn.conversation.chat_type, capacity) <= 0:
        return None
    try:
        with transaction.atomic():
            taken = statements.claim_turn(
                pk=turn.pk,
                epoch=turn.epoch,
                owner=owner,
                until=now + claims.LEASE,
                started=turn.started_at or now,
                now=now,
            )
            if not taken:
                return None
    except IntegrityError:  # another turn of the conversation became active first
        return None
    if attention.is_told_of(TurnState(turn.state), now - turn.created_at):
        owing.tell_begun(turn)
    turn.state, turn.owner, turn.epoch = TURNS.target(TurnEvent.CLAIM), owner, turn.epoch + 1
    hints.conversation_changed(turn.conversation.key)
    return turn


def _next(conversation_id: int) -> Turn | None:
    found = statements.first_open_turn(conversation=conversation_id)
    return found[0] if found and found[0].state in TURNS.sources(TurnEvent.CLAIM) else None


def _waits_for_more(turn: Turn, now: datetime) -> bool:
    return turn.state == TurnState.QUEUED and joining.is_held(turn, now)


def checkpoint(
    turn: Turn,
    messages: Sequence[dict[str, Any]],
    *,
    spoken: str,
    now: datetime,
    usage: dict[str, Any] | None = None,
    joined: Sequence[int] = (),
) -> None:
    """Store what the model has answered so far.

    Args:
        turn: The turn.
        messages: Model messages since the last checkpoint.
        spoken: All that the agent has said since it was last asked or answered.
        now: The present.
        usage: What the turn has cost so far, all of it.
        joined: The ids of the queued turns whose words the messages hold.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    with transaction.atomic():
        claims.hold(turn, now=now, spoken=spoken, usage=usage)
        joining.join(turn, joined, now=now)
        sessions.append(turn, messages, now=now)


def wait(turn: Turn, asks: Sequence[questions.Ask], spoken: str, *, now: datetime) -> None:
    """Suspend the turn until its prompts are resolved; it then holds nothing but its rows.

    What the agent said before asking is owed first, then the prompts, all in one transaction.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    parts = owing.rendered(turn, spoken) if spoken.strip() else ()
    with transaction.atomic():
        here = _locked_place(turn)
        requests = [_placed(ask, here) for ask in asks]
        toolcalls.let_wait(turn, [request.call_id for request in requests])
        changed = claims.held(turn, TurnEvent.ASK).update(
            state=TURNS.target(TurnEvent.ASK),
            segment=F("segment") + 1,
            spoken="",
            owner="",
            updated_at=now,
        )
        if not changed:
            raise TurnLost
        if parts:
            owing.owe_words(turn, spoken, parts, now=now)
        else:  # a try that broke off may have shown something that nothing will replace
            owing.end_stream(turn)
        for request in requests:
            questions.ask(request, now=now)
    hints.conversation_changed(here.key)


def _locked_place(turn: Turn) -> Conversation:
    """The turn's conversation as it is now: the chat may have moved while the turn ran.

    It is held, so that no move passes by a question that is just being asked.
    """
    held = Conversation.objects.select_for_update(no_key=True)
    return held.get(pk=turn.conversation_id)


def _placed(ask: questions.Ask, here: Conversation) -> questions.Ask:
    key = toolcalls.call_key(ask.call_id)
    return replace(ask, call_id=key, conversation_key=here.key, address=here.address)


def on_prompt_resolved(prompt: Resolved, now: datetime) -> None:
    """A prompt is closed: store its result; when the turn has all of them, let it go on."""
    turn_id = keys.turn_of(prompt.correlation)
    if turn_id is None:
        return
    if prompt.permits:
        toolcalls.permit(turn_id, prompt.call_id)
    else:
        toolcalls.answer(turn_id, prompt.call_id, prompt.tool_result, now=now)
    waiting = Turn.objects.filter(pk=turn_id, state__in=TURNS.sources(TurnEvent.ANSWER))
    complete = waiting.exclude(toolcalls.some_wait())
    if complete.update(state=TURNS.target(TurnEvent.ANSWER), woken_at=now, updated_at=now):
        turn = Turn.objects.get(pk=turn_id)
        queue.wake_turns(turn.conversation_id)


def finish(
    turn: Turn,
    text: str,
    messages: Sequence[dict[str, Any]],
    usage: dict[str, Any],
    *,
    now: datetime,
    joined: Sequence[int] = (),
) -> None:
    """End the turn well: transcript and debt in one transaction ([D3]).

    What was to steer it and came too late for its last model call is next in the queue.

    Raises:
        TurnLost: The turn is not the caller's any more; its answer is not owed.
    """
    answer = text.strip() or str(wording.NO_WORDS)
    parts = owing.rendered(turn, answer)
    with transaction.atomic():
        if not statements.finish_turn(**claims.of(turn), usage=usage, now=now):
            raise TurnLost
        joining.join(turn, joined, now=now)
        sessions.append(turn, messages, now=now)
        owing.owe_words(turn, answer, parts, now=now)
    hints.conversation_changed(turn.conversation.key)


def fail(turn: Turn, kind: FailureKind, line: str, detail: str, *, now: datetime) -> None:
    """End the turn badly: one clear line is owed to the person ([T7]).

    Args:
        turn: The turn.
        kind: Why it failed.
        line: What the person reads.
        detail: For staff.
        now: The present.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    states = TURNS.sources(TurnEvent.FAIL)
    with transaction.atomic():
        changed = Turn.objects.filter(pk=turn.pk, epoch=turn.epoch, state__in=states).update(
            state=TURNS.target(TurnEvent.FAIL),
            failure_kind=kind,
            error=line[:500],
            detail=detail[:10_000],
            owner="",
            finished_at=now,
            updated_at=now,
        )
        if not changed:
            raise TurnLost
        owing.remember(turn, FAILED, now=now)
        owing.owe_error(turn, line, now=now)
    hints.conversation_changed(turn.conversation.key)


def keep_words(turn: Turn, spoken: str, *, now: datetime) -> None:
    """A turn was stopped while it spoke: what people saw of it can be read later, too."""
    stopped = Turn.objects.filter(pk=turn.pk, epoch=turn.epoch, state=TurnState.STOPPED)
    if spoken and stopped.update(spoken=spoken, updated_at=now):
        hints.conversation_changed(turn.conversation.key)
