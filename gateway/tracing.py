"""Looks up the whole life of one message, whichever of its ids is known; `explaining` tells it."""

from collections.abc import Callable, Iterable
from datetime import datetime

from django.db.models import Exists, OuterRef, Prefetch, Q, TextField
from django.db.models.functions import Cast

from clarify import listing
from clarify.models import Prompt
from delivery.models import OPEN_STATES, Kind, Obligation, Part, Preview
from gateway import keys, prompting
from gateway.describing import Rows, story
from gateway.errors import NotPossible
from gateway.models import AuditEvent, InboundEvent, Turn
from gateway.states import OPEN, TurnState
from gateway.story import Story

MOST_CANDIDATES = 10
SHORTEST_PREFIX = 6  # characters of a delivery id that name it
EDITS = (Kind.CHANGE, Kind.RETIRE)
HOW_TO_NAME = (
    "Give the id of an event, a message (the platform's), a turn (turn:12), a question (prompt:3),"
    " a delivery (its first 6 characters or more) or a preview (t12.0)."
)

Root = InboundEvent | Turn | Prompt | Obligation


def trace(name: str, *, now: datetime) -> Story:
    """The story of what `name` names.

    Args:
        name: An id of anything, or `kind:id` where a bare one names several things.
        now: The present.

    Raises:
        NotPossible: It names nothing, or several things; the message lists them.
    """
    root = find(name.strip())
    event = root if isinstance(root, InboundEvent) else None
    turn = _turn_of(root)
    prompts = _prompts(turn, root)
    owed = _owed(turn, root, event)
    rows = Rows(
        title=f"{name}: {title(root)}",
        event=event,
        said=_said(turn, prompts, event),
        turn=turn,
        behind=_turn_before(turn),
        prompts=prompts,
        spared=_spared(turn),
        ignored={prompt.pk: _asides(prompt, now) for prompt in prompts},
        owed=owed,
        behind_owed={obligation.pk: _owed_before(obligation) for obligation in owed},
    )
    return story(rows, now=now)


def title(root: Root) -> str:
    """What `root` is, in words."""
    match root:
        case InboundEvent():
            return (
                f"{root.kind} {root.message_id or root.event_id} in {root.platform} {root.chat_id}"
            )
        case Turn():
            return f"turn {root.pk}, {root.state}"
        case Prompt():
            return f"{root.name}, {root.state}"
        case Obligation():
            return f"{root.kind} message {root.delivery_id[:12]}, {root.state}"


# --- From a name to a row ---------------------------------------------------------------------


def find(name: str) -> Root:
    """The row that `name` names.

    Raises:
        NotPossible: It names none, or several.
    """
    kind, separator, rest = name.partition(":")
    named = BY_KIND.get(kind.lower()) if separator else None
    if named is not None:
        return _only(name, list(named(rest.strip())))
    for finders in PREFERENCE:
        found = [root for finder in finders for root in finder(name)]
        if found:
            return _only(name, found)
    message = f"Nothing here is called {name!r}. {HOW_TO_NAME}"
    raise NotPossible(message)


def _only(name: str, found: list[Root]) -> Root:
    unique = {(type(root), root.pk): root for root in found}
    if len(unique) == 1:
        return found[0]
    if not unique:
        message = f"Nothing here is called {name!r}. {HOW_TO_NAME}"
        raise NotPossible(message)
    lines = [f"  {reference(root)}  {title(root)}" for root in list(unique.values())]
    listed = "\n".join(lines[:MOST_CANDIDATES])
    message = f"{name!r} names {len(unique)} things; ask for one of them:\n{listed}"
    raise NotPossible(message)


def reference(root: Root) -> str:
    """How `root` is named without doubt."""
    match root:
        case InboundEvent():
            return f"event:{root.pk}"
        case Turn():
            return f"turn:{root.pk}"
        case Prompt():
            return f"prompt:{root.pk}"
        case Obligation():
            return f"delivery:{root.delivery_id[:12]}"


def _number(text: str) -> int:
    """The row number that `text` is; one that no row has, if it is none."""
    is_number = text.isascii() and text.isdigit() and len(text) < 19
    return int(text) if is_number else -1


def _event_by_row(text: str) -> Iterable[Root]:
    return InboundEvent.objects.filter(pk=_number(text))


def _event_by_id(text: str) -> Iterable[Root]:
    return InboundEvent.objects.filter(event_id=text)[: MOST_CANDIDATES + 1]


def _event_by_message(text: str) -> Iterable[Root]:
    return InboundEvent.objects.filter(message_id=text, kind="message")[: MOST_CANDIDATES + 1]


def _any_event(text: str) -> Iterable[Root]:
    return [*_event_by_row(text), *_event_by_id(text)]


def _any_message(text: str) -> Iterable[Root]:
    return [
        *_event_by_message(text),
        *_obligation_by_message(text),
        *_turn_by_preview_message(text),
    ]


def _turn_by_id(text: str) -> Iterable[Root]:
    return Turn.objects.filter(pk=_number(text))


def _prompt_by_id(text: str) -> Iterable[Root]:
    return Prompt.objects.filter(pk=_number(text))


def _obligation_by_message(text: str) -> Iterable[Root]:
    parts = Part.objects.filter(message_id=text).exclude(message_id="")
    told = Obligation.objects.filter(Exists(parts.filter(obligation=OuterRef("pk"))))
    # What only changes or closes a message has its id, too; who asks means the message.
    sent = told.exclude(kind__in=EDITS)[: MOST_CANDIDATES + 1]
    return sent or told[: MOST_CANDIDATES + 1]


