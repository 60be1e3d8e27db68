"""Dangerous tools: what a call would do, and whether somebody has to approve it first ([Q19])."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from clarify import approvals, permits, questions
from clarify.approvals import Operation
from clarify.models import Permit, Reply
from clarify.questions import Answerer
from clarify.risks import NO_AUTHORITY
from clarify.states import Effect
from gateway import access, audit
from gateway.accounts import CONSOLE
from gateway.agents.tools import AgentTool
from gateway.conf import gateway_settings
from gateway.messages import ChatType, Source
from gateway.models import Turn

LONGEST_CALL = 50_000  # characters of JSON


def is_readable(arguments: Mapping[str, Any]) -> bool:
    """Whether a person could read a call with these arguments before they approve it.

    It also bounds how long judging one takes, which is done while others wait for the database.
    """
    return len(json.dumps(arguments, ensure_ascii=False)) <= LONGEST_CALL


def operation_of(tool: AgentTool, arguments: Mapping[str, Any]) -> Operation:
    """What a call of `tool` would do, as it is put before people.

    Args:
        tool: A dangerous tool.
        arguments: Of the call, as JSON, as they will be used.
    """
    danger = tool.danger_of(arguments)
    lasting = gateway_settings().lasting_approvals
    return Operation(
        tool=tool.name,
        summary=approvals.shown(danger.summary),
        detail=approvals.shown(danger.detail),
        level=danger.level,
        digest=approvals.digest(tool.name, arguments),
        lasting_key=danger.lasting_key,
        covers=approvals.shown(danger.covers),
        lasts=approvals.lasts(danger.level, danger.lasting_key, lasting),
    )


def is_permitted(turn: Turn, operation: Operation, *, now: datetime) -> bool:
    """Whether a lasting approval lets `operation` run without asking; each use is audited."""
    permit = permits.use(
        operation,
        conversation_key=turn.conversation.key,
        session=str(turn.session_id),
        asker_id=turn.sender_id,
        still_counts=lambda permit: _still_counts(permit, turn),
        now=now,
    )
    if permit is None:
        return False
    audit.note(
        "approval.used",
        actor=f"turn:{turn.pk}",
        subject=f"permit:{permit.pk}",
        now=now,
        tool=operation.tool,
        level=operation.level.value,
        given_by=permit.given_by,
    )
    return True


def _still_counts(permit: Permit, turn: Turn) -> bool:
    """Whether who gave `permit` could approve the same today: what was revoked covers nothing."""
    prompt = permit.prompt
    given = prompt.replies.filter(outcome=Effect.RESOLVED).first() if prompt is not None else None
    if prompt is None or given is None:
        return False
    if given.surface == CONSOLE:
        authority = access.authority_of_person(given.by)
    else:
        judged = access.judge(_giver(given, turn))
        authority = judged.authority if judged.allowed else NO_AUTHORITY
    giver = Answerer(id=given.by, name="", surface=given.surface, authority=authority)
    return questions.may_allow(prompt, giver)


def _giver(given: Reply, turn: Turn) -> Source:
    """Who gave a lasting approval, as somebody who speaks where the turn takes place."""
    place = turn.conversation.address
    return Source(
        platform=place.platform,
        account=place.account,
        scope_id=place.scope_id,
        chat_type=ChatType(place.chat_type),
        chat_id=place.chat_id,
        thread_id=place.thread_id,
        user_id=given.by,
    )
