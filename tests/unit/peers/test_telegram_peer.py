"""The Telegram peer as python-telegram-bot, unmodified, sees it."""

import asyncio

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, ReplyParameters
from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken

from tests.peers.telegram import PERSON, TelegramPeer
from tests.unit.peers.conftest import client_of

GROUP = -1001234567890


def keyboard(*labels: str) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup(
        [[InlineKeyboardButton(label, callback_data=f"data-{label}")] for label in labels]
    )


async def test_the_client_learns_who_it_is(peer: TelegramPeer, bot: Bot) -> None:
    assert (bot.username, bot.bot.is_bot) == ("hermes_peer_bot", True)


async def test_what_a_person_says_comes_out_of_a_long_poll(peer: TelegramPeer, bot: Bot) -> None:
    polling = asyncio.create_task(bot.get_updates(timeout=20))
    await peer.until(lambda: peer.updates.is_polled)
    said = peer.say("/start now @hermes_peer_bot", thread=None)

    (update,) = await polling

    assert update.message.text == said["text"]
    assert update.message.chat.id == update.effective_user.id == PERSON
    assert [e.type for e in update.message.entities] == ["bot_command", "mention"]


async def test_an_update_comes_again_until_its_offset_is_confirmed(
    peer: TelegramPeer, bot: Bot
) -> None:
    peer.say("one")
    peer.say("two")

    first = await bot.get_updates(limit=1)
    again = await bot.get_updates()
    rest = await bot.get_updates(offset=first[0].update_id + 1)
    nothing = await bot.get_updates(offset=rest[0].update_id + 1)

    texts = [[u.message.text for u in batch] for batch in (first, again, rest, nothing)]
    assert texts == [["one"], ["one", "two"], ["two"], []]
    assert peer.updates.confirmed == 2


async def test_a_negative_offset_keeps_only_the_last(peer: TelegramPeer, bot: Bot) -> None:
    for text in ("one", "two", "three"):
        peer.say(text)

    last = await bot.get_updates(offset=-1)

    assert [u.message.text for u in last] == ["three"]
    assert len(await bot.get_updates()) == 1


async def test_a_second_poller_ends_the_first_with_a_conflict(peer: TelegramPeer, bot: Bot) -> None:
    first = asyncio.create_task(bot.get_updates(timeout=20))
    await peer.until(lambda: peer.updates.is_polled)
    async with client_of(peer) as other:
        second = asyncio.create_task(other.get_updates(timeout=20))
        with pytest.raises(Conflict):
            await first
        peer.say("for the second")

        assert [u.message.text for u in await second] == ["for the second"]


async def test_a_kind_not_asked_for_is_not_queued(peer: TelegramPeer, bot: Bot) -> None:
    await bot.get_updates(allowed_updates=["message"])
    peer.edit_said(peer.say("helo")["message_id"], "hello")

    assert [u.message.text for u in await bot.get_updates()] == ["helo"]


async def test_a_poll_without_news_ends_empty(peer: TelegramPeer, bot: Bot) -> None:
    assert await bot.get_updates(timeout=1) == ()


async def test_a_button_press_is_answered_and_the_keyboard_taken_away(
    peer: TelegramPeer, bot: Bot
) -> None:
    peer.say("hello")
    sent = await bot.send_message(PERSON, "Deploy?", reply_markup=keyboard("Yes", "No"))
    assert peer.messages(PERSON)[-1].labels == ("Yes", "No")
    callback_id = peer.press(PERSON, sent.message_id, "Yes")

    query = (await bot.get_updates())[-1].callback_query
    await query.answer("Noted", show_alert=True)
    await query.edit_message_text("Deploy? Yes.")

    (answer,) = peer.answers_to(callback_id)
    assert (query.data, answer.text, answer.alert) == ("data-Yes", "Noted", True)
    shown = peer.from_bot(PERSON)[-1]
    assert (shown.text, shown.labels, shown.edited) == ("Deploy? Yes.", (), True)


