"""Rows of all three apps turned into the plain values of a story."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from clarify import approvals
from clarify.models import Prompt
from clarify.states import State
from delivery.addresses import Address
from delivery.models import Attempt, DeadDestination, Lease, Obligation, Part
from delivery.processes import is_certainly_dead
from gateway import access, processes, prompting
from gateway.messages import ChatType, Source
from gateway.models import Account, AuditEvent, InboundEvent, ToolCall, Turn
from gateway.states import FailureKind
from gateway.story import (
    Alive,
    Asked,
    Called,
    Connection,
    Owed,
    Parted,
    Replied,
    Said,
    Spared,
    Story,
    Tried,
    Turned,
)

SHORT_ID = 12


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of one story.

    Attributes:
        title: What was asked about, in words.
        event: The message that was asked about, if it was one.
        said: All that came in for it, oldest first.
        turn: The turn it belongs to.
        behind: The open turn before that one.
        prompts: The questions of the turn.
        spared: The audit log's rows of calls that a lasting approval covered.
        ignored: By question, what was said in the same chat and not taken as its answer.
        owed: What is or was owed, oldest first.
        behind_owed: By owed message, the open one before it in its lane.
    """

    title: str
    event: InboundEvent | None
    said: Sequence[InboundEvent]
    turn: Turn | None
    behind: Turn | None
    prompts: Sequence[Prompt]
    spared: Sequence[AuditEvent]
    ignored: Mapping[int, Sequence[InboundEvent]]
    owed: Sequence[Obligation]
    behind_owed: Mapping[int, Obligation | None]


def story(rows: Rows, *, now: datetime) -> Story:
    """The rows as one story; how account and processes stand is looked up here."""
    turn, event = rows.turn, rows.event
    return Story(
        subject=rows.title,
        now=local(now),
        about=said_of(event) if event else None,
        said=tuple(said_of(row, judge=True) for row in rows.said),
        turn=turned_of(turn, rows.behind) if turn else None,
        called=tuple(called_of(call) for call in turn.tool_calls.all()) if turn else (),
        spared=tuple(spared_of(row) for row in rows.spared),
        asked=tuple(asked_of(prompt, rows.ignored.get(prompt.pk, ())) for prompt in rows.prompts),
        owed=tuple(owed_of(row, rows.behind_owed.get(row.pk)) for row in rows.owed),
        connection=_connection(_address(rows), now),
        alive=Alive(
            **{kind: processes.alive(kind, now=now) for kind in ("worker", "gateway", "beat")}
        ),
    )


def local(at: datetime) -> datetime:
    """The instant in the site's time zone, as staff read clocks."""
    return timezone.localtime(at)


def _maybe_local(at: datetime | None) -> datetime | None:
    return local(at) if at else None


def said_of(row: InboundEvent, *, judge: bool = False) -> Said:
    """Something that came in.

    Args:
        row: The event.
        judge: Find out whether its sender may speak at present.
    """
    return Said(
        row=row.pk,
        event_id=row.event_id,
        kind=row.kind,
        decision=row.decision,
        decided=row.get_decision_display() or "was not decided",
        received_at=local(row.received_at),
        reason=row.reason,
        message_id=row.message_id,
        sender=row.sender_name,
        sender_id=row.sender_id,
        place=" ".join(filter(None, (row.platform, row.chat_type, row.chat_id, row.thread_id))),
        lane=_source(row).address.lane if row.chat_type else "",
        text=row.text,
        access=_access(row) if judge and row.sender_id else "",
        turn=row.turn_id,
        prompt=row.prompt_id,
    )


def _source(row: InboundEvent) -> Source:
    return Source(
        platform=row.platform,
        account=row.account,
        chat_type=ChatType(row.chat_type),
        chat_id=row.chat_id,
        user_id=row.sender_id,
        scope_id=row.scope_id,
        thread_id=row.thread_id,
        user_name=row.sender_name,
        message_id=row.message_id,
    )


def _access(row: InboundEvent) -> str:
    verdict = access.judge(_source(row))
    return (
        f"the sender {'may' if verdict.allowed else 'may not'} speak at present: {verdict.reason}"
    )


def turned_of(turn: Turn, behind: Turn | None) -> Turned:
    """A turn, and the one it waits behind."""
    return Turned(
        id=turn.pk,
        state=turn.state,
        conversation=turn.conversation.key,
        session=turn.session.number,
        created_at=local(turn.created_at),
        updated_at=local(turn.updated_at),
        sender=turn.sender_name or turn.sender_id,
        started_at=_maybe_local(turn.started_at),
        finished_at=_maybe_local(turn.finished_at),
        lease_expires_at=_maybe_local(turn.lease_expires_at),
        held_until=_maybe_local(turn.held_until),
        joined=f"turn:{turn.joined_id}" if turn.joined_id else "",
        owner=turn.owner,
        epoch=turn.epoch,
        deaths=turn.deaths,
        failure=FailureKind(turn.failure_kind) if turn.failure_kind else None,
        error=turn.error,
        detail=turn.detail,
        behind=f"turn:{behind.pk}" if behind else "",
    )


