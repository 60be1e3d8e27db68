"""The tool calls of turns: begun is written before they run, their result after."""

import hashlib
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from gateway.models import ToolCall, ToolState, Turn
from gateway.turns import claims

LONGEST_CALL_ID = 200  # characters, of the column


def call_key(call_id: str) -> str:
    """How rows name a tool call: by its id, or by what stands for one that no column holds.

    Some servers put a whole signature into it, of thousands of characters.
    """
    if len(call_id) <= LONGEST_CALL_ID and call_id.isprintable():
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()


def begin_tool(
    turn: Turn,
    call_id: str,
    name: str,
    arguments: dict[str, Any],
    *,
    now: datetime,
    waits: Callable[[], bool] = lambda: False,
) -> tuple[ToolCall, bool]:
    """Write down that a tool call begins, before it does.

    Args:
        turn: The turn.
        call_id: The call.
        name: Of the tool.
        arguments: Of the call.
        now: The present.
        waits: Whether it does not run before somebody approves it; asked of a new call only.

    Returns:
        The call, and whether this is the first time that it begins.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    with transaction.atomic():
        claims.hold(turn, now=now)
        begun: dict[str, Any] = {
            "name": name[:100],
            "arguments": arguments,
            "state": lambda: ToolState.WAITING if waits() else ToolState.STARTED,
            "epoch": turn.epoch,
            "started_at": now,
        }
        return ToolCall.objects.get_or_create(turn=turn, call_id=call_key(call_id), defaults=begun)


def run_permitted(turn: Turn, call_id: str, *, now: datetime) -> bool:
    """Write down that an approved call begins, before it does; an approval counts once.

    Returns:
        Whether it may run; False if it has begun before.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    with transaction.atomic():
        claims.hold(turn, now=now)
        permitted = ToolCall.objects.filter(
            turn=turn, call_id=call_key(call_id), state=ToolState.PERMITTED
        )
        return bool(permitted.update(state=ToolState.STARTED, epoch=turn.epoch, started_at=now))


def finish_tool(turn: Turn, call_id: str, result: Any, *, now: datetime) -> None:
    """Store the result of a tool call.

    Raises:
        TurnLost: The turn is not the caller's any more.
    """
    with transaction.atomic():
        claims.hold(turn, now=now)
        ToolCall.objects.filter(turn=turn, call_id=call_key(call_id)).update(
            state=ToolState.DONE, result={"value": result}, finished_at=now
        )


def failed_in_a_row(turn: Turn, name: str, **arguments: str) -> int:
    """How often the calls of a tool in this turn failed since one last did not.

    Args:
        turn: The turn.
        name: Of the tool.
        arguments: Only calls with these count.
    """
    calls = ToolCall.objects.filter(turn=turn, name=name, state=ToolState.DONE)
    count = 0
    for given, result in calls.order_by("-pk").values_list("arguments", "result"):
        if arguments.items() <= given.items():
            value = (result or {}).get("value")
            if not (isinstance(value, dict) and "error" in value):
                break
            count += 1
    return count


def forget_tool(turn: Turn, call_id: str) -> None:
    """The call was refused before it began: a corrected one may use the same id."""
    ToolCall.objects.filter(turn=turn, call_id=call_key(call_id), state=ToolState.STARTED).delete()


def let_wait(turn: Turn, keys: Collection[str]) -> None:
    """The calls under `keys` wait for a person, unless they have their result already."""
    calls = ToolCall.objects.filter(turn=turn, call_id__in=keys).exclude(state=ToolState.DONE)
    calls.update(state=ToolState.WAITING)


def answer(turn_id: int, key: str, result: Any, *, now: datetime) -> None:
    """The call under `key` has what it waited for."""
    calls = ToolCall.objects.filter(turn=turn_id, call_id=key, state=ToolState.WAITING)
    calls.update(state=ToolState.DONE, result={"value": result}, finished_at=now)


def permit(turn_id: int, key: str) -> None:
    """The call under `key` was approved: it runs when the turn goes on."""
    calls = ToolCall.objects.filter(turn=turn_id, call_id=key, state=ToolState.WAITING)
    calls.update(state=ToolState.PERMITTED)


def some_wait() -> Exists:
    """Of a row of turns: whether any of its calls waits for a person."""
    return Exists(ToolCall.objects.filter(turn=OuterRef("pk"), state=ToolState.WAITING))