async def test_only_a_button_that_is_there_can_be_pressed_unless_forged(
    peer: TelegramPeer, bot: Bot
) -> None:
    peer.say("hello")
    sent = await bot.send_message(PERSON, "Deploy?", reply_markup=keyboard("Yes"))

    with pytest.raises(LookupError):
        peer.press(PERSON, sent.message_id, "Perhaps")
    peer.press(PERSON, sent.message_id, "other-data", forged=True)
    assert (await bot.get_updates())[-1].callback_query.data == "other-data"


async def test_a_press_answered_too_late_is_refused() -> None:
    with TelegramPeer(callback_seconds=0) as peer:
        async with client_of(peer) as bot:
            peer.say("hello")
            sent = await bot.send_message(PERSON, "Deploy?", reply_markup=keyboard("Yes"))
            callback_id = peer.press(PERSON, sent.message_id, "Yes")

            with pytest.raises(BadRequest, match="Query is too old"):
                await bot.answer_callback_query(callback_id)


async def test_editing_to_the_same_is_refused_and_a_missing_message_is_named(
    peer: TelegramPeer, bot: Bot
) -> None:
    peer.say("hello")
    sent = await bot.send_message(PERSON, "Same", reply_markup=keyboard("Yes"))

    with pytest.raises(BadRequest, match="Message is not modified"):
        await sent.edit_text("Same", reply_markup=keyboard("Yes"))
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await bot.edit_message_text("x", chat_id=PERSON, message_id=999)
    await sent.edit_reply_markup(None)
    with pytest.raises(BadRequest, match="Message is not modified"):
        await sent.edit_reply_markup(None)
    await sent.delete()
    with pytest.raises(BadRequest, match="Message to delete not found"):
        await sent.delete()
    assert peer.from_bot(PERSON) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("   \n ", "message text is empty"),
        ("a" * 4097, "message is too long"),
        ("x" * 4095 + "😀😀", "message is too long"),
    ],
)
async def test_a_text_that_does_not_fit_is_refused(
    peer: TelegramPeer, bot: Bot, text: str, words: str
) -> None:
    peer.say("hello")

    with pytest.raises(BadRequest, match=f"(?i){words}"):
        await bot.send_message(PERSON, text)


async def test_4096_characters_fit(peer: TelegramPeer, bot: Bot) -> None:
    peer.say("hello")

    await bot.send_message(PERSON, "😀" * 4096)

    assert len(peer.from_bot(PERSON)[0].text) == 4096


async def test_a_chat_that_never_spoke_is_not_found(peer: TelegramPeer, bot: Bot) -> None:
    with pytest.raises(BadRequest, match="Chat not found"):
        await bot.send_message(4242, "hello")


async def test_callback_data_holds_64_bytes(peer: TelegramPeer, bot: Bot) -> None:
    peer.say("hello")
    for size, fits in ((64, True), (65, False)):
        button = InlineKeyboardButton("Yes", callback_data="d" * size)
        sending = bot.send_message(PERSON, "?", reply_markup=InlineKeyboardMarkup([[button]]))
        if fits:
            await sending
        else:
            with pytest.raises(BadRequest, match=r"(?i)button_data_invalid"):
                await sending


async def test_a_reply_needs_its_message_unless_it_says_otherwise(
    peer: TelegramPeer, bot: Bot
) -> None:
    asked = peer.say("hello")["message_id"]
    await bot.send_message(PERSON, "yes?", reply_parameters=ReplyParameters(asked))

    with pytest.raises(BadRequest, match="Message to be replied not found"):
        await bot.send_message(PERSON, "no?", reply_parameters=ReplyParameters(99))
    lenient = ReplyParameters(99, allow_sending_without_reply=True)
    await bot.send_message(PERSON, "anyway", reply_parameters=lenient)

    assert [m.reply_to for m in peer.from_bot(PERSON)] == [asked, None]


async def test_topics_are_kept_apart_and_general_has_no_number(
    peer: TelegramPeer, bot: Bot
) -> None:
    topic = peer.add_topic(GROUP, "Deploys")
    peer.say("in here", GROUP, thread=topic)

    sent = await bot.send_message(GROUP, "yes", message_thread_id=topic)
    for wrong in (1, topic + 50):
        with pytest.raises(BadRequest, match="Message thread not found"):
            await bot.send_message(GROUP, "no", message_thread_id=wrong)
    await bot.send_chat_action(GROUP, "typing", message_thread_id=1)

    assert (sent.is_topic_message, sent.message_thread_id) == (True, topic)
    assert [m.thread for m in peer.messages(GROUP)] == [topic, topic]
    assert [(seen.chat, seen.thread) for seen in peer.typing_seen] == [(GROUP, 1)]


