"""One turn, from its claim to its end: the agent's events on one side, the database on the other.

The thread that runs here is the only one that writes for the turn. What happens to a tool call is
decided by what is stored about it, so going on after an answer and going on after a crash are the
same thing ([T3], [Q0]).
"""

import logging
from datetime import datetime
from typing import Any

from django.db import connection
from django.utils import timezone

from clarify import approvals
from clarify.errors import InvalidQuestion
from clarify.models import PromptKind
from clarify.questions import Ask
from clarify.schema import QuestionSet, normalise_ask_user, normalise_clarify
from delivery import hints
from gateway import approving, barring, chats, costs, instructions, sessions, speaking, turns
from gateway.agents import history
from gateway.agents.events import (
    Asked,
    AskedCall,
    Cancelled,
    Decision,
    Defer,
    Execute,
    Failed,
    Finished,
    ModelAnswered,
    ModelStarting,
    OutcomeUnknown,
    Refuse,
    Replay,
    TextSoFar,
    ToolFinished,
    ToolStarting,
)
from gateway.agents.requests import RunRequest
from gateway.agents.runtime import AgentRun, AgentRuntime
from gateway.agents.tools import AgentTool, Risk
from gateway.commissions import is_unattended
from gateway.conf import gateway_settings
from gateway.errors import TurnLost
from gateway.media import desk
from gateway.models import ToolCall, ToolState, Turn
from gateway.roles import Role
from gateway.workbench import workbench

logger = logging.getLogger(__name__)

QUIET_START = 0.3  # seconds; an answer that is quicker needs no preview anywhere
ASKING = {"clarify", "ask_user"}
TOO_LONG = (
    f"This call is too long for a person to read and approve: {approving.LONGEST_CALL:,} characters"
    " are the most. Do it in smaller steps, of which each can be read."
)


def run(turn: Turn, runtime: AgentRuntime) -> None:
    """Run a claimed turn until it ends or waits; everything it does is in the database after."""
    request = _request(turn)
    release_connection()
    with runtime.start(request) as agent_run, speaking.to(turn.conversation.language):
        workbench.put(turn.pk, agent_run)
        try:
            _Driver(turn, agent_run, runtime, costs.named(request.model)).drive()
        except TurnLost:
            logger.info("A turn was stopped or taken over", extra={"turn": turn.pk})
        finally:
            workbench.take_away(turn.pk, agent_run)
            release_connection()


def release_connection() -> None:
    """Give a pooled connection back while the model thinks; a file is kept open."""
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        connection.close()


def _request(turn: Turn) -> RunRequest:
    settings = gateway_settings()
    stored, has_begun = sessions.history(turn)
    context = instructions.context_of(turn)
    rules = chats.rules_of(turn.conversation)
    whole = stored if has_begun else history.close_off(stored, "")
    return RunRequest(
        history=history.compact(whole, settings.history_budget),
        prompt=None if has_begun else desk.prompt_of(turn),
        instructions=instructions.for_turn(context, rules.system_prompt),
        model=turn.session.model or rules.model,
        tools=instructions.tools_for(turn),
        context=context,
        is_steered=True,
        time_limit_seconds=settings.time_limit_of(turn.conversation.chat_type).total_seconds(),
        stream=not is_unattended(turn.conversation.chat_type),
        preview_seconds=0.15,
        quiet_seconds=QUIET_START,
    )


