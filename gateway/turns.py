"""The life of a turn in the database: the only writer of turns and tool calls.

Whoever runs a turn holds it by its epoch; a write for an older epoch, or for a turn that was
stopped, raises `TurnLost` and changes nothing.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from clarify import questions
from clarify.ports import Resolved
from clarify.questions import Answerer
from delivery import hints, ledger
from delivery.content import Rendered
from delivery.ledger import Debt
from delivery.models import Kind
from gateway import queue, sessions, statements
from gateway.agents import history
from gateway.errors import TurnLost
from gateway.models import (
    Conversation,
    InboundEvent,
    ToolCall,
    ToolState,
    TranscriptEntry,
    Turn,
)
from gateway.models.turns import ACTIVE_STATES
from gateway.states import OPEN, TURNS, FailureKind, TurnEvent, TurnState

LEASE = timedelta(seconds=20)
MOST_DEATHS = 2
LONGEST_CALL_ID = 200  # characters, of the column
OVERLOOKED = timedelta(seconds=3)
STOPPED = "(This was stopped before it was answered.)"
FAILED = "(This could not be answered because of an error.)"


@dataclass(frozen=True, kw_only=True)
class NewTurn:
    """What a turn is begun with."""

    conversation: Conversation
    prompt: str
    sender_id: str
    sender_name: str
    reply_to: str


def enqueue(new: NewTurn, *, now: datetime) -> Turn:
    """Queue a turn in the caller's transaction, and wake a worker after it."""
    conversation = new.conversation
    turn = Turn(
        conversation=conversation,
        session_id=cast("int", conversation.session_id),  # an open conversation has one
        prompt=new.prompt,
        sender_id=new.sender_id,
        sender_name=new.sender_name[:255],
        reply_to=new.reply_to,
        created_at=now,
        woken_at=now,
        updated_at=now,
    )
    statements.insert_turn.one(turn)
    queue.wake_turns(conversation.pk)
    hints.conversation_changed(conversation.key)
    hints.operators_changed()
    return turn


def reword(message: InboundEvent, text: str, *, now: datetime) -> None:
    """The message that a queued turn answers was changed before the turn began."""
    changed = Turn.objects.filter(pk=cast("int", message.turn_id), state=TurnState.QUEUED).update(
        prompt=text, updated_at=now
    )
    if changed:
        InboundEvent.objects.filter(pk=message.pk).update(text=text)


def claim(conversation_id: int, owner: str, *, now: datetime, capacity: int) -> Turn | None:
    """Take the turn of a conversation that is next, if it may run now.

    Args:
        conversation_id: Which conversation.
        owner: The identity of the calling process.
        now: The present.
        capacity: The most turns that may run at once in the whole installation.

    Returns:
        The turn, now running under a new epoch; None if there is nothing to run, another turn of
        the conversation is active, or the installation is full.
    """
    turn = _next(conversation_id)
    if turn is None or len(statements.running_turns()) >= capacity:
        return None
    try:
        with transaction.atomic():
            taken = statements.claim_turn(
                pk=turn.pk,
                epoch=turn.epoch,
                owner=owner,
                until=now + LEASE,
                started=turn.started_at or now,
                now=now,
            )
            if not taken:
                return None
    except IntegrityError:  # another turn of the conversation became active first
        return None
    turn.state, turn.owner, turn.epoch = TURNS.target(TurnEvent.CLAIM), owner, turn.epoch + 1
    hints.conversation_changed(turn.conversation.key)
    return turn


def _next(conversation_id: int) -> Turn | None:
    found = statements.first_open_turn(conversation=conversation_id)
    return found[0] if found and found[0].state in TURNS.sources(TurnEvent.CLAIM) else None


def _running() -> QuerySet[Turn]:
    return Turn.objects.filter(state=TurnState.RUNNING)


def _claim_of(turn: Turn) -> dict[str, Any]:
    return {"pk": turn.pk, "owner": turn.owner, "epoch": turn.epoch}


def _mine(turn: Turn, event: TurnEvent) -> QuerySet[Turn]:
    return statements.held_turn(**_claim_of(turn), event=event)


def _hold(turn: Turn, now: datetime) -> None:
    if not statements.hold_turn(**_claim_of(turn), until=now + LEASE, now=now):
        raise TurnLost


