"""What this app lets go of in time ([O2]): the only place where its rows are deleted by age.

A session goes when its turns are gone, a conversation when its turns are; so a rule need not look
through what hangs on a row that hangs on another.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session as LoginSession
from django.db.models import Exists, OuterRef, QuerySet

from clarify.models import Permit, Prompt
from clarify.states import State as PromptState
from delivery.forgetting import BATCHES, Rule, forget, register_need, registered_rules
from delivery.models import Obligation
from delivery.states import OPEN as OWED
from gateway import keys
from gateway.conf import RetentionSettings, gateway_settings
from gateway.models import (
    AuditEvent,
    Conversation,
    InboundEvent,
    MediaFile,
    MediaState,
    Note,
    ProcessBeat,
    Session,
    ToolCall,
    TranscriptEntry,
    Turn,
    Upload,
)
from gateway.models.turns import OPEN_STATES as OPEN_TURNS

SEEN_LATELY = timedelta(hours=1)  # a process that was not is of no interest any more
UPLOADS_KNOWN = timedelta(days=30)  # platforms forget files themselves


def _keep() -> RetentionSettings:
    return gateway_settings().retention


# --- What may go ----------------------------------------------------------------------------------


def _events(now: datetime) -> QuerySet[InboundEvent]:
    old = InboundEvent.objects.filter(received_at__lt=now - _keep().events)
    return old.exclude(decision="")


def _turns(now: datetime) -> QuerySet[Turn]:
    return Turn.objects.filter(updated_at__lt=now - _keep().turns).exclude(state__in=OPEN_TURNS)


def _sessions(now: datetime) -> QuerySet[Session]:
    current = Conversation.objects.filter(session=OuterRef("pk"))
    return Session.objects.filter(~Exists(current), ended_at__lt=now - _keep().sessions)


def _conversations(now: datetime) -> QuerySet[Conversation]:
    keep = _keep().conversations
    if keep is None:
        return Conversation.objects.none()
    return Conversation.objects.filter(active_at__lt=now - keep)


def _audit(now: datetime) -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(at__lt=now - _keep().audit)


def _admin_log(now: datetime) -> QuerySet[LogEntry]:
    return LogEntry.objects.filter(action_time__lt=now - _keep().audit)


def _files(now: datetime) -> QuerySet[MediaFile]:
    settled = MediaFile.objects.exclude(state=MediaState.KEPT).exclude(state=MediaState.WANTED)
    return settled.filter(expires_at__lt=now - _keep().files)


def _uploads(now: datetime) -> QuerySet[Upload]:
    return Upload.objects.filter(uploaded_at__lt=now - UPLOADS_KNOWN)


def _processes(now: datetime) -> QuerySet[ProcessBeat]:
    return ProcessBeat.objects.filter(seen_at__lt=now - SEEN_LATELY)


def _logins(now: datetime) -> QuerySet[LoginSession]:
    return LoginSession.objects.filter(expire_date__lt=now)


TURNS = Rule(what="turns", model=Turn, past=_turns, by="updated_at", along=frozenset({ToolCall}))
EVENTS = Rule(
    what="incoming events",
    model=InboundEvent,
    past=_events,
    by="received_at",
    reads=("turn", "prompt_id"),
)
SESSIONS = Rule(
    what="sessions",
    model=Session,
    past=_sessions,
    by="ended_at",
    along=frozenset({TranscriptEntry}),
    after=frozenset({Turn}),
    batch=50,
)
CONVERSATIONS = Rule(
    what="conversations",
    model=Conversation,
    past=_conversations,
    by="active_at",
    reads=("key",),
    along=frozenset({Session, TranscriptEntry, Note}),
    after=frozenset({Turn}),
    batch=50,
)
# In this order: what hangs on a row goes before it.
RULES = (
    EVENTS,
    TURNS,
    SESSIONS,
    CONVERSATIONS,
    Rule(what="audit entries", model=AuditEvent, past=_audit, by="at", batch=1000),
    Rule(what="entries of the admin's log", model=LogEntry, past=_admin_log, by="action_time"),
    Rule(what="files", model=MediaFile, past=_files, by="expires_at", reads=("turn",)),
    Rule(what="uploads", model=Upload, past=_uploads, by="uploaded_at"),
    Rule(what="processes", model=ProcessBeat, past=_processes, by="seen_at"),
    Rule(what="logins", model=LoginSession, past=_logins, by="expire_date", batch=1000),
)


def run(*, now: datetime, batches: int = BATCHES) -> dict[str, int]:
    """Let go of what was kept long enough.

    Args:
        now: The present.
        batches: How many small transactions each table may take.

    Returns:
        How many rows of each kind went, by what they are called; an empty table is left out.
    """
    rules = (*registered_rules(), *RULES)
    gone = {rule.what: forget(rule, now=now, batches=batches) for rule in rules}
    return {what: count for what, count in gone.items() if count}


# --- What is still needed -------------------------------------------------------------------------


def open_turns(numbers: Iterable[int | None]) -> set[int]:
    """Those of some turns that are not over."""
    wanted = {number for number in numbers if number is not None}
    rows = Turn.objects.filter(pk__in=wanted, state__in=OPEN_TURNS)
    return set(rows.values_list("pk", flat=True))


def owing_turns(numbers: Iterable[int | None]) -> set[int]:
    """Those of some turns of which something is owed, or asked and not answered."""
    names = [keys.correlation_of(number) for number in numbers if number is not None]
    owed = Obligation.objects.filter(correlation__in=names, state__in=OWED)
    asked = Prompt.objects.filter(correlation__in=names, state=PromptState.PENDING)
    found = {
        *owed.values_list("correlation", flat=True),
        *asked.values_list("correlation", flat=True),
    }
    return {number for name in found if (number := keys.turn_of(name)) is not None}


def _of_open_turns(rows: Sequence[Obligation] | Sequence[Prompt], now: datetime) -> Iterable[int]:
    """Those of `rows` that belong to a turn that is not over."""
    del now
    turns = {row.pk: keys.turn_of(row.correlation) for row in rows}
    running = open_turns(turns.values())
    return [pk for pk, turn in turns.items() if turn in running]


def _owing(rows: Sequence[Turn], now: datetime) -> Iterable[int]:
    del now
    return owing_turns(row.pk for row in rows)


def _in_use(rows: Sequence[InboundEvent], now: datetime) -> Iterable[int]:
    """Those of `rows` that a turn or a question still works on."""
    del now
    turns = {row.turn_id for row in rows}
    needed = open_turns(turns) | owing_turns(turns)
    asked = Prompt.objects.filter(
        pk__in=[row.prompt_id for row in rows if row.prompt_id], state=PromptState.PENDING
    )
    prompts = set(asked.values_list("pk", flat=True))
    return [row.pk for row in rows if row.turn_id in needed or row.prompt_id in prompts]


def _of_turns_in_use(rows: Sequence[MediaFile], now: datetime) -> Iterable[int]:
    del now
    needed = open_turns({row.turn_id for row in rows})
    return [row.pk for row in rows if row.turn_id in needed]


def _alive(rows: Sequence[Conversation], now: datetime) -> Iterable[int]:
    """Those of `rows` in which something is owed or asked, or for which an approval lasts."""
    named = {row.key: row.pk for row in rows}
    there = {"conversation_key__in": list(named)}
    found = {
        *Obligation.objects.filter(**there, state__in=OWED).values_list("conversation_key"),
        *Prompt.objects.filter(**there, state=PromptState.PENDING).values_list("conversation_key"),
        *Permit.objects.filter(**there, expires_at__gt=now, revoked_at=None).values_list(
            "conversation_key"
        ),
    }
    return [named[key] for (key,) in found]


def register_needs() -> None:
    """Say what of the tables below and of our own is still needed."""
    register_need(Obligation, _of_open_turns)
    register_need(Prompt, _of_open_turns)
    register_need(Turn, _owing)
    register_need(InboundEvent, _in_use)
    register_need(MediaFile, _of_turns_in_use)
    register_need(Conversation, _alive)
