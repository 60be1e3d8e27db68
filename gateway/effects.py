"""The side effects that tools may ask for, carried out in the turn's own thread."""

from typing import Any

from django.utils import timezone

from gateway.agents.requests import Effects
from gateway.media import leaving
from gateway.media.rooms import NotSendable
from gateway.models import Note, Turn


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


EFFECTS = {"note": _note, "send_file": _send_file}