def checkpoint(
    turn: Turn, messages: Sequence[dict[str, Any]], *, spoken: str, now: datetime
) -> None:
    """Store what the model has answered so far.

    Args:
        turn: The turn.
        messages: Model messages since the last checkpoint.
        spoken: All that the agent has said since it was last asked or answered.
        now: The present.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    with transaction.atomic():
        held = statements.hold_speaking_turn(
            **_claim_of(turn), spoken=spoken, until=now + LEASE, now=now
        )
        if not held:
            raise TurnLost
        sessions.append(turn, messages, now=now)


def call_key(call_id: str) -> str:
    """How rows name a tool call: by its id, or by what stands for one that no column holds.

    Some servers put a whole signature into it, of thousands of characters.
    """
    if len(call_id) <= LONGEST_CALL_ID and call_id.isprintable():
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()


def begin_tool(
    turn: Turn, call_id: str, name: str, arguments: dict[str, Any], *, now: datetime
) -> tuple[ToolCall, bool]:
    """Write down that a tool call begins, before it does.

    Returns:
        The call, and whether this is the first time that it begins.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    with transaction.atomic():
        _hold(turn, now)
        return ToolCall.objects.get_or_create(
            turn=turn,
            call_id=call_key(call_id),
            defaults={
                "name": name[:100],
                "arguments": arguments,
                "epoch": turn.epoch,
                "started_at": now,
            },
        )


def finish_tool(turn: Turn, call_id: str, result: Any, *, now: datetime) -> None:
    """Store the result of a tool call.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    with transaction.atomic():
        _hold(turn, now)
        ToolCall.objects.filter(turn=turn, call_id=call_key(call_id)).update(
            state=ToolState.DONE, result={"value": result}, finished_at=now
        )


def forget_tool(turn: Turn, call_id: str) -> None:
    """The call was refused before it began: a corrected one may use the same id."""
    ToolCall.objects.filter(turn=turn, call_id=call_key(call_id), state=ToolState.STARTED).delete()


def wait(turn: Turn, asks: Sequence[questions.Ask], spoken: str, *, now: datetime) -> None:
    """Suspend the turn until its prompts are resolved; it then holds nothing but its rows.

    What the agent said before asking is owed first, then the prompts, all in one transaction.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    parts = ledger.rendered(turn.conversation.platform, spoken) if spoken.strip() else ()
    with transaction.atomic():
        here = _locked_place(turn)
        requests = [_placed(ask, here) for ask in asks]
        still_open = ToolCall.objects.filter(
            turn=turn, call_id__in=[request.call_id for request in requests]
        )
        still_open.exclude(state=ToolState.DONE).update(state=ToolState.WAITING)
        changed = _mine(turn, TurnEvent.ASK).update(
            state=TURNS.target(TurnEvent.ASK),
            segment=F("segment") + 1,
            spoken="",
            owner="",
            updated_at=now,
        )
        if not changed:
            raise TurnLost
        if parts:
            _owe_words(turn, spoken, parts, now)
        else:  # a try that broke off may have shown something that nothing will replace
            _end_stream(turn)
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
    return replace(
        ask, call_id=call_key(ask.call_id), conversation_key=here.key, address=here.address
    )


def on_prompt_resolved(prompt: Resolved, now: datetime) -> None:
    """A prompt is closed: store its result; when the turn has all of them, let it go on."""
    ToolCall.objects.filter(
        turn=int(prompt.correlation), call_id=prompt.call_id, state=ToolState.WAITING
    ).update(state=ToolState.DONE, result={"value": prompt.tool_result}, finished_at=now)
    waiting = ToolCall.objects.filter(turn=OuterRef("pk"), state=ToolState.WAITING)
    ready = Turn.objects.filter(
        ~Exists(waiting),
        pk=int(prompt.correlation),
        state__in=TURNS.sources(TurnEvent.ANSWER),
    )
    if ready.update(state=TURNS.target(TurnEvent.ANSWER), woken_at=now, updated_at=now):
        turn = Turn.objects.get(pk=int(prompt.correlation))
        queue.wake_turns(turn.conversation_id)


