"""Commands that say something to the agent, each in its own way ([T2], [T5])."""

from dataclasses import replace

from django.utils.translation import gettext as _

from gateway import beginning, sessions, turns, wording
from gateway.handlers.given import Done, Given
from gateway.rules import BusyMode
from gateway.states import TurnState


def queue(given: Given) -> Done:
    """Let the agent have something next, whatever the conversation usually does."""
    return _say(given, BusyMode.QUEUE, _("Say what: `/queue and then write the tests`."))


def steer(given: Given) -> Done:
    """Give something to the running turn at its next model call."""
    return _say(given, BusyMode.STEER, _("Say what: `/steer use the other server`."))


def _say(given: Given, mode: BusyMode, how: str) -> Done:
    words = wording.as_prompt(replace(given.event, text=given.command.rest))
    if not words.strip():
        return Done(how)
    return _done(given, words, mode)


def _done(given: Given, words: str, mode: BusyMode) -> Done:
    begun = beginning.begin(given.heard, words, mode, at_once=True)
    return Done("", turn=begun.turn, deeds=begun.deeds)


def retry(given: Given) -> Done:
    """Ask the last thing again, as if it had not been answered."""
    exchange = sessions.last_exchange(given.conversation)
    refusal = _not_theirs(given, exchange)
    if refusal or exchange is None:
        return Done(refusal or _("There is nothing to try again here."))
    sessions.take_back(exchange, now=given.now)
    return _done(given, exchange.said, BusyMode.QUEUE)


def undo(given: Given) -> Done:
    """Take the last thing and its answer out of what the agent remembers."""
    exchange = sessions.last_exchange(given.conversation)
    refusal = _not_theirs(given, exchange)
    if refusal or exchange is None:
        return Done(refusal or _("There is nothing to take back here."))
    sessions.take_back(exchange, now=given.now)
    words = _("Taken back, and the agent does not remember it: %(said)s\nWhat was done stays done.")
    return Done(words % {"said": wording.quoted(exchange.said)})


def _not_theirs(given: Given, exchange: sessions.Exchange | None) -> str:
    """Why nothing can be taken back; empty if it can."""
    if any(turn.state != TurnState.QUEUED for turn in turns.open_of(given.conversation.pk)):
        return _("Something is still open here. Wait for it, or `/stop` it first.")
    if exchange is not None and exchange.turn.sender_id != given.speaker.id:
        return _("The last thing here was said by %(who)s, so it is theirs to take back.") % {
            "who": wording.named(exchange.turn.sender_name)
        }
    return ""
