"""What is owed to the person for a turn, what the history keeps of it, and what is shown meanwhile.

All of it happens in the transaction that changes the turn; hints go out after it.
"""

from datetime import datetime

from django.db import transaction

from delivery import hints, ledger
from delivery.content import Rendered
from delivery.ledger import Debt
from delivery.models import Kind
from gateway import chats, sessions, statements, wording
from gateway.agents import history
from gateway.messages import ChatType
from gateway.models import TranscriptEntry, Turn
from gateway.models.turns import ACTIVE_STATES

_KINDS = {ChatType.CRON.value: Kind.CRON, ChatType.BACKGROUND.value: Kind.BACKGROUND}


def rendered(turn: Turn, words: str) -> tuple[Rendered, ...]:
    """What `owe_words` sends of `words`; it may take long, so it is done before the transaction."""
    here = turn.conversation
    return ledger.rendered(here.address.platform, here.commissioned.headed(words))


def owe_words(turn: Turn, words: str, parts: tuple[Rendered, ...], *, now: datetime) -> None:
    """What the agent said in this stretch of the turn; it takes the place of the live message.

    Args:
        turn: The turn.
        words: Canonical Markdown.
        parts: The same as it is sent, rendered before the transaction.
        now: The present.
    """
    _owe(turn, Kind.FINAL, words, str(turn.segment), now, is_live=True, parts=parts)


def owe_error(turn: Turn, line: str, *, now: datetime) -> None:
    """That the turn failed, in one line; it takes the place of the live message ([T7])."""
    _owe(turn, Kind.ERROR, wording.failed(line, turn.pk), "failed", now, is_live=True)


def owe_notice(turn: Turn, words: str, occasion: str, *, now: datetime) -> None:
    """Something about the turn, once for each `occasion`."""
    _owe(turn, Kind.NOTICE, words, occasion, now)


def _owe(
    turn: Turn,
    kind: Kind,
    content: str,
    occasion: str,
    now: datetime,
    *,
    is_live: bool = False,
    parts: tuple[Rendered, ...] | None = None,
) -> None:
    # The chat may have moved meanwhile.
    (here,) = statements.conversation_now(pk=turn.conversation_id)
    told = here.commissioned
    is_trouble = kind in {Kind.ERROR, Kind.NOTICE}
    ledger.record(
        Debt(
            conversation_key=here.key,
            trigger=f"turn:{turn.pk}:{occasion}",
            address=(is_trouble and told.trouble) or here.address,
            kind=_KINDS.get(here.chat_type, kind) if kind is Kind.FINAL else kind,
            content=told.headed(content),
            reply_to=turn.anchor,
            preview_key=turn.preview_key if is_live else "",
            fresh_after=chats.rules_of(here).fresh_final_seconds if is_live else None,
            correlation=turn.correlation,
            parts=parts,
        ),
        now=now,
    )


def remember(turn: Turn, note: str, *, now: datetime) -> None:
    """What the person said stays in the history, even if the agent never came to answer it.

    Not while another turn is in the middle of its work: its history goes on where it stopped.
    """
    others = Turn.objects.filter(session=turn.session_id, state__in=ACTIVE_STATES)
    if others.exclude(pk=turn.pk).exists():
        return
    if not TranscriptEntry.objects.filter(turn=turn).exists():
        messages = [history.user_message(turn.prompt), history.assistant_message(note)]
        sessions.append(turn, messages, now=now)


def tell_begun(turn: Turn) -> None:
    """Let the process that shows the turn hear that somebody is at work on it now."""
    here = turn.conversation.address
    group = hints.outbox_group(here.account)
    hints.publish(group, "turn.begun", turn=turn.pk, address=here.as_dict())


def tell_stopped(turn: Turn) -> None:
    """Let the worker that runs the turn and the process that shows it hear of its stop."""
    account, key = turn.conversation.address.account, turn.preview_key

    def tell() -> None:
        hints.publish(hints.WORKERS, "turn.stop", turn=turn.pk)
        hints.publish(hints.outbox_group(account), "stream.stop", key=key)
        hints.publish(hints.outbox_group(account), "turn.ended", turn=turn.pk)

    transaction.on_commit(tell)


def end_stream(turn: Turn) -> None:
    """Take away the live message of this stretch; nothing comes in its place."""
    group, key = hints.outbox_group(turn.conversation.account), turn.preview_key
    transaction.on_commit(lambda: hints.publish(group, "stream.end", key=key))