def finish(
    turn: Turn,
    text: str,
    messages: Sequence[dict[str, Any]],
    usage: dict[str, Any],
    *,
    now: datetime,
) -> None:
    """End the turn well: transcript and debt in one transaction ([D3]).

    Raises:
        TurnLost: The turn is not the caller's any more; its answer is not owed.
    """
    answer = text.strip() or "_The agent ended its turn without a word._"
    parts = ledger.rendered(turn.conversation.platform, answer)
    with transaction.atomic():
        if not statements.finish_turn(**_claim_of(turn), usage=usage, now=now):
            raise TurnLost
        sessions.append(turn, messages, now=now)
        _owe_words(turn, answer, parts, now)
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
    with transaction.atomic():
        changed = Turn.objects.filter(
            pk=turn.pk, epoch=turn.epoch, state__in=TURNS.sources(TurnEvent.FAIL)
        ).update(
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
        _remember(turn, FAILED, now)
        words = f"⚠️ {line} (reference: turn {turn.pk})"
        _owe(turn, Kind.ERROR, words, f"turn:{turn.pk}:failed", now, preview=True)
    hints.conversation_changed(turn.conversation.key)


def stop(conversation: Conversation, *, by: Answerer, now: datetime) -> list[Turn]:
    """Stop everything open in a conversation, in the caller's transaction ([T4]).

    Returns:
        The turns that were stopped, the active one first.
    """
    turns = list(
        Turn.objects.filter(conversation=conversation, state__in=sorted(OPEN)).order_by("id")
    )
    stopped = [turn for turn in turns if _stop(turn, by, now)]
    if stopped:
        hints.conversation_changed(conversation.key)
    return stopped


def stop_one(turn: Turn, *, by: Answerer, now: datetime) -> bool:
    """Stop one turn because staff ask for it, in the caller's transaction; the person is told.

    Returns:
        Whether it was still open.
    """
    if not _stop(turn, by, now):
        return False
    note = "⏹ Stopped by the operator."
    _owe(turn, Kind.NOTICE, note, f"turn:{turn.pk}:stopped", now)
    queue.wake_turns(turn.conversation_id)
    hints.conversation_changed(turn.conversation.key)
    return True


def _stop(turn: Turn, by: Answerer, now: datetime) -> bool:
    # Prompts before turns, as an answer locks them.
    questions.hold(turn.conversation.key)
    stopped = Turn.objects.filter(pk=turn.pk, state__in=TURNS.sources(TurnEvent.STOP)).update(
        state=TURNS.target(TurnEvent.STOP), finished_at=now, updated_at=now
    )
    if stopped:
        questions.cancel_for(turn.correlation, reason="stopped", now=now, by=by)
        _remember(turn, STOPPED, now)
        if turn.state == TurnState.RUNNING:
            _tell_stopped(turn)
    return bool(stopped)


def _remember(turn: Turn, note: str, now: datetime) -> None:
    """What the person said stays in the history, even if the agent never came to answer it.

    Not while another turn is in the middle of its work: its history goes on where it stopped.
    """
    others = Turn.objects.filter(conversation=turn.conversation_id, state__in=ACTIVE_STATES)
    if others.exclude(pk=turn.pk).exists():
        return
    if not TranscriptEntry.objects.filter(turn=turn).exists():
        messages = [history.user_message(turn.prompt), history.assistant_message(note)]
        sessions.append(turn, messages, now=now)


def _tell_stopped(turn: Turn) -> None:
    address = turn.conversation.address

    def tell() -> None:
        hints.publish(hints.WORKERS, "turn.stop", turn=turn.pk)
        hints.publish(hints.outbox_group(address.account), "stream.stop", key=turn.preview_key)
        hints.publish(hints.outbox_group(address.account), "turn.ended", turn=turn.pk)

    transaction.on_commit(tell)


def _end_stream(turn: Turn) -> None:
    group, key = hints.outbox_group(turn.conversation.account), turn.preview_key
    transaction.on_commit(lambda: hints.publish(group, "stream.end", key=key))


def _owe_words(turn: Turn, words: str, parts: tuple[Rendered, ...], now: datetime) -> None:
    """What the agent said in this stretch of the turn; it takes the place of the live message."""
    trigger = f"turn:{turn.pk}:{turn.segment}"
    _owe(turn, Kind.FINAL, words, trigger, now, preview=True, parts=parts)


def _owe(
    turn: Turn,
    kind: Kind,
    content: str,
    trigger: str,
    now: datetime,
    *,
    preview: bool = False,
    parts: tuple[Rendered, ...] | None = None,
) -> None:
    # The chat may have moved meanwhile.
    (here,) = statements.conversation_now(pk=turn.conversation_id)
    ledger.record(
        Debt(
            conversation_key=here.key,
            trigger=trigger,
            address=here.address,
            kind=kind,
            content=content,
            reply_to=turn.reply_to if here.chat_type != "dm" else "",
            preview_key=turn.preview_key if preview else "",
            correlation=turn.correlation,
            parts=parts,
        ),
        now=now,
    )


def renew(owner: str, held: set[int], *, now: datetime) -> set[int]:
    """Hold on to the turns that `owner` really has in hand.

    Args:
        owner: The identity of the calling process.
        held: The ids of the turns it runs at this moment.
        now: The present.

    Returns:
        Those of `held` that are still its own and were not stopped.
    """
    mine = _running().filter(pk__in=held, owner=owner)
    mine.update(lease_expires_at=now + LEASE)
    return set(mine.values_list("pk", flat=True))


def at_work(held: Collection[int]) -> set[int]:
    """Those of `held` that are being carried out or are about to be: not over, and not waiting."""
    busy = [TurnState.QUEUED, TurnState.READY, TurnState.RUNNING]
    return set(Turn.objects.filter(pk__in=held, state__in=busy).values_list("pk", flat=True))


def give_back(turn: Turn, *, now: datetime) -> bool:
    """Lay a running turn down unharmed, for any worker to go on with; nobody died."""
    with transaction.atomic():
        changed = _mine(turn, TurnEvent.GIVE_BACK).update(
            state=TURNS.target(TurnEvent.GIVE_BACK), owner="", woken_at=now, updated_at=now
        )
        if changed:
            queue.wake_turns(turn.conversation_id)
    return bool(changed)


def keep_words(turn: Turn, spoken: str, *, now: datetime) -> None:
    """A turn was stopped while it spoke: what people saw of it can be read later, too."""
    stopped = Turn.objects.filter(pk=turn.pk, epoch=turn.epoch, state=TurnState.STOPPED)
    if spoken and stopped.update(spoken=spoken, updated_at=now):
        hints.conversation_changed(turn.conversation.key)


def reclaim(turn: Turn, *, now: datetime) -> bool:
    """Take back a turn whose worker is gone, so that another goes on with it ([T3]).

    A turn that has killed its worker too often is ended with a notice instead.
    """
    with transaction.atomic():
        changed = _mine(turn, TurnEvent.RECLAIM).update(
            state=TURNS.target(TurnEvent.RECLAIM),
            owner="",
            deaths=F("deaths") + 1,
            woken_at=now,
            updated_at=now,
        )
        if not changed:
            return False
        deaths = turn.deaths + 1
        if deaths < MOST_DEATHS:
            note = "↻ The work was interrupted and goes on now."
            _owe(turn, Kind.NOTICE, note, f"turn:{turn.pk}:resumed:{deaths}", now)
            queue.wake_turns(turn.conversation_id)
        else:
            line = "The work was interrupted too often, so it was given up. Please ask again."
            detail = f"its worker died {deaths} times"
            fail(turn, FailureKind.WORKER_DIED, line, detail, now=now)
    return True


def running(*, limit: int = 1000) -> list[Turn]:
    """The turns that some worker says it runs, the one whose lease ends first in front."""
    return list(_running().select_related("conversation").order_by("lease_expires_at")[:limit])


def wake_overlooked(*, now: datetime, capacity: int) -> int:
    """Wake workers for turns that are due and that nobody seems to be coming for."""
    room = capacity - _running().count()
    if room <= 0:
        return 0
    active = Turn.objects.filter(conversation=OuterRef("conversation"), state__in=ACTIVE_STATES)
    due = Turn.objects.filter(state=TurnState.QUEUED, woken_at__lt=now - OVERLOOKED).filter(
        ~Exists(active)
    )
    ready = Turn.objects.filter(state=TurnState.READY, woken_at__lt=now - OVERLOOKED)
    found = [*ready.order_by("id")[:room], *due.order_by("id")[:room]][:room]
    for conversation_id in {turn.conversation_id for turn in found}:
        queue.send_run_turns(conversation_id)
    Turn.objects.filter(pk__in=[turn.pk for turn in found]).update(woken_at=now)
    return len(found)


def messages_of(turn: Turn) -> QuerySet[InboundEvent]:
    """What the person said that this turn answers."""
    return InboundEvent.objects.filter(turn=turn).order_by("id")
