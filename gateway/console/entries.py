"""Rows as the entries of a timeline: plain values with ids that never change.

An entry is a dict with `id`, `kind`, `at` and `rank` (its place among entries of the same instant);
the rest depends on the kind. Only `html` may be put into a page as it is: it is sanitised here.
"""

import functools
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from clarify import questions
from clarify.approvals import Ruling
from clarify.models import Prompt
from clarify.states import State as PromptState
from delivery.markdown import parse
from delivery.models import Kind, Obligation, Part
from delivery.states import PartState, State
from gateway.accounts import CONSOLE
from gateway.agents import history
from gateway.console.viewers import Viewer
from gateway.models import Decision, InboundEvent, Session, Turn
from gateway.platforms.console.formatting import html_of

Entry = dict[str, Any]

HIDDEN = (Kind.PROMPT, Kind.APPROVAL, Kind.CHANGE, Kind.RETIRE)  # the prompt itself is the entry
LONGEST_LIVE = 100_000  # characters of a live text that are rendered


@functools.lru_cache(maxsize=64)
def html(markdown: str) -> str:
    """Markdown as HTML that is safe in the page; remembered, as several pages ask for the same."""
    return html_of(parse(markdown))


def inbound(event: InboundEvent, viewer: Viewer) -> Entry:
    """What a person said."""
    is_mine = event.platform == CONSOLE and event.sender_id == viewer.person_id
    return {
        "id": f"in:{event.pk}",
        "kind": "said",
        "at": instant(event.received_at),
        "rank": 0,
        "text": event.text,
        "who": "" if is_mine else (event.sender_name or event.sender_id),
        "mine": is_mine,
        "client_id": event.message_id if is_mine else "",
        "decision": event.decision,
        "reason": event.reason if _is_puzzling(event) else "",
        "turn": event.turn_id,
        "files": [str(file.get("name") or file.get("kind", "")) for file in event.attachments],
    }


def _is_puzzling(event: InboundEvent) -> bool:
    return event.decision in {Decision.DENIED, Decision.IGNORED, Decision.POISON}


def owed(obligation: Obligation, parts: Iterable[Part]) -> Entry:
    """What is owed to the conversation, and how far it has come."""
    parts = list(parts)
    written = [part.body.get("format", {}).get("html", "") for part in parts]
    is_ours = obligation.platform == CONSOLE and all(written)
    return {
        "id": f"ob:{obligation.pk}",
        "kind": obligation.kind,
        "at": instant(obligation.created_at),
        "rank": 1,
        "html": "".join(written) if is_ours else html(obligation.content),
        "source": obligation.content,
        "preview": obligation.preview_key,
        "turn": obligation.correlation,
        "tick": tick(obligation, parts),
        "note": obligation.reason or obligation.last_error,
        "next_at": instant(obligation.next_attempt_at),
    }


def tick(obligation: Obligation, parts: Iterable[Part]) -> str:
    """How far a message has come, in one word."""
    if obligation.state == State.ABANDONED:
        return "abandoned"
    if obligation.state == State.DELIVERED:
        return "recovered" if obligation.recoveries else "delivered"
    if obligation.state == State.FAILED:
        return "retrying"
    tried = any(part.state != PartState.PENDING for part in parts)
    return "sent" if tried else "recorded"


def prompt(row: Prompt, viewer: Viewer) -> Entry:
    """A question or an approval, open or closed; staff read which of them closed it for others."""
    hides_staff = row.resolved_by_staff and not viewer.is_staff
    asked = [
        {**question.as_dict(), "html": html(question.text)}
        for question in row.question_set.questions
    ]
    return {
        "id": f"prompt:{row.pk}",
        "kind": "prompt",
        "prompt": row.pk,
        "at": instant(row.created_at),
        "rank": 2,
        "state": row.state,
        "face": row.kind,
        "questions": asked,
        "answers": {} if row.is_approval else row.answers,
        "asked": row.asker_name or row.asker_id,
        "mine": row.asker_id == viewer.person_id and row.destination.platform == CONSOLE,
        "expires_at": instant(row.expires_at),
        "by": row.closed_by if hides_staff else row.resolved_by,
        "on": "" if hides_staff else row.resolved_on,
        "ended_at": instant(row.resolved_at) if row.resolved_at else "",
        "open": row.state == PromptState.PENDING,
        **(_approval(row, viewer) if row.is_approval else {}),
    }


def _approval(row: Prompt, viewer: Viewer) -> dict[str, Any]:
    """What is to be approved, in full, and what was decided."""
    operation = row.what
    is_ruled = row.state == PromptState.ANSWERED
    return {
        "operation": {
            "tool": operation.tool,
            "summary": operation.summary,
            "detail": operation.detail,
            "level": operation.level.value,
            "covers": operation.covers,
            "lasts": [[reach.value, seconds] for reach, seconds in operation.lasts.items()],
        },
        "refusal": "" if questions.may_allow(row, viewer.answerer) else refusal(viewer),
        "ruling": vars(Ruling.from_answers(row.answers)) if is_ruled else None,
    }


def refusal(viewer: Viewer) -> str:
    """Why somebody cannot approve an operation, and who can let them."""
    if viewer.is_staff:
        return _(
            "You may deny this, not approve it. A superuser can let you: the permission is called"
            " “Can approve operations of any risk”."
        )
    return _("You may deny this, not approve it. Staff who may approve operations can.")


def cut(turn: Turn) -> Entry:
    """What a turn that was stopped had said by then; a page that saw more of it keeps that."""
    return {
        "id": f"cut:{turn.pk}",
        "kind": "cut",
        "at": instant(turn.started_at or turn.created_at),
        "rank": 1,
        "turn": turn.pk,
        "preview": turn.preview_key,
        "html": html(turn.spoken[:LONGEST_LIVE]) if turn.spoken else "",
    }


def stopped(turn: Turn) -> Entry:
    """A turn that was stopped."""
    return {
        "id": f"turn:{turn.pk}",
        "kind": "stopped",
        "at": instant(turn.finished_at or turn.updated_at),
        "rank": 3,
        "turn": turn.pk,
    }


def session(row: Session) -> Entry:
    """Where a new session begins."""
    return {
        "id": f"session:{row.pk}",
        "kind": "session",
        "at": instant(row.started_at),
        "rank": 0,
        "number": row.number,
    }


def remembered(turn: Turn, messages: list[dict[str, Any]]) -> Entry | None:
    """The answer of an old turn, from its transcript: its delivery is no longer in the ledger."""
    text = "\n\n".join(said for message in messages if (said := history.last_text([message])))
    if not text:
        return None
    return {
        "id": f"told:{turn.pk}",
        "kind": "final",
        "at": instant(turn.finished_at or turn.updated_at),
        "rank": 1,
        "html": html(text),
        "source": text,
        "preview": "",
        "turn": str(turn.pk),
        "tick": "",
        "note": "",
        "next_at": "",
    }


def open_turn(turn: Turn) -> Entry:
    """A turn that is not over: not part of the timeline, but of what the page shows below it."""
    return {
        "turn": turn.pk,
        "state": turn.state,
        "key": turn.preview_key,
        "since": instant(turn.started_at or turn.created_at),
        "html": html(turn.spoken[:LONGEST_LIVE]) if turn.spoken else "",
    }


def instant(at: datetime) -> str:
    """An instant as pages know it: to the millisecond."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
