"""The side effects that tools may ask for, carried out in the turn's own thread."""

from typing import Any

from django.utils import timezone

from gateway import turns
from gateway.agents.requests import Effects
from gateway.errors import BadSchedule, NotPossible
from gateway.media import leaving
from gateway.media.rooms import NotSendable
from gateway.models import Note, Turn
from gateway.schedules import ordering, targets

MOST_FAILURES = 3  # of the same call, before the model is told to let it be
HOPELESS = (
    "permanent_failure: {name} was refused "
    + str(MOST_FAILURES)
    + " times in this turn. Do not try it again; tell the person what could not be sent."
)


def of(turn: Turn) -> Effects:
    """What tools of `turn` may have done."""

    def carry_out(name: str, payload: dict[str, Any]) -> Any:
        return EFFECTS[name](turn, payload)

    return carry_out


def _note(turn: Turn, payload: dict[str, Any]) -> str:
    note = Note.objects.create(
        conversation_id=turn.conversation_id,
        turn=turn,
        text=str(payload["text"]),
        created_at=timezone.now(),
    )
    return f"Noted as number {note.pk}."


def _send_file(turn: Turn, payload: dict[str, Any]) -> dict[str, str]:
    request = leaving.Request(
        path=str(payload["path"]),
        caption=str(payload["caption"]),
        as_voice=bool(payload["as_voice"]),
        call_id=str(payload["call_id"]),
    )
    try:
        return {"sent": leaving.send(turn, request, now=timezone.now())}
    except NotSendable as error:
        return {"error": str(error)}


def _send_message(turn: Turn, payload: dict[str, Any]) -> dict[str, str]:
    name = str(payload["target"])
    if turns.failed_in_a_row(turn, "send_message", target=name) >= MOST_FAILURES:
        return {"error": HOPELESS.format(name=name)}
    try:
        owed = targets.send(
            turn,
            target=name,
            text=str(payload["text"]),
            call_id=str(payload["call_id"]),
            now=timezone.now(),
        )
    except NotPossible as error:
        return {"error": str(error)}
    return {"owed": f"It is on its way to {name} (delivery {owed.delivery_id[:12]})."}


def _schedule(turn: Turn, payload: dict[str, Any]) -> Any:
    try:
        return ordering.carry_out(turn, payload, now=timezone.now())
    except (NotPossible, BadSchedule) as error:
        return {"error": str(error)}


EFFECTS = {
    "note": _note,
    "send_file": _send_file,
    "send_message": _send_message,
    "schedule": _schedule,
}
