"""What runs here: what it is, stopping it, beginning anew."""

from django.utils.translation import gettext as _

from clarify import questions
from clarify.presenting import escape
from gateway import sessions, turns
from gateway.handlers.given import Done, Given
from gateway.models import Turn
from gateway.resets import EndReason
from gateway.states import OPEN, TurnState


def status(given: Given) -> Done:
    """What is running and waiting."""
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


def new(given: Given) -> Done:
    """End the session and begin another."""
    turns.stop(given.conversation, by=given.speaker, now=given.now)
    session = sessions.start_afresh(given.conversation, reason=EndReason.NEW, now=given.now)
    if title := " ".join(given.command.rest.split()):
        sessions.name(given.conversation, title)
    return Done(_("A new conversation begins (session %(n)s).") % {"n": session.number})


def stop(given: Given) -> Done:
    """End everything that is open ([T4])."""
    stopped = turns.stop(given.conversation, by=given.speaker, now=given.now)
    if not stopped:
        return Done(_("Nothing is running."))
    session = given.conversation.session
    if given.heard.rules.stop_suspends and session is not None:
        sessions.suspend(session, by="/stop", now=given.now)
        return Done(_("⏹ Stopped. Your next message begins a new session; `/resume` goes back."))
    return Done(_("⏹ Stopped."))
