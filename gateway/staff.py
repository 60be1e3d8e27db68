"""What staff may do to accounts, the allowlist and turns: each verb with its row in the audit log.

Each works in one transaction. What staff may do to a question stands in `clarify.staff`, and to an
owed message in `delivery.staff`.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from clarify.questions import Answerer
from delivery import ledger
from delivery.addresses import Address
from delivery.ledger import Debt
from delivery.models import Kind, Obligation
from gateway import access, accounts, audit, barring, chats, sessions, turns
from gateway.accounts import CONSOLE
from gateway.errors import NotPossible
from gateway.models import Account, AllowEntry, ChatPolicy, Conversation, Session, Turn


@dataclass(frozen=True, kw_only=True)
class AccountFacts:
    """What staff enter for an account.

    Attributes:
        slug: Its name in this installation.
        platform: The platform's kind.
        secret: The credential in clear; empty keeps the stored one.
        options: The platform's own settings; a value as `accounts.shown` masks it keeps the
            stored one.
    """

    slug: str
    platform: str
    secret: str = field(default="", repr=False)
    options: dict[str, str] = field(default_factory=dict)


def save_account(facts: AccountFacts, *, actor: str, now: datetime) -> Account:
    """Make an account, or change the one of that name.

    Raises:
        NotPossible: A setting is wrong, or the environment keeps the account; the message says
            what to do.
    """
    with transaction.atomic():
        account, is_new = accounts.save(
            facts.slug, facts.platform, secret=facts.secret, options=facts.options
        )
        audit.note(
            "account.added" if is_new else "account.changed",
            actor=actor,
            subject=f"account:{account.slug}",
            now=now,
            platform=account.platform,
            credential="new" if facts.secret else "kept",
        )
    return account


def enable_account(account: Account, *, actor: str, now: datetime) -> None:
    """Let a gateway process serve the account.

    Raises:
        NotPossible: It is enabled already, or another enabled account has its credential.
    """
    _switch(account, is_enabled=True, actor=actor, now=now)


def disable_account(account: Account, *, actor: str, now: datetime) -> None:
    """Let no process serve the account; what it owes waits.

    Raises:
        NotPossible: It is disabled already.
    """
    _switch(account, is_enabled=False, actor=actor, now=now)


def _switch(account: Account, *, is_enabled: bool, actor: str, now: datetime) -> None:
    word = "enabled" if is_enabled else "disabled"
    with transaction.atomic():
        if not accounts.switch(account, is_enabled=is_enabled, now=now):
            message = f"{account.slug} is {word} already."
            raise NotPossible(message)
        audit.note(f"account.{word}", actor=actor, subject=f"account:{account.slug}", now=now)


def allow(entry: AllowEntry, *, actor: str, now: datetime) -> AllowEntry:
    """Add `entry`, or store what was changed in it.

    Raises:
        NotPossible: The same entry is there already, or the environment keeps it.
    """
    with transaction.atomic():
        is_new = entry.pk is None
        access.allow(entry)
        audit.note(
            "allow.added" if is_new else "allow.changed",
            actor=actor,
            subject=str(entry),
            now=now,
            **_scope(entry),
        )
        if not is_new:
            barring.sweep(_about(entry), now=now)
    return entry


def disallow(entry: AllowEntry, *, actor: str, now: datetime) -> None:
    """Remove `entry`; it counts at once, for what waits and for the next message ([A8]).

    Raises:
        NotPossible: The environment keeps it.
    """
    with transaction.atomic():
        subject, scope = str(entry), _scope(entry)
        access.disallow(entry)
        audit.note("allow.removed", actor=actor, subject=subject, now=now, **scope)
        barring.sweep(_about(entry), now=now)


def _about(entry: AllowEntry) -> Q:
    """The turns of those whom an entry is, or was, about."""
    if entry.user_id:
        return barring.of_person(entry.platform, entry.user_id)
    return barring.of_chat(entry.platform, entry.chat_id)


def _scope(entry: AllowEntry) -> dict[str, Any]:
    names = (
        *("account", "scope_id", "chat_id", "user_id", "role", "approves_up_to"),
        *("commands", "tools_up_to", "is_for_bot"),
    )
    return {name: value for name in names if (value := getattr(entry, name))}


def stop_turn(turn: Turn, *, actor: str, now: datetime) -> None:
    """Stop a turn and close its questions; the person is told.

    Raises:
        NotPossible: It has ended already.
    """
    with transaction.atomic():
        by = Answerer(id=actor, name=actor, surface="admin", is_staff=True)
        if not turns.stop_one(turn, by=by, now=now):
            message = f"Turn {turn.pk} has ended already; there is nothing to stop."
            raise NotPossible(message)
        audit.note("turn.stopped", actor=actor, subject=f"turn:{turn.pk}", now=now)


def suspend_session(session: Session, *, actor: str, now: datetime) -> None:
    """Stop what is open in a session, and let the next message begin another ([S4]).

    Raises:
        NotPossible: It has ended, or is suspended already.
    """
    with transaction.atomic():
        if not sessions.suspend(session, by=actor, now=now):
            message = f"Session {session.number} has ended or is suspended already."
            raise NotPossible(message)
        by = Answerer(id=actor, name=actor, surface="admin", is_staff=True)
        stopped = turns.stop(session.conversation, by=by, now=now)
        subject = f"session:{session.pk}"
        audit.note("session.suspended", actor=actor, subject=subject, now=now, stopped=len(stopped))


def set_chat(policy: ChatPolicy, *, actor: str, now: datetime) -> None:
    """Store what is set for a chat, an account or everywhere ([S3])."""
    with transaction.atomic():
        is_new = policy.pk is None
        chats.store(policy)
        action = "chat.set" if is_new else "chat.changed"
        audit.note(action, actor=actor, subject=str(policy), now=now, **chats.said_by(policy))


def unset_chat(policy: ChatPolicy, *, actor: str, now: datetime) -> None:
    """Let what is set for a place be inherited again."""
    with transaction.atomic():
        subject, said = str(policy), chats.said_by(policy)
        chats.remove(policy)
        audit.note("chat.unset", actor=actor, subject=subject, now=now, **said)


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A message that staff write by hand.

    Attributes:
        chat_id: The platform's id of the chat.
        text: Canonical Markdown.
        thread_id: The thread in the chat; empty for none.
    """

    chat_id: str
    text: str
    thread_id: str = ""


