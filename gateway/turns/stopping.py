"""Turns that end because somebody asks for it ([T4])."""

from datetime import datetime

from clarify import questions
from clarify.questions import Answerer
from delivery import hints
from gateway import queue, speaking, wording
from gateway.models import Conversation, Turn
from gateway.states import OPEN, TURNS, TurnEvent, TurnState
from gateway.turns import owing

STOPPED = "(This was stopped before it was answered.)"
BARRED = "the person may not speak any more"


def stop(conversation: Conversation, *, by: Answerer, now: datetime) -> list[Turn]:
    """Stop everything open in a conversation, in the caller's transaction.

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
    with speaking.to(turn.conversation.language):
        owing.owe_notice(turn, str(wording.STOPPED_BY_STAFF), "stopped", now=now)
    queue.wake_turns(turn.conversation_id)
    hints.conversation_changed(turn.conversation.key)
    return True


def interrupt(turn: Turn, *, by: Answerer, now: datetime) -> bool:
    """End one turn because its person wants something else instead, in the caller's transaction.

    Returns:
        Whether it was still open.
    """
    if not _stop(turn, by, now):
        return False
    hints.conversation_changed(turn.conversation.key)
    return True


def bar(turn: Turn, why: str, *, now: datetime) -> bool:
    """End a turn whose person may not speak any more, in the caller's transaction ([A8]).

    Nothing is said to them; their questions are withdrawn.

    Args:
        turn: The turn.
        why: For staff.
        now: The present.

    Returns:
        Whether it was still open.
    """
    if not _stop(turn, None, now, reason=BARRED, detail=f"{BARRED}: {why}"):
        return False
    queue.wake_turns(turn.conversation_id)
    hints.conversation_changed(turn.conversation.key)
    return True


def _stop(
    turn: Turn, by: Answerer | None, now: datetime, *, reason: str = "stopped", detail: str = ""
) -> bool:
    # Prompts before turns, as an answer locks them.
    questions.hold(turn.conversation.key)
    stopped = Turn.objects.filter(pk=turn.pk, state__in=TURNS.sources(TurnEvent.STOP)).update(
        state=TURNS.target(TurnEvent.STOP), detail=detail, finished_at=now, updated_at=now
    )
    if stopped:
        questions.cancel_for(turn.correlation, reason=reason, now=now, by=by)
        owing.remember(turn, STOPPED, now=now)
        if turn.state == TurnState.RUNNING:
            owing.tell_stopped(turn)
    return bool(stopped)
