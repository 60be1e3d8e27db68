"""What the Control UI shows, read from the rows that are there anyway.

A page is kept in step by state, not by messages: it says up to when it has seen everything, and
gets whatever changed since then. Entries carry stable ids, so getting one twice does no harm, and
a lost hint costs nothing but time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from clarify.models import Prompt
from clarify.states import State as PromptState
from delivery.models import Obligation
from gateway.accounts import CONSOLE
from gateway.console import entries
from gateway.console.entries import Entry
from gateway.console.errors import NotFound
from gateway.console.viewers import Viewer
from gateway.models import Conversation, InboundEvent, Session, TranscriptEntry, Turn
from gateway.models.turns import OPEN_STATES
from gateway.states import TurnState

PAGE = 60  # entries on one page
MOST_LISTED = 60  # conversations in the list
MOST_CHANGES = 300  # entries that a page is brought up to date with; with more it begins anew
# A row becomes visible when its transaction ends, later than the instant it carries.
OVERLAP = timedelta(seconds=3)
LONG_OVERLAP = timedelta(seconds=60)
LONGEST_ABSENCE = timedelta(days=1)  # after it a page begins anew


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which conversations to list.

    Attributes:
        search: Words of the title or of an id.
        platform: Only of this platform; empty for all.
    """

    search: str = ""
    platform: str = ""


def find(viewer: Viewer, conversation_id: int) -> Conversation:
    """A conversation that the viewer may see.

    Raises:
        NotFound: There is none, or it is not theirs to see.
    """
    visible = viewer.visible_conversations().select_related("session")
    found = visible.filter(pk=conversation_id).first()
    if found is None:
        raise NotFound("There is no such conversation.")
    return found


def conversations(viewer: Viewer, filters: Filters) -> list[dict[str, Any]]:
    """The conversations that the viewer may see, the one most lately active first."""
    # A chat of somebody else in which nothing was said is of no use to anybody.
    unused = Q(platform=CONSOLE, title="") & ~Q(pk__in=viewer.own_conversations().values("pk"))
    rows = viewer.visible_conversations().exclude(unused)
    if filters.platform:
        rows = rows.filter(platform=filters.platform)
    for word in filters.search.split()[:6]:
        rows = rows.filter(Q(title__icontains=word) | Q(chat_id__icontains=word))
    open_turns = Turn.objects.filter(conversation=OuterRef("pk"), state__in=OPEN_STATES)
    found = list(rows.annotate(is_busy=Exists(open_turns)).order_by("-active_at")[:MOST_LISTED])
    asked = _pending_counts([row.key for row in found])
    return [_listed(row, viewer, asked.get(row.key, 0)) for row in found]


def _pending_counts(keys: Sequence[str]) -> dict[str, int]:
    pending = Prompt.objects.filter(conversation_key__in=keys, state=PromptState.PENDING)
    counted = pending.values("conversation_key").annotate(count=Count("pk")).order_by()
    return {row["conversation_key"]: row["count"] for row in counted}


def _listed(row: Conversation, viewer: Viewer, asked: int) -> dict[str, Any]:
    return {
        **described(row, viewer),
        "active_at": row.active_at.isoformat(),
        "busy": bool(getattr(row, "is_busy", False)),
        "asked": asked,
    }


def described(row: Conversation, viewer: Viewer) -> dict[str, Any]:
    """A conversation in the words of the page's heading."""
    return {
        "id": row.pk,
        "title": row.title,
        "platform": row.platform,
        "account": row.account,
        "chat": row.chat_id,
        "chat_type": row.chat_type,
        "mine": viewer.owns(row),
    }


def platforms(viewer: Viewer) -> list[str]:
    """The platforms of the conversations that the viewer may see."""
    if not viewer.is_staff:
        return []
    names = Conversation.objects.order_by("platform").values_list("platform", flat=True)
    return list(names.distinct())


def page(
    conversation: Conversation, viewer: Viewer, *, before: datetime | None = None
) -> tuple[list[Entry], bool]:
    """The latest entries of a conversation, or those before an instant.

    Args:
        conversation: Which one; the caller has checked that the viewer may see it.
        viewer: Who looks.
        before: Entries up to and including this instant; None for the latest.

    Returns:
        The entries in order, and whether there are earlier ones.
    """
    found: list[Entry] = []
    for rows, at, show in _sources(conversation, viewer):
        wanted = rows if before is None else rows.filter(**{f"{at}__lte": before})
        found += show(wanted.order_by("-pk")[: PAGE + 1])
    found.sort(key=_place)
    has_more = len(found) > PAGE
    kept = found[-PAGE:]
    kept += _remembered(kept)
    kept.sort(key=_place)
    return kept, has_more


