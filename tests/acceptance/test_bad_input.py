"""What nobody meant to send, and settings that are wrong: a clear word, and no silence."""

import pytest

from tests.acceptance.books import Books
from tests.acceptance.page import Page
from tests.acceptance.people import Person
from tests.peers.telegram import TelegramPeer

pytestmark = pytest.mark.acceptance
GARBAGE = [
    {"message": {"message_id": 1}},
    {"message": {"message_id": "x", "chat": 5, "from": [], "date": "soon", "text": 7}},
    {"message": None},
    {"callback_query": {"id": "1", "data": None}},
    {"something_from_the_future": {"a": [1, {"b": None}]}},
    {"edited_message": {"chat": {"id": 0}}},
    {},
]


def test_updates_that_make_no_sense_are_passed_by(telegram, stack, books, person):
    for update in GARBAGE:
        telegram.push(update)
    person.says("still there?")

    person.sees("You said: still there?")
    books.wait_until_settled(telegram)
    assert person.texts == ["You said: still there?"]


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("a\x00b", "ab"),
        ("half \ud83d a pair", "half"),
        ("\u202eright to left\u2069 <b>&amp;</b> *_[x](y)", "right to left"),
        ("👩‍👩‍👧‍👦" * 200, "👩‍👩‍👧‍👦"),
    ],
)
def test_a_text_that_is_hard_to_store_or_show_is_answered(
    telegram, stack, books, person, said, heard
):
    person.says(said)

    assert heard in person.sees("You said:").text
    books.wait_until_settled(telegram)
    assert len(person.texts) == 1


def test_a_megabyte_is_answered_in_parts_and_in_order(telegram, stack, model, books, person):
    words = [f"w{number:06d}" for number in range(125_000)]
    person.says(" ".join(words))

    person.sees(words[-1], within=60)
    books.wait_until_settled(telegram, within=120)
    said = " ".join(person.texts).removeprefix("You said: ")
    assert said.split() == words


def test_an_update_that_comes_twice_is_answered_once(telegram, stack, books, person):
    person.says("once")
    person.sees("You said: once")
    number = telegram.updates._next_id - 1
    message = next(m for m in telegram.messages(person.id) if not m.by_bot)
    raw = {
        "message": {
            "message_id": message.message_id,
            "from": {"id": person.id, "is_bot": False, "first_name": "P"},
            "chat": {"id": person.id, "type": "private"},
            "date": 1_790_000_000,
            "text": "once",
        }
    }
    telegram.push(raw, update_id=number)
    telegram.push(raw)
    person.says("next")

    person.sees("You said: next")
    books.wait_until_settled(telegram)
    assert person.texts == ["You said: once", "You said: next"]


def test_in_a_group_only_a_message_that_means_the_bot_is_answered(telegram, stack, books, person):
    group = -70_000
    telegram.say("just between us", chat=group, user=person.id)
    telegram.say("@hermes_peer_bot are you there?", chat=group, user=person.id)

    telegram.wait_for(lambda: telegram.from_bot(group))
    books.wait_until_settled(telegram)
    [answer] = telegram.from_bot(group)
    assert "are you there?" in answer.text
    assert books.rows(
        "SELECT decision, reason FROM gateway_inboundevent WHERE text = ?", "just between us"
    ) == [("ignored", "a group message that does not mention us")]


def test_a_model_that_refuses_or_breaks_is_told_in_one_line(telegram, stack, books, somebody):
    for failure in ("401", "400", "cut_mid_stream"):
        person = somebody()
        person.says(f"fail {failure}")
        person.sees("⚠️", within=60)
        person.says("and now?")
        person.sees("You said: and now?")
        books.wait_until_settled(telegram)

        assert len(person.texts) == 2, person.texts


def test_strangers_are_told_once_and_reach_nobody(make_stack, stack_db, model):
    with TelegramPeer() as telegram:
        friend, stranger = Person(telegram), Person(telegram)
        env = {
            "TELEGRAM_BOT_TOKEN": telegram.token,
            "TELEGRAM_API_BASE_URL": telegram.url,
            "TELEGRAM_ALLOWED_USERS": str(friend.id),
            "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",  # nobody is there
            "OPENAI_API_KEY": "nothing",
            "HERMES_MODEL": "peer",
        }
        stack = make_stack(env)
        for number in range(3):
            stranger.says(f"let me in {number}")
        telegram.say("@hermes_peer_bot me too", chat=-70_001, user=stranger.id)
        friend.says("hello")

        line = friend.sees("⚠️", within=60)
        Books(stack).wait_until_settled(telegram)
        assert "model" in line.text
        assert len(friend.texts) == 1
        assert len(stranger.texts) == 1
        assert str(stranger.id) in stranger.texts[0]
        assert telegram.from_bot(-70_001) == []


@pytest.mark.proves("I4")
async def test_a_wrong_token_is_said_where_staff_look_and_the_other_accounts_go_on(
    make_stack, stack_db
):
    with TelegramPeer() as telegram:
        env = {
            "TELEGRAM_BOT_TOKEN": "123456789:AAWrongTokenThatNobodyEverGaveOut00",
            "TELEGRAM_API_BASE_URL": telegram.url,
        }
        stack = make_stack(env)
        account = "FROM gateway_account WHERE slug = 'telegram'"
        Books(stack).wait_for(f"SELECT state = 'auth_failed' {account}")
        error = Books(stack).value(f"SELECT last_error {account}")
        async with Page(stack) as page:
            await page.say("hello")
            answer = await page.sees("final", tick="delivered")

    assert "You said: hello" in answer["source"]
    assert "token" in error
    assert "AAWrong" not in error + stack.logs("gateway")
