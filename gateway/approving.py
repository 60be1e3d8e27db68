"""Dangerous tools: what a call would do, and whether somebody has to approve it first ([Q19])."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from clarify import approvals, permits
from clarify.approvals import Operation
from gateway import audit
from gateway.agents.tools import AgentTool
from gateway.conf import gateway_settings
from gateway.models import Turn


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
