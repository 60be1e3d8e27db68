"""Thirty people write at once; each message gets its streamed answer, once and in order."""

import re

import pytest

from tests.peers.model import Reply
from tests.peers.model.replies import last_user_text

pytestmark = pytest.mark.acceptance

CHATS = 30
CURSOR = "▉"


def streamed_echo(request):
    text = f"You said {last_user_text(request)}. " + "Let me tell you more about it. " * 8
    return Reply(text=text, chunks=12, delay_between=0.12)


def said_by(number):
    return [f"word-{number}-{place}" for place in range(2 + number % 2)]


def test_each_message_of_thirty_chats_gets_its_streamed_answer_once_and_in_order(
    stack, telegram, model, books, somebody
):
    model.script(streamed_echo)
    people = [somebody() for _ in range(CHATS)]
    for place in range(3):
        for number, person in enumerate(people):
            for word in said_by(number)[place : place + 1]:
                person.says(word)

    for number, person in enumerate(people):
        person.sees(f"You said {said_by(number)[-1]}.", within=60)
    books.wait_until_settled(telegram)

    for number, person in enumerate(people):
        answered = re.findall(r"word-\d+-\d+", " ".join(person.texts))
        assert answered == said_by(number)
        assert all(text.endswith("more about it.") for text in person.texts)
    streamed = [p for p in people if any(CURSOR in text for text in shown_to(p, telegram))]
    assert len(streamed) >= CHATS // 2


def shown_to(person, telegram):
    """Everything that was ever shown in a chat, what was edited away included."""
    return [call.params.get("text", "") for call in telegram.calls.of(chat=person.id)]
