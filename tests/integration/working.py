"""A person says something in a chat, and a worker takes it up."""

from django.db import transaction
from django.utils import timezone

from gateway import execution, turns
from gateway.agents.runtime import AgentRuntime
from gateway.models import Conversation, Turn


def say(chat: Conversation, text: str) -> Turn:
    """Ada begins a turn."""
    new = turns.NewTurn(
        conversation=chat, prompt=text, sender_id="7", sender_name="Ada", reply_to="41"
    )
    with transaction.atomic():
        return turns.enqueue(new, now=timezone.now())


def work(chat: Conversation, runtime: AgentRuntime, owner: str = "host/1/1") -> Turn:
    """A worker takes what is next and sees it through; the turn as it is then."""
    turn = turns.claim(chat.pk, owner, now=timezone.now(), capacity=9)
    assert turn is not None
    execution.run(turn, runtime)
    return Turn.objects.get(pk=turn.pk)
