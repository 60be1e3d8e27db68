"""What each command does, in the transaction of the message that gave it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from clarify import questions
from clarify.models import Prompt
from clarify.questions import Answerer
from gateway import commands, sessions, turns
from gateway.commands import Command
from gateway.messages import InboundMessage, Source
from gateway.models import Conversation, Turn
from gateway.states import OPEN, TurnState


@dataclass(frozen=True)
class Done:
    """What a command says, and the prompt it closed, if any."""

    say: str
    prompt: Prompt | None = None


def run(
    command: Command, event: InboundMessage, conversation: Conversation, *, now: datetime
) -> Done:
    """Do what `command` says."""
    return HANDLERS[command.spec.name](event, conversation, now)


def speaker(source: Source) -> Answerer:
    """The sender of `source` as somebody who answers."""
    return Answerer(id=source.user_id, name=source.user_name, surface=source.platform)


def _help(event: InboundMessage, conversation: Conversation, now: datetime) -> Done:
    del event, conversation, now
    return Done(
        _("Just write to me. These commands work at any time:") + "\n\n" + commands.help_text()
    )


def _status(event: InboundMessage, conversation: Conversation, now: datetime) -> Done:
    del event
    open_turns = Turn.objects.filter(conversation=conversation, state__in=sorted(OPEN))
    lines = [
        _("Session %(number)s")
        % {"number": conversation.session.number if conversation.session else 1}
    ]
    words = {
        TurnState.RUNNING: _("running"),
        TurnState.WAITING: _("waiting for an answer"),
        TurnState.READY: _("about to go on"),
        TurnState.QUEUED: _("in the queue"),
    }
    for turn in open_turns.order_by("id")[:10]:
        age = int((now - turn.created_at).total_seconds())
        lines.append(
            _("turn %(id)s: %(state)s, for %(age)s s")
            % {"id": turn.pk, "state": words[TurnState(turn.state)], "age": age}
        )
    if len(lines) == 1:
        lines.append(_("nothing is running"))
    return Done("\n".join(f"- {line}" for line in lines))


def _new(event: InboundMessage, conversation: Conversation, now: datetime) -> Done:
    turns.stop(conversation, by=speaker(event.source), now=now)
    session = sessions.start_afresh(conversation, reason="new", now=now)
    return Done(_("A new conversation begins (session %(n)s).") % {"n": session.number})


def _stop(event: InboundMessage, conversation: Conversation, now: datetime) -> Done:
    stopped = turns.stop(conversation, by=speaker(event.source), now=now)
    if not stopped:
        return Done(_("Nothing is running."))
    return Done(_("⏹ Stopped."))


def _skip(event: InboundMessage, conversation: Conversation, now: datetime) -> Done:
    answerer = speaker(event.source)
    mine = questions.open_to(
        conversation.key,
        answerer,
        lane=event.source.address.lane,
        quoted_message_id=event.reply_to,
    )
    if not mine:
        return Done(_("There is no open question to skip."))
    questions.skip(mine[0], answerer, now=now, said="/skip")
    return Done("", mine[0])


def _whoami(event: InboundMessage, conversation: Conversation, now: datetime) -> Done:
    del now
    source = event.source
    return Done(
        f"- {source.platform}: `{source.user_id}`\n- chat: `{source.chat_id}`\n"
        f"- conversation: `{conversation.key}`"
    )


HANDLERS: dict[str, Callable[[InboundMessage, Conversation, datetime], Done]] = {
    "help": _help,
    "status": _status,
    "new": _new,
    "stop": _stop,
    "skip": _skip,
    "whoami": _whoami,
}
