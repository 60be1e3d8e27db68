"""A prompt is put to a person; while it is open it can be shown again, given more time, moved."""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction

from clarify import permits
from clarify.approvals import Operation
from clarify.errors import CannotShow
from clarify.models import Prompt, PromptKind
from clarify.questions.looking import held, is_armed, still_open
from clarify.questions.showing import show, show_elsewhere, show_next, supersede
from clarify.schema import QuestionSet
from delivery import ledger
from delivery.addresses import Address
from delivery.states import OPEN
from delivery.states import State as DeliveryState


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is to be asked, of whom and where.

    Attributes:
        kind: Which of the three faces.
        correlation: Opaque: the turn that waits.
        call_id: The tool call that asks; the same call asked again is the same prompt.
        conversation_key: Whose conversation.
        address: Where it is shown.
        reply_to: The message it answers; empty for none.
        asker_id: The platform id of the person who is asked.
        asker_name: Their name, for staff.
        questions: What is asked, already validated.
        anyone_may_answer: Any permitted member may answer, not only the person asked.
        operation: What is to be approved; None where questions are asked.
        session: Opaque: the session of the turn.
        language: In which it is asked, a code of `LANGUAGES`; empty for the installation's own.
    """

    kind: PromptKind
    correlation: str
    call_id: str
    conversation_key: str
    address: Address
    asker_id: str
    questions: QuestionSet
    asker_name: str = ""
    reply_to: str = ""
    anyone_may_answer: bool = False
    operation: Operation | None = None
    session: str = ""
    language: str = ""


def ask(request: Ask, *, now: datetime) -> Prompt:
    """Put a prompt to a person, in the caller's transaction.

    It is shown at once unless an earlier question of the conversation is still open; then it is
    shown when that one is resolved ([Q23]). An approval waits for nothing: it is answered by its
    number.
    """
    prompt, is_new = Prompt.objects.get_or_create(
        correlation=request.correlation,
        call_id=request.call_id,
        defaults={
            "kind": request.kind,
            "conversation_key": request.conversation_key,
            "token": secrets.token_urlsafe(12),
            "lane": request.address.lane,
            "address": request.address.as_dict(),
            "reply_to": request.reply_to,
            "asker_id": request.asker_id,
            "asker_name": request.asker_name,
            "anyone_may_answer": request.anyone_may_answer,
            "questions": request.questions.as_dict(),
            "operation": request.operation.as_dict() if request.operation else {},
            "session": request.session[:64],
            "language": request.language,
            "expires_at": now + timedelta(seconds=request.questions.timeout_seconds),
            "created_at": now,
            "updated_at": now,
        },
    )
    if is_new and (prompt.is_approval or not _is_behind_another(prompt)):
        show(prompt, now)
    return prompt


def _is_behind_another(prompt: Prompt) -> bool:
    others = still_open(prompt.conversation_key).exclude(pk=prompt.pk)
    return others.exclude(kind=PromptKind.APPROVAL).exists()


def resend(prompt: Prompt, *, now: datetime) -> None:
    """Show an open prompt again; an earlier message of it points to the new one.

    A message of it that is still owed is made due at once instead, so that nobody gets two.

    Raises:
        NotPending: It is closed already.
        CannotShow: It waits behind another prompt, or is being sent at this moment.
    """
    with transaction.atomic():
        current = held(prompt)
        shown = current.obligation
        if shown is None:
            message = (
                "An earlier question of this conversation is still open; this one is shown as soon"
                " as that is closed."
            )
            raise CannotShow(message)
        if shown.state == DeliveryState.FAILED and ledger.retry(shown, now=now):
            return
        if shown.state in {DeliveryState.PENDING, DeliveryState.ATTEMPTING, DeliveryState.FAILED}:
            message = "Its message is about to be sent anyway; look again in a minute."
            raise CannotShow(message)
        supersede(current, shown, now)
        show(current, now, again=f":again:{shown.pk}")
        Prompt.objects.filter(pk=prompt.pk).update(updated_at=now)


def extend(prompt: Prompt, *, by: timedelta, now: datetime) -> datetime:
    """Give more time to answer: `by` from its deadline, or from now if that has passed.

    Returns:
        The new deadline.

    Raises:
        NotPending: It is closed already.
    """
    with transaction.atomic():
        current = held(prompt)
        until = max(current.expires_at, now) + by
        # It may outlive the row of its message, and must be known to have been seen.
        views = max(current.views, 1) if is_armed(current) else current.views
        Prompt.objects.filter(pk=prompt.pk).update(expires_at=until, views=views, updated_at=now)
        show_next(current.conversation_key, now)  # it was passed over if its time was up
    prompt.expires_at = until
    return until


def rename(old_key: str, new_key: str, chat_id: str, *, now: datetime) -> None:
    """A conversation has another key and its chat another id: its questions move along.

    The messages that showed them stay behind, and their ids may be those of other messages in the
    new chat: what was shown is shown again there.
    """
    moved = list(still_open(old_key).select_related("obligation").order_by("id"))
    Prompt.objects.filter(conversation_key=old_key).update(conversation_key=new_key)
    permits.rename(old_key, new_key)
    for prompt in moved:
        address = replace(prompt.destination, chat_id=chat_id)
        prompt.conversation_key, prompt.updated_at = new_key, now
        prompt.address, prompt.lane = address.as_dict(), address.lane
        prompt.save(update_fields=["address", "lane", "updated_at"])
        if prompt.obligation is not None and prompt.obligation.state not in OPEN:
            show_elsewhere(prompt, prompt.obligation, now)
