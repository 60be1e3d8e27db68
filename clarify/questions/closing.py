"""A prompt is resolved, once: by an answer, its deadline, a stop, or because nobody saw it."""

import logging
from collections.abc import Callable
from datetime import datetime

from django.db import transaction

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
        prompt.state, prompt.reason, prompt.resolved_at = state, reason, now
        for name, value in closer.items():
            setattr(prompt, name, value)
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
    due = list(overdue.select_related("obligation").order_by("expires_at")[:limit])
    return _close_each(due, Event.EXPIRE, reason_of=_why_silent, now=now)


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
    prompts = list(unseen.select_related("obligation").order_by("id")[:limit])
    return _close_each(
        prompts, Event.FAIL_DELIVERY, reason_of=lambda _prompt: results.UNDELIVERED, now=now
    )


def _close_each(
    prompts: list[Prompt], event: Event, *, reason_of: Callable[[Prompt], str], now: datetime
) -> int:
    """Close what can be closed: a prompt that cannot must not keep the others open for ever."""
    closed = 0
    for prompt in prompts:
        try:
            closed += resolve(prompt, event, now=now, reason=reason_of(prompt))
        except DATABASE_AWAY:
            raise
        except Exception:
            logger.exception("A prompt could not be closed", extra={"prompt": prompt.pk})
    return closed
