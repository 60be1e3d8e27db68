"""A prompt is resolved, once: by an answer, its deadline, a stop, or because nobody saw it."""

import logging
from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from clarify import ports, results
from clarify.models import Prompt
from clarify.questions.looking import Answerer, hold, may_be_seen, shows_at_once
from clarify.questions.showing import retire, show_next
from clarify.states import PROMPTS, Event, State
from delivery import hints
from delivery.database import DATABASE_AWAY
from delivery.models import Kind, Obligation
from delivery.states import PartState
from delivery.states import State as DeliveryState

logger = logging.getLogger(__name__)


def resolve(
    prompt: Prompt, event: Event, *, now: datetime, by: Answerer | None = None, reason: str = ""
) -> bool:
    """Close `prompt` by `event`, once; `by` is who does it, None for nobody.

    What was answered is taken from `prompt.answers`. Whoever waits is told inside the transaction,
    every surface that shows it is updated, and the next prompt of the conversation is shown.

    Returns:
        Whether this call closed it; False when it was closed before.
    """
    state = PROMPTS.target(event)
    closer = {
        "resolved_by": (by.name or by.id)[:255] if by else "",
        "resolved_on": by.surface[:32] if by else "",
        "resolved_by_staff": by is not None and by.is_staff and by.id != prompt.asker_id,
    }
    # What was kept of a set stays as it is stored when anything but an answer closes it.
    answers = {"answers": prompt.answers} if event is Event.ANSWER else {}
    with transaction.atomic():
        hold(prompt.conversation_key)
        won = Prompt.objects.filter(pk=prompt.pk, state__in=PROMPTS.sources(event)).update(
            state=state,
            **answers,
            **closer,
            reason=reason[:200],
            resolved_at=now,
            updated_at=now,
        )
        if not won:
            return False
        # What the caller read may be older than what the last answer made of it.
        prompt.refresh_from_db(from_queryset=Prompt.objects.select_related("obligation"))
        retire(prompt, now)
        hints.conversation_changed(prompt.conversation_key)
        ports.tell(prompt, now)
        show_next(prompt.conversation_key, now)
    return True


def cancel_for(correlation: str, *, reason: str, now: datetime, by: Answerer | None = None) -> int:
    """Cancel every open prompt of a turn; how many there were."""
    prompts = Prompt.objects.filter(correlation=correlation, state=State.PENDING)
    cancelled = 0
    # The newest first, so that none of them is shown because an earlier one closed.
    for prompt in prompts.select_related("obligation").order_by("-id"):
        cancelled += resolve(prompt, Event.CANCEL, now=now, by=by, reason=reason)
    return cancelled


def expire_overdue(*, now: datetime, limit: int = 200) -> int:
    """Close the prompts whose deadline has passed; how many."""
    overdue = Prompt.objects.filter(state=State.PENDING, expires_at__lte=now)
    due = list(overdue.order_by("expires_at")[:limit])
    return _close_each(due, overdue, Event.EXPIRE, _why_silent, now=now)


def _why_silent(prompt: Prompt) -> str:
    """Why nobody answered in time, as the agent is told: it may be no silence of the person's."""
    shown = prompt.obligation
    if prompt.views or prompt.replies.exists():
        return "expired"
    if shown is None:
        return results.NOT_SHOWN
    if shown.state == DeliveryState.DELIVERED or shows_at_once(prompt):
        return "expired"
    return results.UNSURE if may_be_seen(shown) else results.UNDELIVERED


def close_undeliverable(*, now: datetime, limit: int = 200) -> int:
    """Close the prompts whose message certainly reached nobody ([Q22]); how many.

    The few messages that were given up lead to them: however many are open, none is looked at.
    """
    given_up = Obligation.objects.filter(
        state=DeliveryState.ABANDONED, kind__in=[Kind.PROMPT, Kind.APPROVAL]
    ).exclude(parts__state__in=[PartState.LOST, PartState.DELIVERED])
    unseen = Prompt.objects.filter(state=State.PENDING, views=0, obligation__in=given_up)
    prompts = list(unseen.order_by("id")[:limit])
    return _close_each(
        prompts, unseen, Event.FAIL_DELIVERY, lambda _prompt: results.UNDELIVERED, now=now
    )


def _close_each(
    prompts: list[Prompt],
    due: QuerySet[Prompt],
    event: Event,
    reason_of: Callable[[Prompt], str],
    *,
    now: datetime,
) -> int:
    """Close what can be closed: a prompt that cannot must not keep the others open for ever.

    Args:
        prompts: Those that were due at a first look.
        due: What is due; looked at again when a prompt is held, for staff may have given it time.
        event: How they end.
        reason_of: Why, for the agent.
        now: The present.
    """
    closed = 0
    for prompt in prompts:
        try:
            with transaction.atomic():
                hold(prompt.conversation_key)
                current = due.select_related("obligation").filter(pk=prompt.pk).first()
                if current is not None:
                    closed += resolve(current, event, now=now, reason=reason_of(current))
        except DATABASE_AWAY:
            raise
        except Exception:
            logger.exception("A prompt could not be closed", extra={"prompt": prompt.pk})
    return closed
