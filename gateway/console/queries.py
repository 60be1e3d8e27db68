"""What the Control UI shows, read from the rows that are there anyway.

A page is kept in step by state, not by messages: it says up to when it has seen everything, and
gets whatever changed since then. Entries carry stable ids, so getting one twice does no harm, and
a lost hint costs nothing but time.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from clarify.models import Prompt
from clarify.states import State as PromptState
from delivery.models import Kind, Obligation
from gateway.accounts import CONSOLE
from gateway.console import entries
from gateway.console.entries import Entry
from gateway.console.errors import NotFound
from gateway.console.viewers import Viewer
from gateway.models import Conversation, InboundEvent, Session, TranscriptEntry, Turn
from gateway.models.turns import OPEN_STATES
from gateway.states import TurnState

PAGE = 60  # entries on one page
# Characters of the entries in one message: with any script it stays below the megabyte that servers
# and proxies let a WebSocket message have. One entry alone may be larger.
LARGEST_PORTION = 300_000
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
        raise NotFound(_("There is no such conversation."))
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
    keys = [row.key for row in found]
    asked, owed = _pending_counts(keys), _last_owed(keys)
    for row in found:
        row.active_at = max(row.active_at, owed.get(row.key, row.active_at))
    found.sort(key=lambda row: row.active_at, reverse=True)
    return [_listed(row, viewer, asked.get(row.key, 0)) for row in found]


def _last_owed(keys: Sequence[str]) -> dict[str, datetime]:
    """When something was last said to each of these conversations, as far as the ledger goes."""
    owed = Obligation.objects.filter(conversation_key__in=keys).exclude(
        kind__in=[Kind.CHANGE, Kind.RETIRE]
    )
    last = owed.values("conversation_key").annotate(at=Max("created_at")).order_by()
    return {row["conversation_key"]: row["at"] for row in last}


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
    for source in _sources(conversation, viewer):
        earlier = {} if before is None else {f"{source.at}__lte": before}
        found += source.show(source.rows.filter(**earlier).order_by("-pk")[: PAGE + 1])
    found.sort(key=_place)
    has_more = len(found) > PAGE
    kept = found[-PAGE:]
    kept += _remembered(kept)
    kept.sort(key=_place)
    return kept, has_more


def portions(found: Sequence[Entry]) -> list[list[Entry]]:
    """`found`, in order, in runs that each fit one message; at least one run, be it empty."""
    runs: list[list[Entry]] = [[]]
    room = LARGEST_PORTION
    for entry in found:
        size = len(repr(entry))
        if runs[-1] and size > room:
            runs.append([])
            room = LARGEST_PORTION
        runs[-1].append(entry)
        room -= size
    return runs


def is_of(entry: Entry, at: datetime | None) -> bool:
    """Whether an entry is of that very instant, as precisely as pages know it."""
    return at is not None and entry["at"] == entries.instant(at)


def changes(conversation: Conversation, viewer: Viewer, *, since: datetime) -> list[Entry] | None:
    """What became different from `since` on, in order; None if that is too much to tell."""
    found: list[Entry] = []
    for source in _sources(conversation, viewer):
        changed = source.rows.filter(**{f"{source.changed}__gte": since})
        found += source.show(changed.order_by("-pk")[:MOST_CHANGES])
    if len(found) >= MOST_CHANGES:
        return None
    return sorted(found, key=_place)


def _place(entry: Entry) -> tuple[str, int, str]:
    return (entry["at"], entry["rank"], entry["id"])


@dataclass(frozen=True)
class _Source:
    """Where entries come from.

    Attributes:
        rows: What is shown.
        at: The field with the instant of a row.
        changed: The field with the instant of its last change.
        show: Makes entries of rows.
    """

    rows: QuerySet[Any]
    at: str
    changed: str
    show: Callable[[QuerySet[Any]], list[Entry]]


def _sources(conversation: Conversation, viewer: Viewer) -> list[_Source]:
    key = conversation.key
    said = InboundEvent.objects.filter(conversation=conversation, kind="message")
    owed = Obligation.objects.filter(conversation_key=key).exclude(kind__in=entries.HIDDEN)
    asked = Prompt.objects.filter(conversation_key=key)
    stopped = Turn.objects.filter(conversation=conversation, state=TurnState.STOPPED)
    begun = Session.objects.filter(conversation=conversation, number__gt=1)

    def each(show: Callable[..., Entry], *more: Any) -> Callable[[QuerySet[Any]], list[Entry]]:
        return lambda rows: [show(row, *more) for row in rows]

    return [
        _Source(said, "received_at", "received_at", each(entries.inbound, viewer)),
        _Source(owed, "created_at", "updated_at", _owed),
        _Source(asked, "created_at", "updated_at", each(entries.prompt, viewer)),
        _Source(stopped.exclude(started_at=None), "started_at", "updated_at", each(entries.cut)),
        _Source(_untold(stopped, conversation), "finished_at", "updated_at", each(entries.stopped)),
        _Source(begun, "started_at", "started_at", each(entries.session)),
    ]


def _untold(stopped: QuerySet[Turn], conversation: Conversation) -> QuerySet[Turn]:
    """Of the turns that were stopped, those whose stop nothing else in the timeline tells.

    Of several stopped by one act the first tells it, and none if that act was answered in words,
    as `/stop` is. `/new` is answered too, but its words do not say that anything was stopped.
    """
    at = OuterRef("finished_at")
    told = Obligation.objects.filter(
        conversation_key=conversation.key, kind__in=(Kind.CONTROL, Kind.NOTICE), created_at=at
    )
    begun = Session.objects.filter(conversation=conversation, started_at=at)
    first = Turn.objects.filter(
        conversation=conversation,
        state=TurnState.STOPPED,
        finished_at=at,
        pk__lt=OuterRef("pk"),
    )
    return stopped.filter(~Exists(told) | Exists(begun)).filter(~Exists(first))


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


def pending(conversation: Conversation, viewer: Viewer) -> list[Entry]:
    """The questions that are open, oldest first."""
    rows = Prompt.objects.filter(conversation_key=conversation.key, state=PromptState.PENDING)
    return [entries.prompt(row, viewer) for row in rows.order_by("pk")[:20]]


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
    turns, asked = open_turns(conversation), pending(conversation, viewer)
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
