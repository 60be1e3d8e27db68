"""Slack, from the person's side: asked in a channel, everything dies, the press still counts."""

import pytest

from tests.acceptance.books import Books
from tests.peers.slack import APP_TOKEN, CHANNEL, DM, PERSON, TOKEN, Shown, SlackPeer
from tests.peers.slack.world import BOT_USER, TEAM

pytestmark = pytest.mark.acceptance
WITHIN = 90


@pytest.fixture(scope="module")
def slack(stack_db):
    with SlackPeer() as peer:
        peer.open_chat(DM)
        peer.open_chat(CHANNEL)
        yield peer


@pytest.fixture(scope="module")
def environment(slack) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "SLACK_API_BASE_URL": slack.url,
        "SLACK_ALLOWED_USERS": PERSON,
    }


def sees(slack: SlackPeer, chat: str, words: str) -> Shown:
    """Wait until the bot shows a message with these words; that message."""
    try:
        return slack.wait_for(
            lambda: next((one for one in slack.from_bot(chat) if words in one.text), None), WITHIN
        )
    except TimeoutError:
        shown = [one.text for one in slack.from_bot(chat)]
        raise AssertionError(f"{words!r} is not among {shown}") from None


@pytest.fixture(scope="module")
def story(stack, slack):
    """Asked in a thread and in a direct message; after a power cut one presses, one types."""
    books = Books(stack)
    root = slack.say(f"<@{BOT_USER}> ask: Which way in the channel? | Left | Right", CHANNEL)
    slack.say("ask: Which way at home? | Left | Right", DM)
    asked = {chat: sees(slack, chat, "Which way") for chat in (CHANNEL, DM)}
    books.wait_until_settled(slack)

    stack.kill9_all()
    stack.start()
    slack.press(CHANNEL, asked[CHANNEL].message_id, "Left")
    slack.say("2", DM)
    results = {chat: sees(slack, chat, "Result:") for chat in (CHANNEL, DM)}
    books.wait_until_settled(slack)
    return root["ts"], asked, results


@pytest.mark.proves("Q14", "Q2")
def test_a_question_in_a_channel_stands_in_a_thread_with_buttons(story):
    root, asked, _ = story

    assert asked[CHANNEL].labels == ("Left", "Right", "Other…", "Skip")
    assert (asked[CHANNEL].thread, asked[DM].thread) == (root, "")


@pytest.mark.proves("Q2", "Q27")
def test_the_answer_reaches_the_very_run_that_asked_and_its_result_the_same_thread(story):
    root, _, results = story

    said = {chat: shown.text.replace('": "', '":"') for chat, shown in results.items()}
    assert '"user_response":"Left"' in said[CHANNEL]
    assert '"user_response":"Right"' in said[DM]
    assert (results[CHANNEL].thread, results[DM].thread) == (root, "")


@pytest.mark.proves("Q0")
def test_each_turn_ran_once_in_the_workspace_it_came_from(story, books):
    turns = books.rows(
        "SELECT t.state, t.deaths, t.segment, c.scope_id FROM gateway_turn t"
        " JOIN gateway_conversation c ON c.id = t.conversation_id WHERE t.sender_id = ?",
        PERSON,
    )

    assert turns == [("finished", 0, 1, TEAM)] * 2


@pytest.mark.proves("Q5")
def test_the_questions_are_closed_where_they_stood(story, slack):
    _, asked, _ = story

    for chat, shown in asked.items():
        (now,) = [one for one in slack.from_bot(chat) if one.message_id == shown.message_id]
        assert (now.labels, now.edited) == ((), True)


def test_staff_read_a_name_and_nothing_was_told_twice(story, books, slack):
    names = books.rows("SELECT DISTINCT sender_name FROM gateway_turn WHERE sender_id = ?", PERSON)
    wanted = slack.world.users[PERSON]

    assert names == [(wanted,)]
    texts = [one.text for chat in (CHANNEL, DM) for one in slack.from_bot(chat)]
    assert len([text for text in texts if text.startswith("Result:")]) == 2


# --- what Slack has controls of its own for -------------------------------------------------------


class Somebody:
    """Another person, in their own direct message with the bot."""

    def __init__(self, slack: SlackPeer, stack, number: int) -> None:
        self.slack, self.id, self.chat = slack, f"U0OTHER{number:02}", f"D0OTHER{number:02}"
        stack.manage("allow", "add", "slack", self.id)
        slack.open_chat(self.chat)

    def says(self, text: str) -> None:
        self.slack.say(text, self.chat, self.id)

    def waits_for(self, matches) -> Shown:
        return self.slack.wait_for(
            lambda: next((one for one in self.slack.from_bot(self.chat) if matches(one)), None),
            WITHIN,
        )

    def presses(self, label: str, ticked: tuple[str, ...] = ()) -> None:
        shown = self.waits_for(lambda one: label in one.labels)
        self.slack.press(self.chat, shown.message_id, label, self.id, ticked=ticked)


@pytest.mark.proves("Q14", "Q13")
def test_boxes_are_ticked_and_own_words_typed_into_a_form(stack, slack, books):
    ada = Somebody(slack, stack, 1)
    ada.says("ask3")
    first = ada.waits_for(lambda one: "Production" in one.labels)
    ada.presses("Production")
    ada.waits_for(lambda one: "Browser" in one.labels)
    ada.presses("Submit", ticked=("Lint", "Browser"))
    ada.waits_for(lambda one: "Tonight" in one.labels)
    ada.presses("Other…")
    view = slack.wait_for(lambda: next(iter(slack.forms()), None), WITHIN)
    slack.submit(view, "after the match", ada.id)

    result = ada.waits_for(lambda one: one.text.startswith("Result:")).text
    books.wait_until_settled(slack)
    assert all(word in result for word in ("Production", "Lint", "Browser", "after the match"))
    assert "Unit" not in result
    (closed,) = [one for one in slack.from_bot(ada.chat) if one.message_id == first.message_id]
    assert closed.labels == ()
    assert len(slack.from_bot(ada.chat)) == 2  # the question and the result: no invitation to type


@pytest.mark.proves("Q15")
def test_another_person_who_presses_is_told_alone(stack, slack, books):
    ada, bob = Somebody(slack, stack, 2), Somebody(slack, stack, 3)
    root = slack.say(f"<@{BOT_USER}> ask: Whose turn? | Mine | Yours", CHANNEL, ada.id)
    asked = sees(slack, CHANNEL, "Whose turn?")
    books.wait_until_settled(slack)
    slack.press(CHANNEL, asked.message_id, "Mine", bob.id)

    whisper = slack.wait_for(lambda: next(iter(slack.whispers(bob.id)), None), WITHIN)
    assert (whisper.channel, whisper.thread) == (CHANNEL, root["ts"])
    assert slack.whispers(ada.id) == []
    (still,) = [one for one in slack.from_bot(CHANNEL) if one.message_id == asked.message_id]
    assert still.labels == asked.labels