class _Driver:
    """Carries the events of one run into the database."""

    def __init__(self, turn: Turn, agent_run: AgentRun, runtime: AgentRuntime, model: str) -> None:
        self.turn, self.run, self.runtime, self.model = turn, agent_run, runtime, model
        self.spoken = self.shown = turn.spoken
        self.asked: dict[str, QuestionSet] = {}
        self.usage = costs.usage_of(turn.usage)
        self.given: tuple[int, ...] = ()  # queued turns whose words the model has, not yet stored

    def drive(self) -> None:
        for event in self.run:
            match event:
                case TextSoFar():
                    self._show(event.text)
                    continue
                case ModelStarting():
                    event.give(self._said_meanwhile())
                case ModelAnswered():
                    self._checkpoint(event)
                case ToolStarting():
                    self.run.decide(event, self._decide(event))
                case ToolFinished():
                    turns.finish_tool(self.turn, event.call_id, event.result, now=_now())
                    event.ack()
                case Asked() | Finished() | Failed() | Cancelled():
                    self._end(event)
            release_connection()

    def _show(self, text: str) -> None:
        turn = self.turn
        self.shown = shown = _joined(self.spoken, text)
        conversation = turn.conversation
        facts = {
            "key": turn.preview_key,
            "epoch": turn.epoch,
            "text": shown,
            "address": conversation.address.as_dict(),
            "reply_to": turn.anchor,
        }
        hints.publish(hints.outbox_group(conversation.account), "stream.text", **facts)
        hints.publish(
            hints.conversation_group(conversation.key),
            "stream.text",
            turn=turn.pk,
            key=turn.preview_key,
            text=shown,
        )

    def _said_meanwhile(self) -> tuple[str, ...]:
        """What was said to steer the turn, by people who may still speak."""
        joining = [
            turn
            for turn in turns.joinable(self.turn, now=_now())
            if barring.may_go_on(turn).may(Role.MEMBER)
        ]
        self.given = tuple(turn.pk for turn in joining)
        return tuple(desk.prompt_of(turn) for turn in joining)

    def _stored(self) -> tuple[int, ...]:
        given, self.given = self.given, ()
        return given

    def _checkpoint(self, event: ModelAnswered) -> None:
        self.usage += event.usage
        self.spoken = _joined(self.spoken, history.last_text(event.messages[-1:]))
        turns.checkpoint(
            self.turn,
            event.messages,
            spoken=self.spoken,
            usage=costs.as_row(self.usage, self.model),
            joined=self._stored(),
            now=_now(),
        )
        event.ack()

    def _decide(self, event: ToolStarting) -> Decision:
        tool = self.runtime.tools.get(event.name)
        if tool.risk is Risk.DANGEROUS and not approving.is_readable(event.args):
            return Refuse(TOO_LONG)
        if refusal := self._beyond(tool, event):
            return Refuse(refusal)
        call, is_new = turns.begin_tool(
            self.turn,
            event.call_id,
            event.name,
            event.args,
            now=_now(),
            waits=lambda: self._needs_approval(event),
        )
        if call.state == ToolState.DONE:
            return Replay(call.result["value"] if call.result else None)
        if event.name in ASKING:
            return self._ask(event)
        if call.state == ToolState.WAITING:
            return Defer()
        if call.state == ToolState.PERMITTED:
            is_new = self._is_as_approved(event, call) and turns.run_permitted(
                self.turn, event.call_id, now=_now()
            )
        return Execute() if is_new else OutcomeUnknown()

    def _beyond(self, tool: AgentTool, event: ToolStarting) -> str:
        """Why the person of the turn has no claim to so dangerous a call; empty if they have."""
        if tool.risk is not Risk.DANGEROUS:
            return ""
        return barring.refuses(self.turn, approving.operation_of(tool, event.args).level)

    def _needs_approval(self, event: ToolStarting) -> bool:
        tool = self.runtime.tools.get(event.name)
        if tool.risk is not Risk.DANGEROUS:
            return False
        operation = approving.operation_of(tool, event.args)
        return not approving.is_permitted(self.turn, operation, now=_now())

    def _is_as_approved(self, event: ToolStarting, call: ToolCall) -> bool:
        """What was approved is what would run: the same tool with the same arguments."""
        return approvals.digest(event.name, event.args) == approvals.digest(
            call.name, call.arguments
        )

    def _ask(self, event: ToolStarting) -> Decision:
        try:
            self.asked[event.call_id] = questions_of(event.name, event.args)
        except InvalidQuestion as error:
            turns.forget_tool(self.turn, event.call_id)
            return Refuse(str(error))
        return Defer()

    def _end(self, event: Asked | Finished | Failed | Cancelled) -> None:
        turn, now = self.turn, _now()
        match event:
            case Finished():
                text = _joined(self.spoken, event.text)
                usage = costs.as_row(self.usage + event.usage, self.model)
                joined = self._stored()
                turns.finish(turn, text, event.messages, usage, joined=joined, now=now)
            case Asked():
                asks = [self._request_for(call) for call in event.calls]
                turns.wait(turn, asks, self.spoken, now=now)
            case Failed():
                turns.fail(turn, event.kind, event.message, event.detail, now=now)
            case Cancelled():
                # Either the turn was stopped, and its row says so, or this process is going down,
                # and another goes on with it.
                if not turns.give_back(turn, now=now):
                    turns.keep_words(turn, self.shown, now=now)
                    logger.info("A turn was stopped", extra={"turn": turn.pk})

    def _request_for(self, call: AskedCall) -> Ask:
        conversation = self.turn.conversation
        if call.kind == "approval":
            kind = PromptKind.APPROVAL
            operation = approving.operation_of(self.runtime.tools.get(call.name), call.args)
            seconds = int(gateway_settings().approval_timeout.total_seconds())
            asked = QuestionSet((), seconds)
        else:
            kind = PromptKind.CLARIFY if call.name == "clarify" else PromptKind.ASK_USER
            operation = None
            asked = self.asked.get(call.call_id) or questions_of(call.name, call.args)
        return Ask(
            kind=kind,
            correlation=self.turn.correlation,
            call_id=call.call_id,
            conversation_key=conversation.key,
            address=conversation.address,
            reply_to=self.turn.anchor,
            asker_id=self.turn.sender_id,
            asker_name=self.turn.sender_name,
            questions=asked,
            anyone_may_answer=gateway_settings().anyone_may_answer
            and not conversation.address.is_private,
            operation=operation,
            session=str(self.turn.session_id),
            language=conversation.language,
        )


def questions_of(tool: str, arguments: dict[str, Any]) -> QuestionSet:
    """What a call of an asking tool asks.

    Raises:
        InvalidQuestion: The call breaks the tool's contract.
    """
    if tool == "clarify":
        return normalise_clarify(arguments.get("question"), arguments.get("choices"))
    return normalise_ask_user(arguments.get("questions"), arguments.get("timeoutSeconds"))


def _joined(before: str, after: str) -> str:
    return "\n\n".join(text for text in (before.strip("\n"), after) if text)


def _now() -> datetime:
    return timezone.now()
