"""Conversations and sessions: who talks where, and which run of history it is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Max, OuterRef, Q, Subquery
from django.utils import timezone

from clarify import questions
from delivery import ledger
from gateway import access, chats, statements
from gateway.agents.history import SCHEMA_VERSION, first_words
from gateway.commissions import Commission
from gateway.identity import standing
from gateway.keys import KeyFields, Sharing, fields_of, from_key, to_key
from gateway.messages import ChatType, Source
from gateway.models import Conversation, Session, TranscriptEntry, Turn
from gateway.resets import EndReason, over_by
from gateway.rules import Reset, Rules

STIRRED = timedelta(seconds=20)  # how exact `active_at` is; it only orders lists


def find_or_open(fields: KeyFields, *, title: str, now: datetime) -> Conversation:
    """The conversation under a key, with a current session; made if there is none.

    Args:
        fields: What the key says.
        title: What to call it if it is new.
        now: The present.
    """
    found = statements.conversations(key=to_key(fields))
    conversation = found[0] if found else _open(fields, title, now)
    if now - conversation.active_at > STIRRED:
        stir(conversation, now=now)
    if conversation.session is None:
        _open_session(conversation, now)
    return conversation


def _open(fields: KeyFields, title: str, now: datetime) -> Conversation:
    conversation, _ = Conversation.objects.select_related("session").get_or_create(
        key=to_key(fields), defaults=_columns(fields, title, now)
    )
    return conversation


def open_new(fields: KeyFields, told: Commission, *, title: str, now: datetime) -> Conversation:
    """A conversation in which nobody sits and of which nobody has heard before.

    There may be hundreds of them a second, so nothing is looked up.

    Args:
        fields: What its key says.
        told: Whom its work is done for.
        title: What to call it.
        now: The present.

    Raises:
        IntegrityError: There is one under that key.
    """
    facts = {"commission": told.as_dict(), **_columns(fields, title, now)}
    conversation = Conversation(key=to_key(fields), **facts)
    statements.insert_conversation.one(conversation)
    session = Session(conversation=conversation, number=1, started_at=now)
    statements.insert_session.one(session)
    statements.begin_with(pk=conversation.pk, session=session.pk)
    conversation.session = session
    return conversation


def _columns(fields: KeyFields, title: str, now: datetime) -> dict[str, Any]:
    return {
        "platform": fields.platform,
        "account": fields.account,
        "scope_id": fields.scope_id,
        "chat_type": fields.chat_type,
        "chat_id": fields.chat_id,
        "thread_id": fields.thread_id,
        "participant_id": fields.participant_id,
        "title": title[:200],
        "created_at": now,
        "active_at": now,
    }


def entitle(conversation: Conversation, title: str) -> None:
    """Call a conversation `title`, unless it has a name already."""
    Conversation.objects.filter(pk=conversation.pk, title="").update(title=title[:200])


def commission(conversation: Conversation, told: Commission, *, title: str, language: str) -> None:
    """Say whom the work in a conversation is done for in which nobody sits."""
    facts = {"commission": told.as_dict(), "title": title[:200], "language": language}
    Conversation.objects.filter(pk=conversation.pk).update(**facts)
    for name, value in facts.items():
        setattr(conversation, name, value)


def use_model(conversation: Conversation, model: str) -> None:
    """Let the turns of the current session be done by a model; empty for the configured one."""
    if conversation.session is not None:
        Session.objects.filter(pk=conversation.session.pk).update(model=model)


def stir(conversation: Conversation, *, now: datetime) -> None:
    """Let a conversation come first in lists: something happens in it now."""
    Conversation.objects.filter(pk=conversation.pk).update(active_at=now)


def learn(conversation: Conversation, source: Source, language: str) -> None:
    """Keep what a message tells about its place: the chat it inherits from, and the language."""
    known = {"parent_chat_id": source.parent_chat_id[:255], "language": language}
    news = {name: value for name, value in known.items() if value}
    changed = {name: value for name, value in news.items() if getattr(conversation, name) != value}
    if changed:
        Conversation.objects.filter(pk=conversation.pk).update(**changed)
        for name, value in changed.items():
            setattr(conversation, name, value)


def renew_if_over(conversation: Conversation, rules: Rules, *, now: datetime) -> EndReason | None:
    """Begin another session if the current one is suspended, or over by what is set ([S4]).

    Only where nothing is open: what runs or waits belongs to its session and ends first.

    Returns:
        Why another one was begun; None if it goes on.
    """
    session = conversation.session
    if session is None:
        return None
    reason = EndReason.SUSPENDED if session.suspended_at else _over_by(session, rules, now)
    if reason is not None:
        start_afresh(conversation, reason=reason, now=now)
    return reason


def _over_by(session: Session, rules: Rules, now: datetime) -> EndReason | None:
    if rules.reset in {None, Reset.NONE}:
        return None
    last_turn = Turn.objects.filter(session=session).aggregate(last=Max("updated_at"))["last"]
    if last_turn is None:
        return None
    last_word = max(last_turn, session.resumed_at or last_turn)
    zone = timezone.get_default_timezone()
    return over_by(rules, last_word=last_word, now=now, zone=ZoneInfo(str(zone)))


def suspend(session: Session, *, by: str, now: datetime) -> bool:
    """Let the next message begin another session; the history is kept ([S4]).

    Returns:
        Whether it is news.
    """
    open_one = Session.objects.filter(pk=session.pk, ended_at=None, suspended_at=None)
    return bool(open_one.update(suspended_at=now, suspended_by=by[:255]))


def start_afresh(conversation: Conversation, *, reason: str, now: datetime) -> Session:
    """End the current session and begin another; the old history is kept."""
    if conversation.session is not None:
        _end(conversation.session, reason, now)
    return _open_session(conversation, now)


def _end(session: Session, reason: str, now: datetime) -> None:
    open_one = Session.objects.filter(pk=session.pk, ended_at=None)
    open_one.update(ended_at=now, end_reason=reason)


def _open_session(conversation: Conversation, now: datetime) -> Session:
    last = conversation.sessions.aggregate(last=Max("number"))["last"] or 0
    session = Session.objects.create(conversation=conversation, number=last + 1, started_at=now)
    conversation.session = session
    conversation.save(update_fields=["session"])
    return session


def go_together(
    conversation: Conversation, source: Source, *, is_linked: bool, now: datetime
) -> None:
    """Let the private chats of one person go on with one history, if their link says so ([A5]).

    The newest session that has not ended is that of all; each chat takes it up when something is
    said there. When the link does not say so any more, each goes on with the newest of its own.
    """
    current = conversation.session
    is_own = current is None or current.conversation_id == conversation.pk
    if is_own and not is_linked:
        return
    partners = standing.sharing_with(source) if is_linked else []
    if is_own and not partners:
        return
    keys = [to_key(fields_of(partner, Sharing())) for partner in partners]
    chats = Q(conversation=conversation) | Q(conversation__key__in=keys)
    newest = Session.objects.filter(chats, ended_at=None).order_by("-pk").first()
    if newest is None:
        _open_session(conversation, now)
    elif newest.pk != conversation.session_id:
        conversation.session = newest
        conversation.save(update_fields=["session"])


def history(turn: Turn) -> tuple[list[dict[str, Any]], bool]:
    """The model messages of a turn's session in order, and whether any is the turn's own."""
    rows = statements.transcript(session=turn.session_id)
    return [message for message, _ in rows], any(turn_id == turn.pk for _, turn_id in rows)


def append(turn: Turn, messages: Sequence[dict[str, Any]], *, now: datetime) -> None:
    """Add model messages to the end of the turn's session, in the caller's transaction."""
    if not messages:
        return
    last = statements.last_position(session=turn.session_id)
    start = last[0][0] + 1 if last else 0
    statements.insert_entries.many(
        TranscriptEntry(
            session_id=turn.session_id,
            position=start + offset,
            turn=turn,
            message=message,
            schema=SCHEMA_VERSION,
            created_at=now,
        )
        for offset, message in enumerate(messages)
    )


@transaction.atomic
def move_chat(
    platform: str, account: str, old_chat_id: str, new_chat_id: str, *, now: datetime
) -> int:
    """Let every conversation of a chat live on under the chat's new id; how many did.

    Open questions, what is owed and who is allowed there move along. A conversation whose new key
    is taken already stays where it is.
    """
    moved = 0
    for conversation in Conversation.objects.filter(account=account, chat_id=old_chat_id):
        fields = replace(from_key(conversation.key), chat_id=new_chat_id)
        if Conversation.objects.filter(key=to_key(fields)).exists():
            continue
        Conversation.objects.filter(pk=conversation.pk).update(
            key=to_key(fields), chat_id=new_chat_id
        )
        questions.rename(conversation.key, to_key(fields), new_chat_id, now=now)
        ledger.rename(conversation.key, to_key(fields))
        moved += 1
    for commissioned in Conversation.objects.exclude(commission=None):
        told = commissioned.commissioned.moved(account, old_chat_id, new_chat_id)
        if told != commissioned.commissioned:
            Conversation.objects.filter(pk=commissioned.pk).update(commission=told.as_dict())
    ledger.move_chat(account, old_chat_id, new_chat_id, now=now)
    access.move_chat(platform, account, old_chat_id, new_chat_id)
    chats.move_chat(account, old_chat_id, new_chat_id)
    return moved


def name(conversation: Conversation, title: str) -> None:
    """Name the current session; a chat of one's own in the browser is called so as well."""
    session = conversation.session
    if session is None:
        return
    Session.objects.filter(pk=session.pk).update(title=title[:200])
    session.title = title[:200]
    if conversation.chat_type == ChatType.CONSOLE:
        Conversation.objects.filter(pk=conversation.pk).update(title=title[:200])


