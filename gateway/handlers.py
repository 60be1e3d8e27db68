"""What each command does, in the transaction of the message that gave it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from clarify import questions
from clarify.approvals import Reach, Ruling
from clarify.errors import NotAllowed, NotYours, UnknownPrompt
from clarify.models import Prompt
from clarify.presenting import escape
from clarify.questions import Answerer, Effect
from gateway import commands, sessions, turns, wording
from gateway.commands import Command
from gateway.messages import InboundMessage
from gateway.models import Conversation, Turn
from gateway.states import OPEN, TurnState

NUMBER = re.compile(r"\s*#?(\d{1,12})(?=\s|$)", re.ASCII)
SECOND = timedelta(seconds=1)  # platforms tell when something was sent in whole ones
REACHES = {reach.value: reach for reach in Reach}


@dataclass(frozen=True)
class Done:
    """What a command says, and the prompt it closed, if any."""

    say: str
    prompt: Prompt | None = None


@dataclass(frozen=True)
class Given:
    """A command, as somebody gave it in a conversation."""

    command: Command
    event: InboundMessage
    conversation: Conversation
    speaker: Answerer
    now: datetime

    @property
    def lane(self) -> str:
        """Where it was given."""
        return self.event.source.address.lane


def run(given: Given) -> Done:
    """Do what a command says."""
    return HANDLERS[given.command.spec.name](given)


def _help(_given: Given) -> Done:
    return Done(
        _("Just write to me. These commands work at any time:") + "\n\n" + commands.help_text()
    )


def _status(given: Given) -> Done:
    conversation, now = given.conversation, given.now
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
    lines += [
        _("`#%(n)s` waits for an approval: %(what)s")
        % {"n": prompt.pk, "what": escape(prompt.gist)}
        for prompt in questions.approvals_at(given.lane)
    ]
    return Done("\n".join(f"- {line}" for line in lines))


def _new(given: Given) -> Done:
    turns.stop(given.conversation, by=given.speaker, now=given.now)
    session = sessions.start_afresh(given.conversation, reason="new", now=given.now)
    return Done(_("A new conversation begins (session %(n)s).") % {"n": session.number})


def _stop(given: Given) -> Done:
    stopped = turns.stop(given.conversation, by=given.speaker, now=given.now)
    if not stopped:
        return Done(_("Nothing is running."))
    return Done(_("⏹ Stopped."))


def _skip(given: Given) -> Done:
    mine = questions.open_to(
        given.conversation.key,
        given.speaker,
        lane=given.lane,
        quoted_message_id=given.event.reply_to,
    )
    if not mine:
        return Done(_("There is no open question to skip."))
    outcome = questions.skip(mine[0], given.speaker, now=given.now, said="/skip")
    overtaken = outcome.effect is Effect.TOO_LATE
    return Done(escape(outcome.say) if overtaken else "", mine[0])


def _approve(given: Given) -> Done:
    words = given.command.rest.lower().split()
    reach = REACHES[words.pop()] if words and words[-1] in REACHES else Reach.ONCE
    number, rest = _number(" ".join(words))
    if rest:
        return Done(_("Say `/approve`, or `/approve 17`, or `/approve 17 session`."))
    return _rule(given, number, Ruling(approved=True, reach=reach))


def _deny(given: Given) -> Done:
    number, reason = _number(given.command.rest)
    return _rule(given, number, Ruling(approved=False, reason=reason))


def _number(text: str) -> tuple[int | None, str]:
    """The number that `text` begins with, and the rest of it."""
    found = NUMBER.match(text)
    if found is None:
        return None, text.strip()
    return int(found.group(1)), text[found.end() :].strip()


def _rule(given: Given, number: int | None, ruling: Ruling) -> Done:
    prompt = _meant(given, number)
    if isinstance(prompt, Done):
        return prompt
    try:
        outcome = questions.rule(prompt, ruling, given.speaker, now=given.now)
    except (NotAllowed, NotYours) as error:
        return Done(str(error) or str(wording.NOT_YOURS), prompt)
    except UnknownPrompt:
        return Done(_("That can only be approved once: `/approve %(n)s`.") % {"n": prompt.pk})
    return Done(escape(outcome.say), prompt)


def _meant(given: Given, number: int | None) -> Prompt | Done:
    """The approval a command is about: the numbered one, the quoted one, or the only open one."""
    if number is not None:
        found = questions.approval(number, given.lane)
        return found or Done(_("There is no approval #%(n)s here.") % {"n": number})
    quoted = questions.quoted(given.lane, given.event.reply_to) if given.event.reply_to else None
    if quoted is not None and quoted.is_approval:
        return quoted
    waiting = questions.approvals_at(given.lane)
    mine = [prompt for prompt in waiting if questions.may_answer(prompt, given.speaker)]
    if len(mine) == 1:
        return _unless_newer(given, mine[0])
    if not mine:
        return Done(_("Nothing waits for an approval here."))
    lines = [f"- `#{prompt.pk}` {escape(prompt.what.summary)}" for prompt in mine]
    which = _("Several operations wait. Say which, for example `/approve %(n)s`:")
    return Done("\n".join([which % {"n": mine[0].pk}, "", *lines]))


def _unless_newer(given: Given, prompt: Prompt) -> Prompt | Done:
    """A command without a number says nothing about what came up after it was written."""
    if given.event.sent_at + SECOND > questions.shown_at(prompt):
        return prompt
    words = _("Approval #%(n)s came up after you wrote that. Read it; then say `/approve %(n)s`.")
    return Done(words % {"n": prompt.pk})


def _whoami(given: Given) -> Done:
    source, conversation = given.event.source, given.conversation
    lines = [
        f"{source.platform}: `{source.user_id}`",
        _("chat: `%(id)s`") % {"id": source.chat_id},
        _("conversation: `%(key)s`") % {"key": conversation.key},
    ]
    return Done("\n".join(f"- {line}" for line in lines))


HANDLERS: dict[str, Callable[[Given], Done]] = {
    "help": _help,
    "status": _status,
    "new": _new,
    "stop": _stop,
    "skip": _skip,
    "approve": _approve,
    "deny": _deny,
    "whoami": _whoami,
}
