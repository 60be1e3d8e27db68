"""What is known around a question, above the app that asks it ([Q21]): nothing here writes.

Whether who was asked may still speak, who may approve, what was said in the chat since, and what
the audit log says about it.
"""

from collections.abc import Sequence
from datetime import datetime

from clarify.models import Prompt
from clarify.questions import CLOSED_LATELY
from clarify.risks import RiskLevel
from clarify.staff import MAY_RULE
from gateway import access
from gateway.messages import ChatType, Source
from gateway.models import AllowEntry, AuditEvent, InboundEvent

MOST_HEARD = 50
MOST_NAMED = 5
STAFF = f"staff with the permission {MAY_RULE}, in the admin or the Control UI"


def asker(prompt: Prompt) -> Source:
    """Who was asked, as somebody who speaks where the question is shown."""
    address = prompt.destination
    return Source(
        platform=address.platform,
        account=address.account,
        scope_id=address.scope_id,
        chat_type=ChatType(address.chat_type),
        chat_id=address.chat_id,
        thread_id=address.thread_id,
        user_id=prompt.asker_id,
        user_name=prompt.asker_name,
    )


def mark_barred(prompts: Sequence[Prompt]) -> None:
    """Set `barred` of the open questions whose asker may not speak any more, in one query."""
    waiting = [prompt for prompt in prompts if prompt.is_open]
    if not waiting:
        return
    verdicts = access.judge_many([asker(prompt) for prompt in waiting])
    for prompt, verdict in zip(waiting, verdicts, strict=True):
        prompt.barred = "" if verdict.allowed else verdict.reason


def deciders(prompt: Prompt) -> list[str]:
    """Who may approve the operation of `prompt`, as staff know them."""
    level, source = prompt.what.level, asker(prompt)
    own = access.judge(source)
    named = [_name(entry) for entry in _others(prompt, source, level)]
    more = [f"{len(named) - MOST_NAMED} more approvers"] if len(named) > MOST_NAMED else []
    may_own = own.allowed and own.authority.allows(level, is_own=True)
    who = prompt.asker_name or prompt.asker_id
    first = [f"{who}, for whom it is asked"] if may_own else []
    return [*first, *named[:MOST_NAMED], *more, STAFF]


def _others(prompt: Prompt, source: Source, level: RiskLevel) -> list[AllowEntry]:
    found = access.approvers(source, level)
    return [entry for entry in found if entry.user_id != prompt.asker_id]


def _name(entry: AllowEntry) -> str:
    return f"{entry.note} [{entry.user_id}]" if entry.note else f"[{entry.user_id}]"


def heard_since(prompt: Prompt, *, now: datetime) -> list[InboundEvent]:
    """What came in from the chat of `prompt` since it was asked, oldest first.

    Of a closed one, also what came minutes after: that was too late.
    """
    address = prompt.destination
    until = prompt.resolved_at + CLOSED_LATELY if prompt.resolved_at else now
    events = InboundEvent.objects.filter(
        account=address.account,
        chat_id=address.chat_id,
        received_at__gt=prompt.created_at,
        received_at__lte=until,
    )
    return list(events.order_by("id")[:MOST_HEARD])


def decided_about(prompt: Prompt) -> list[AuditEvent]:
    """The audit log's rows about `prompt` and the lasting approvals it gave, oldest first."""
    subjects = [f"prompt:{prompt.pk}"]
    subjects += [f"permit:{pk}" for pk in prompt.permits_given.values_list("pk", flat=True)]
    return list(AuditEvent.objects.filter(subject__in=subjects).order_by("id")[:MOST_HEARD])