@dataclass(frozen=True)
class Past:
    """An earlier session, as a person finds it again.

    Attributes:
        id: Its row.
        number: Its number in the conversation.
        title: What it was called; empty if nobody called it anything.
        first_words: What was said first in it; empty if nothing was.
    """

    id: int
    number: int
    title: str
    first_words: str


def earlier(conversation: Conversation) -> list[Past]:
    """The earlier sessions of a conversation in which something was said, the latest first."""
    first = Turn.objects.filter(session=OuterRef("pk")).order_by("pk").values("prompt")[:1]
    others = conversation.sessions.exclude(pk=conversation.session_id or 0)
    rows = others.annotate(first_words=Subquery(first)).filter(first_words__isnull=False)
    return [
        Past(row.pk, row.number, row.title, row.first_words or "")
        for row in rows.order_by("-number")
    ]


def take_up(conversation: Conversation, past: Past, *, now: datetime) -> None:
    """End the current session and go on in an earlier one, with all of its history."""
    if conversation.session is not None:
        _end(conversation.session, EndReason.RESUMED, now)
    Session.objects.filter(pk=past.id).update(
        ended_at=None, end_reason="", suspended_at=None, suspended_by="", resumed_at=now
    )
    conversation.session = Session.objects.get(pk=past.id)
    conversation.save(update_fields=["session"])


@dataclass(frozen=True)
class Exchange:
    """The last thing that was said in a session and all that came of it.

    Attributes:
        turn: Whose messages these are.
        said: What the agent read; with the places of files that came along.
    """

    turn: Turn
    said: str


def last_exchange(conversation: Conversation) -> Exchange | None:
    """The last exchange that the agent remembers; None if it remembers nothing."""
    kept = TranscriptEntry.objects.filter(session=conversation.session_id, undone_at=None)
    last = kept.exclude(turn=None).order_by("-position").select_related("turn").first()
    if last is None or last.turn is None:
        return None
    messages = kept.filter(turn=last.turn).order_by("position").values_list("message", flat=True)
    return Exchange(last.turn, first_words(messages) or last.turn.prompt)


def take_back(exchange: Exchange, *, now: datetime) -> None:
    """Let the agent forget an exchange; its rows stay, for staff."""
    kept = TranscriptEntry.objects.filter(turn=exchange.turn, undone_at=None)
    kept.update(undone_at=now)
