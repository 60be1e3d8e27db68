"""What is said while a turn runs reaches the agent as the chat wants it, whoever dies meanwhile."""

import pytest

from tests.peers.model import ModelPeer, Reply, ToolCall

pytestmark = pytest.mark.acceptance
COLLECT = (
    "from gateway.models import ChatPolicy;"
    "ChatPolicy.objects.create(account='telegram', chat_id='{chat}', busy='collect')"
)


def slow_worker(request) -> Reply:
    """Takes three seconds to decide for a tool, and repeats what it was told when that is done."""
    said = [message["content"] for message in request["messages"] if message["role"] == "user"]
    if request["messages"][-1]["role"] == "user" and said[-1] == "work":
        note = ToolCall("note", {"text": "begun"})
        return Reply(tool_calls=[note], delay_first=3.0)
    return Reply(text="Heard: " + " / ".join(said))


@pytest.fixture(scope="module")
def model(stack_db):
    with ModelPeer(script=slow_worker) as peer:
        yield peer


def begins(books, person):
    person.says("work")
    books.wait_for(
        "SELECT t.id FROM gateway_turn t JOIN gateway_conversation c ON c.id = t.conversation_id"
        " WHERE c.chat_id = ? AND t.state = 'running'",
        str(person.id),
    )


def stored(books, words):
    books.wait_for("SELECT id FROM gateway_turn WHERE prompt LIKE ?", f"%{words}%")


@pytest.mark.proves("T2")
def test_what_steers_a_turn_reaches_it_though_its_worker_is_killed(stack, telegram, books, person):
    begins(books, person)
    person.says("/steer the other one")
    stored(books, "the other one")
    stack.kill9("worker")

    person.sees("Heard: work / the other one")
    books.wait_until_settled(telegram)
    assert [text for text in person.heard if text.startswith("Heard")] == [
        "Heard: work / the other one"
    ]


@pytest.mark.proves("T2")
def test_what_is_collected_is_one_turn_though_everything_is_killed(stack, telegram, books, person):
    stack.manage("shell", "-c", COLLECT.format(chat=person.id))
    begins(books, person)
    for words in ("first this", "then that"):
        person.says(words)
        stored(books, words)
    stack.kill9("worker")
    stack.kill9("gateway")

    person.sees("Heard: work / first this\n\nthen that")
    books.wait_until_settled(telegram)
    assert len([text for text in person.heard if text.startswith("Heard")]) == 2
