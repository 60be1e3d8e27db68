"""Work that goes on by itself: scheduled jobs, and tasks in the background ([T6], [C1])."""

from gateway.handlers.given import Done, Given
from gateway.schedules import chat
from gateway.schedules.asking import who_said
from gateway.schedules.chat import Wish


def _wish(given: Given) -> Wish:
    asker = who_said(given.event.source, language=given.conversation.language)
    return Wish(given.command.rest, asker, given.speaker, given.now)


def cron(given: Given) -> Done:
    """Make, list and change jobs of one's own."""
    return Done(chat.cron(_wish(given)))


def background(given: Given) -> Done:
    """Have something done beside the conversation."""
    return Done(chat.start(_wish(given)))


def tasks(given: Given) -> Done:
    """See one's tasks, and end them."""
    return Done(chat.tasks(_wish(given)))
