"""Lasting approvals: the only writer of permits ([Q19], [Q19b])."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet

from clarify.approvals import Operation, Reach, Ruling
from clarify.models import Permit, Prompt


def give(prompt: Prompt, ruling: Ruling, *, by: str, now: datetime) -> Permit | None:
    """Write down the lasting part of an approval, in the caller's transaction.

    Returns:
        The permit; None if the approval was for once.
    """
    operation = prompt.what
    seconds = operation.lasts.get(ruling.reach)
    if not ruling.approved or seconds is None:
        return None
    return Permit.objects.create(
        conversation_key=prompt.conversation_key,
        session=prompt.session if ruling.reach is Reach.SESSION else "",
        asker_id=prompt.asker_id,
        tool=operation.tool,
        lasting_key=operation.lasting_key,
        covers=operation.covers[:500],
        level=operation.level.value,
        prompt=prompt,
        given_by=by[:255],
        given_at=now,
        expires_at=now + timedelta(seconds=seconds),
    )


def in_force(now: datetime) -> QuerySet[Permit]:
    """The permits that count now."""
    return Permit.objects.filter(expires_at__gt=now, revoked_at=None)


def use(
    operation: Operation,
    *,
    conversation_key: str,
    session: str,
    asker_id: str,
    still_counts: Callable[[Permit], bool],
    now: datetime,
) -> Permit | None:
    """The permit that lets `operation` run without asking, noted as used; None if there is none.

    Args:
        operation: What would run; what its lasting approvals are now decides, not what they were
            when the permit was given.
        conversation_key: Where.
        session: The session of the turn.
        asker_id: For whom the turn runs.
        still_counts: Whether who gave a permit could give it today.
        now: The present.
    """
    if not operation.lasting_key:
        return None
    places = Q()
    for reach in operation.lasts:
        places |= Q(session=session if reach is Reach.SESSION else "")
    if not places:
        return None
    found = in_force(now).filter(
        places,
        conversation_key=conversation_key,
        asker_id=asker_id,
        tool=operation.tool,
        lasting_key=operation.lasting_key,
    )
    given = found.select_related("prompt").order_by("id")
    permit = next(filter(still_counts, given), None)
    if permit is not None:
        Permit.objects.filter(pk=permit.pk).update(uses=F("uses") + 1, used_at=now)
    return permit


def revoke(permit: Permit, *, by: str, now: datetime) -> bool:
    """End a permit; the next such operation is asked for again.

    Returns:
        Whether it was in force.
    """
    rows = in_force(now).filter(pk=permit.pk)
    return bool(rows.update(revoked_at=now, revoked_by=by[:255]))


def rename(old_key: str, new_key: str) -> None:
    """A conversation has another key: its permits move along."""
    Permit.objects.filter(conversation_key=old_key).update(conversation_key=new_key)