def called_of(call: ToolCall) -> Called:
    """A tool call."""
    return Called(
        name=call.name,
        state=call.state,
        started_at=local(call.started_at),
        finished_at=_maybe_local(call.finished_at),
    )


def asked_of(prompt: Prompt, ignored: Sequence[InboundEvent]) -> Asked:
    """A question with what was said to it, and what was said beside it."""
    shown = prompt.obligation
    arrivals = (
        [part.delivered_at for part in shown.parts.all() if part.delivered_at] if shown else []
    )
    return Asked(
        id=prompt.pk,
        kind=prompt.kind,
        state=prompt.state,
        text=prompt.gist,
        asker=prompt.asker_name or prompt.asker_id,
        asker_id=prompt.asker_id,
        lane=prompt.lane,
        created_at=local(prompt.created_at),
        expires_at=local(prompt.expires_at),
        standing=prompt.standing,
        shown=shown.delivery_id[:SHORT_ID] if shown else "",
        shown_at=local(min(arrivals)) if arrivals else None,
        anyone_may_answer=prompt.anyone_may_answer,
        resolved_at=_maybe_local(prompt.resolved_at),
        resolved_by=prompt.resolved_by,
        resolved_on=prompt.resolved_on,
        reason=prompt.reason,
        answers=_decided(prompt),
        risk=f"{prompt.what.level} risk" if prompt.is_approval else "",
        deciders=tuple(prompting.deciders(prompt)) if prompt.is_approval and prompt.is_open else (),
        replies=tuple(
            Replied(
                at=local(reply.at),
                by=reply.by,
                surface=reply.surface,
                outcome=reply.outcome,
                text=reply.text,
                detail=reply.detail,
            )
            for reply in prompt.replies.all()
        ),
        ignored=tuple(said_of(row) for row in ignored),
    )


def _decided(prompt: Prompt) -> str:
    """What it was answered with, or what was decided about an operation."""
    if prompt.is_approval:
        return approvals.ending(prompt.answers, State(prompt.state), by=prompt.resolved_by)
    return "; ".join(", ".join(values) for values in prompt.given.values())


def spared_of(row: AuditEvent) -> Spared:
    """A use of a lasting approval, as the audit log has it."""
    number = row.subject.partition(":")[2]
    return Spared(
        at=local(row.at),
        tool=str(row.detail.get("tool", "?")),
        permit=int(number) if number.isdigit() else 0,
        given_by=str(row.detail.get("given_by", "?")),
    )


def owed_of(obligation: Obligation, behind: Obligation | None) -> Owed:
    """An owed message with its parts and their tries, and the one it waits behind."""
    return Owed(
        delivery_id=obligation.delivery_id[:SHORT_ID],
        kind=obligation.kind,
        state=obligation.state,
        created_at=local(obligation.created_at),
        next_attempt_at=local(obligation.next_attempt_at),
        settled_at=_maybe_local(obligation.settled_at),
        updated_at=local(obligation.updated_at),
        owner=obligation.owner,
        last_error=obligation.last_error,
        error_kind=obligation.error_kind,
        reason=obligation.reason,
        behind=behind.delivery_id[:SHORT_ID] if behind else "",
        parts=tuple(_parted(part) for part in obligation.parts.all()),
    )


def _parted(part: Part) -> Parted:
    return Parted(
        position=part.position,
        state=part.state,
        message_id=part.message_id,
        tries=tuple(_tried(attempt) for attempt in part.tries.all()),
    )


def _tried(attempt: Attempt) -> Tried:
    return Tried(
        at=local(attempt.finished_at),
        number=attempt.number,
        operation=attempt.operation,
        outcome=attempt.outcome,
        detail=attempt.detail,
        marked=attempt.marked,
    )


def _address(rows: Rows) -> Address | None:
    if rows.turn is not None:
        return rows.turn.conversation.address
    if rows.owed:
        return rows.owed[0].destination
    event = rows.event
    return _source(event).address if event is not None and event.chat_type else None


def _connection(address: Address | None, now: datetime) -> Connection | None:
    if address is None:
        return None
    account = Account.objects.filter(slug=address.account).first()
    if account is None:
        return Connection(account=address.account, platform=address.platform, state="unknown")
    dead = DeadDestination.objects.filter(
        platform=address.platform, account=address.account, chat_id=address.chat_id
    ).first()
    lease = Lease.objects.filter(name=account.lease_name, expires_at__gt=now).exclude(owner="")
    holder = lease.first()
    return Connection(
        account=account.slug,
        platform=account.platform,
        state=account.state,
        is_enabled=account.is_enabled,
        is_served=holder is not None and not is_certainly_dead(holder.owner),
        error=account.last_error,
        closed_chat=dead.reason if dead else "",
    )