def send(
    letter: Letter, account: Account, *, trigger: str, actor: str, now: datetime
) -> Obligation:
    """Owe a letter to a chat of an account.

    Args:
        letter: What, and where to.
        account: Whose bot says it.
        trigger: A different word for each letter, so that the same text can be sent twice.
        actor: Who sends it.
        now: The present.

    Raises:
        NotPossible: There is nothing to say, or nobody could ever read it.
    """
    if not letter.text.strip():
        message = "There is nothing to send: the text is empty."
        raise NotPossible(message)
    known = _known(letter, account)
    if known is None and account.platform == CONSOLE:  # its timelines are all that anybody sees
        message = (
            f"There is no chat {letter.chat_id!r} in the Control UI, so nobody would see this."
            " `/whoami`, written in a chat there, says what the chat is called."
        )
        raise NotPossible(message)
    debt = Debt(
        conversation_key=known.key if known else "",
        trigger=f"staff:{trigger}",
        address=known.address if known else _address(letter, account),
        kind=Kind.CROSS,
        content=letter.text,
    )
    with transaction.atomic():
        obligation = ledger.record(debt, now=now)
        if known is not None:
            sessions.stir(known, now=now)
        subject = f"delivery:{obligation.delivery_id[:12]}"
        where = {"account": account.slug, "chat": letter.chat_id}
        audit.note("message.sent", actor=actor, subject=subject, now=now, **where)
    return obligation


def _known(letter: Letter, account: Account) -> Conversation | None:
    """The conversation of that chat that everybody shares, or else the liveliest."""
    there = Conversation.objects.filter(
        account=account.slug, chat_id=letter.chat_id, thread_id=letter.thread_id
    )
    return there.order_by("participant_id", "-active_at").first()


def _address(letter: Letter, account: Account) -> Address:
    """Where a letter to a chat goes of which nothing is known."""
    return Address(
        platform=account.platform,
        account=account.slug,
        chat_id=letter.chat_id,
        thread_id=letter.thread_id,
    )