def _obligation_by_prefix(text: str) -> Iterable[Root]:
    if len(text) < SHORTEST_PREFIX:
        return []
    return Obligation.objects.filter(delivery_id__startswith=text.lower())[: MOST_CANDIDATES + 1]


def _turn_by_preview_key(text: str) -> Iterable[Root]:
    number = text.lower().removeprefix("t").partition(".")[0]
    return Turn.objects.filter(pk=_number(number)) if text[:1].lower() == "t" else []


def _turn_by_preview_message(text: str) -> Iterable[Root]:
    quoted = f'"{text}"'
    previews = Preview.objects.annotate(ids=Cast("message_ids", TextField()))
    keys = previews.filter(ids__contains=quoted).values_list("key", flat=True)[:MOST_CANDIDATES]
    return [turn for key in keys for turn in _turn_by_preview_key(key)]


Finder = Callable[[str], Iterable[Root]]
BY_KIND: dict[str, Finder] = {
    "event": _any_event,
    "message": _any_message,
    "turn": _turn_by_id,
    "prompt": _prompt_by_id,
    "approval": _prompt_by_id,
    "question": _prompt_by_id,
    "delivery": _obligation_by_prefix,
    "obligation": _obligation_by_prefix,
    "preview": _turn_by_preview_key,
}
# A bare id is the platform's first: that is what people see; our own row numbers come last.
PREFERENCE: tuple[tuple[Finder, ...], ...] = (
    (_event_by_id, _event_by_message, _obligation_by_message),
    (_turn_by_preview_message,),
    (_obligation_by_prefix, _turn_by_preview_key),
    (_event_by_row,),
)


# --- From a row to what belongs to it -----------------------------------------------------------


def _turn_of(root: Root) -> Turn | None:
    rows = Turn.objects.select_related("conversation", "session").prefetch_related("tool_calls")
    number = _turn_number(root)
    return rows.filter(pk=number).first() if number is not None else None


def _turn_number(root: Root) -> int | None:
    match root:
        case Turn():
            return root.pk
        case Prompt() | Obligation():
            return keys.turn_of(root.correlation)
        case InboundEvent():
            if root.turn_id is not None or root.prompt_id is None:
                return root.turn_id
            prompt = Prompt.objects.filter(pk=root.prompt_id).first()
            return keys.turn_of(prompt.correlation) if prompt else None


def _prompts(turn: Turn | None, root: Root) -> list[Prompt]:
    which = Q(pk=root.pk) if isinstance(root, Prompt) else Q(pk__in=[])
    if turn is not None:
        which |= Q(correlation=turn.correlation)
    prompts = list(listing.with_standing(Prompt.objects.filter(which)).order_by("id"))
    prompting.mark_barred(prompts)
    return prompts


def _spared(turn: Turn | None) -> list[AuditEvent]:
    """The calls of a turn that needed no approval, because a lasting one covers them."""
    if turn is None:
        return []
    used = AuditEvent.objects.filter(
        action="approval.used", actor=f"turn:{turn.pk}", at__gte=turn.created_at
    )
    return list(used.order_by("id")[:100])


def _owed(turn: Turn | None, root: Root, event: InboundEvent | None) -> list[Obligation]:
    which = Q(pk=root.pk) if isinstance(root, Obligation) else Q(pk__in=[])
    if turn is not None:
        which |= Q(correlation=turn.correlation)
    if event is not None and event.chat_id:
        # What was said back at once was recorded in the same transaction, at the same instant.
        which |= Q(account=event.account, chat_id=event.chat_id, created_at=event.received_at)
    parts = Part.objects.order_by("position").prefetch_related("tries")
    rows = Obligation.objects.filter(which).prefetch_related(Prefetch("parts", queryset=parts))
    return list(rows.order_by("id")[:100])


def _said(
    turn: Turn | None, prompts: list[Prompt], event: InboundEvent | None
) -> list[InboundEvent]:
    which = Q(pk=event.pk) if event is not None else Q(pk__in=[])
    which |= Q(prompt_id__in=[prompt.pk for prompt in prompts])
    if turn is not None:
        which |= Q(turn=turn)
    return list(InboundEvent.objects.filter(which).order_by("id")[:100])


def _turn_before(turn: Turn | None) -> Turn | None:
    if turn is None or turn.state != TurnState.QUEUED:
        return None
    earlier = Turn.objects.filter(
        conversation=turn.conversation_id, state__in=sorted(OPEN), pk__lt=turn.pk
    )
    return earlier.order_by("id").first()


def _owed_before(obligation: Obligation) -> Obligation | None:
    if obligation.state not in OPEN_STATES:
        return None
    earlier = Obligation.objects.filter(
        lane=obligation.lane, state__in=OPEN_STATES, pk__lt=obligation.pk
    )
    return earlier.order_by("id").first()


def _asides(prompt: Prompt, now: datetime) -> list[InboundEvent]:
    """What was said in the same chat while a question was open, and not taken as its answer."""
    address = prompt.destination
    during = InboundEvent.objects.filter(
        account=address.account,
        chat_id=address.chat_id,
        kind="message",
        prompt_id=None,
        received_at__gt=prompt.created_at,
        received_at__lte=prompt.resolved_at or now,
    )
    return list(during.order_by("id")[:20])
