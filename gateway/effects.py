"""The side effects that tools may ask for, carried out in the turn's own thread."""

from typing import Any

from django.utils import timezone

from gateway.agents.requests import Effects
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


EFFECTS = {"note": _note}
