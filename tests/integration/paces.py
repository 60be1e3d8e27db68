"""Turns taken step by step, without an agent."""

from gateway import turns
from gateway.agents import history

ANSWER = history.assistant_message("Done.")


def claim(turn, clock, owner="host/1/1", capacity=9):
    """A worker takes what is next in the conversation of `turn`; None if it gets nothing."""
    return turns.claim(turn.conversation_id, owner, now=clock(), capacity=capacity)


def end(turn, clock, text="Done.", joined=()):
    """The running turn is answered."""
    said = [history.user_message(turn.prompt), history.assistant_message(text)]
    turns.finish(turn, text, said, {}, now=clock(), joined=joined)