async def test_a_blocked_bot_is_forbidden_until_the_person_writes_again(
    peer: TelegramPeer, bot: Bot
) -> None:
    peer.say("hello")
    peer.block(PERSON)

    with pytest.raises(Forbidden, match="blocked by the user"):
        await bot.send_message(PERSON, "hello?")
    assert (await bot.get_updates())[-1].my_chat_member.new_chat_member.status == "kicked"
    peer.say("back again")
    await bot.send_message(PERSON, "welcome back")


async def test_a_migrated_group_gives_its_new_id(peer: TelegramPeer, bot: Bot) -> None:
    peer.say("hello", -500)
    new_chat = peer.migrate(-500)

    with pytest.raises(ChatMigrated) as caught:
        await bot.send_message(-500, "hello")
    assert caught.value.new_chat_id == new_chat
    await bot.send_message(new_chat, "hello")
    assert [u.message.migrate_to_chat_id for u in await bot.get_updates()] == [
        None,
        new_chat,
        None,
    ]


async def test_a_wrong_token_is_refused(peer: TelegramPeer) -> None:
    for token in ("123456789:wrong", "no-colon"):
        with pytest.raises(InvalidToken):
            async with client_of(peer, token=token):
                pass


async def test_entities_are_counted_in_utf16_units(peer: TelegramPeer, bot: Bot) -> None:
    peer.say("hello")

    await bot.send_message(PERSON, "😀bold", entities=[MessageEntity("bold", 2, 4)])
    with pytest.raises(BadRequest, match="in a middle of a utf-16 symbol"):
        await bot.send_message(PERSON, "😀bold", entities=[MessageEntity("bold", 1, 4)])

    assert peer.from_bot(PERSON)[0].entities == ({"type": "bold", "offset": 2, "length": 4},)


async def test_files_go_both_ways(peer: TelegramPeer, bot: Bot) -> None:
    peer.send_file(b"from the person", "notes.txt", caption="read this")
    got = (await bot.get_updates())[-1].message
    file = await bot.get_file(got.document.file_id)

    assert bytes(await file.download_as_bytearray()) == b"from the person"
    sent = await bot.send_document(PERSON, b"from the bot", filename="answer.txt", caption="done")
    await bot.send_photo(PERSON, b"\x89PNG...", filename="a.png", caption="a picture")
    assert peer.world.files[sent.document.file_id][1] == b"from the bot"
    assert [(m.file, m.text) for m in peer.from_bot(PERSON)] == [
        ("answer.txt", "done"),
        ("a.png", "a picture"),
    ]


async def test_an_upload_of_two_megabytes_passes(peer: TelegramPeer, bot: Bot) -> None:
    peer.say("hello")

    sent = await bot.send_document(PERSON, b"x" * 2_000_000, filename="big.bin")

    assert sent.document.file_size == 2_000_000


async def test_drafts_commands_reactions_and_webhook_words_are_understood(
    peer: TelegramPeer, bot: Bot
) -> None:
    said = peer.say("hello")["message_id"]

    await bot.delete_webhook(drop_pending_updates=False)
    assert (await bot.get_webhook_info()).pending_update_count == 1
    await bot.set_my_commands([("new", "Start afresh"), ("stop", "Stop")])
    assert [command.command for command in await bot.get_my_commands()] == ["new", "stop"]
    with pytest.raises(BadRequest, match=r"(?i)BOT_COMMAND_INVALID"):
        await bot.set_my_commands([("Not-Good", "x")])
    await bot.set_message_reaction(PERSON, said, "👀")
    await bot.send_message_draft(PERSON, 7, "Thinking about it")

    assert peer.messages(PERSON)[0].reactions == ("👀",)
    assert peer.world.chats[PERSON].draft == "Thinking about it"