def changes(conversation: Conversation, viewer: Viewer, *, since: datetime) -> list[Entry] | None:
    """What became different from `since` on, in order; None if that is too much to tell."""
    found: list[Entry] = []
    for rows, at, show in _sources(conversation, viewer):
        changed = "updated_at" if at in {"created_at", "finished_at"} else at
        found += show(rows.filter(**{f"{changed}__gte": since}).order_by("-pk")[:MOST_CHANGES])
    if len(found) >= MOST_CHANGES:
        return None
    return sorted(found, key=_place)


def _place(entry: Entry) -> tuple[str, int, str]:
    return (entry["at"], entry["rank"], entry["id"])


def _sources(conversation: Conversation, viewer: Viewer) -> list[tuple[Any, str, Any]]:
    """Where entries come from: the rows, the field with their instant, and how they are shown."""
    key = conversation.key
    said = InboundEvent.objects.filter(conversation=conversation, kind="message")
    owed = Obligation.objects.filter(conversation_key=key).exclude(kind__in=entries.HIDDEN)
    stopped = Turn.objects.filter(conversation=conversation, state=TurnState.STOPPED)
    begun = Session.objects.filter(conversation=conversation, number__gt=1)
    return [
        (said, "received_at", lambda rows: [entries.inbound(row, viewer) for row in rows]),
        (owed, "created_at", _owed),
        (
            Prompt.objects.filter(conversation_key=key),
            "created_at",
            lambda rows: [entries.prompt(row) for row in rows],
        ),
        (stopped, "finished_at", lambda rows: [entries.stopped(row) for row in rows]),
        (begun, "started_at", lambda rows: [entries.session(row) for row in rows]),
    ]


def _owed(rows: QuerySet[Obligation]) -> list[Entry]:
    found = rows.prefetch_related("parts")
    return [entries.owed(row, row.parts.all()) for row in found]


def _remembered(shown: Iterable[Entry]) -> list[Entry]:
    """Answers whose delivery the ledger has forgotten by now ([D6]); people still read them."""
    turns = {entry["turn"] for entry in shown if entry["kind"] == "said" and entry["turn"]}
    told = {entry["turn"] for entry in shown if entry["kind"] in {"final", "error"}}
    missing = [pk for pk in turns if str(pk) not in told]
    if not missing:
        return []
    finished = Turn.objects.filter(pk__in=missing, state=TurnState.FINISHED)
    delivered = Obligation.objects.filter(correlation__in=[str(pk) for pk in missing])
    known = set(delivered.values_list("correlation", flat=True))
    old = [turn for turn in finished if str(turn.pk) not in known]
    messages: dict[int, list[dict[str, Any]]] = {turn.pk: [] for turn in old}
    rows = TranscriptEntry.objects.filter(turn__in=list(messages)).order_by("position")
    for turn_id, message in rows.values_list("turn_id", "message"):
        messages[turn_id].append(message)
    found = (entries.remembered(turn, messages[turn.pk]) for turn in old)
    return [entry for entry in found if entry]


def open_turns(conversation: Conversation) -> list[Entry]:
    """The turns that are not over, in their order."""
    rows = Turn.objects.filter(conversation=conversation, state__in=OPEN_STATES)
    return [entries.open_turn(row) for row in rows.order_by("pk")[:50]]


def pending(conversation: Conversation) -> list[Entry]:
    """The questions that are open, oldest first."""
    rows = Prompt.objects.filter(conversation_key=conversation.key, state=PromptState.PENDING)
    return [entries.prompt(row) for row in rows.order_by("pk")[:20]]


def snapshot(
    conversation: Conversation, viewer: Viewer, *, since: datetime | None, now: datetime
) -> dict[str, Any]:
    """Everything a page needs to show a conversation as it is now.

    Args:
        conversation: Which one; the caller has checked that the viewer may see it.
        viewer: Who looks.
        since: Up to when the page has seen everything; None if it has seen nothing.
        now: The present: the page's next `since`.
    """
    # What is open is read first: a turn that ends in between is then told of once more, not never.
    turns, asked = open_turns(conversation), pending(conversation)
    is_lost = since is None or now - since > LONGEST_ABSENCE
    changed = None if since is None or is_lost else changes(conversation, viewer, since=since)
    facts: dict[str, Any] = {
        "conversation": described(conversation, viewer),
        "turns": turns,
        "pending": [entry["id"] for entry in asked],
        "watermark": now.isoformat(),
    }
    if changed is None:
        shown, has_more = page(conversation, viewer)
        facts |= {"reset": True, "more": has_more}
    else:
        shown = changed
    known = {entry["id"] for entry in shown}
    facts["entries"] = shown + [entry for entry in asked if entry["id"] not in known]
    return facts
