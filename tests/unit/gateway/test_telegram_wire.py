"""Raw Bot API updates, read into our words; the payloads stand in tests/payloads/telegram."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.messages import (
    Attachment,
    ButtonPress,
    ChatMoved,
    ChatType,
    EditedMessage,
    Ignored,
    Inbound,
    InboundMessage,
    Membership,
    Source,
)
from gateway.platforms.telegram import wire
from gateway.ports import BotIdentity

PAYLOADS = Path(__file__).parents[2] / "payloads" / "telegram"
ME = BotIdentity(user_id="123456789", user_name="gwbot")
SENT_AT = datetime(2026, 1, 1, tzinfo=UTC)
SUPERGROUP, FORUM = "-1001500000001", "-1001500000002"


def payload(name: str) -> dict[str, Any]:
    return json.loads((PAYLOADS / f"{name}.json").read_text())


def read(update: dict[str, Any], me: BotIdentity = ME) -> Inbound:
    (event,) = wire.normalise(update, me, "main")
    return event


def message(name: str) -> InboundMessage:
    event = read(payload(name))
    assert isinstance(event, InboundMessage), event
    return event


def reason(name: str) -> str:
    event = read(payload(name))
    assert isinstance(event, Ignored), event
    return event.reason


def update_with(text: str, entities: list[Any], **fields: Any) -> dict[str, Any]:
    update = payload("group_mention")
    update["message"] |= {"text": text, "entities": entities, **fields}
    return update


def said(text: str, *entities: Any, **fields: Any) -> InboundMessage:
    event = read(update_with(text, list(entities), **fields))
    assert isinstance(event, InboundMessage), event
    return event


def entity(kind: str, offset: Any, length: Any) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length}


@pytest.mark.proves("S1")
def test_a_private_message_is_read_whole():
    expected = InboundMessage(
        source=Source(
            platform="telegram",
            account="main",
            chat_type=ChatType.DM,
            chat_id="111111111",
            user_id="111111111",
            user_name="Ada Byron",
            language="en",
            message_id="31",
        ),
        event_id="840000101",
        text="good morning",
        sent_at=SENT_AT,
    )

    assert expected == message("private_text")


def test_a_button_press_is_read_whole():
    expected = ButtonPress(
        source=Source(
            platform="telegram",
            account="main",
            chat_type=ChatType.GROUP,
            chat_id=FORUM,
            thread_id="7",
            user_id="111111111",
            user_name="Ada Byron",
            language="en",
            message_id="77",
        ),
        event_id=str(payload("button_press")["update_id"]),
        interaction_id="477247110523110337",
        data="p:7Fq3x9",
        message_id="77",
    )

    assert expected == read(payload("button_press"))


def test_a_press_under_a_message_out_of_reach_names_the_chat_and_no_topic():
    press = read(payload("button_press_out_of_reach"))

    assert isinstance(press, ButtonPress)
    assert (press.source.chat_id, press.source.thread_id, press.message_id) == (FORUM, "", "12")


@pytest.mark.proves("S1")
@pytest.mark.parametrize(
    ("name", "chat_type"),
    [
        ("private_text", ChatType.DM),
        ("group_command_for_other", ChatType.GROUP),
        ("group_mention", ChatType.GROUP),
        ("forum_topic", ChatType.GROUP),
        ("channel_post", ChatType.CHANNEL),
    ],
)
def test_every_kind_of_chat_has_its_type(name: str, chat_type: ChatType):
    assert chat_type == message(name).source.chat_type


@pytest.mark.parametrize(
    ("name", "thread_id"),
    [
        ("private_text", ""),
        ("group_reply_chain", ""),
        ("forum_topic", "7"),
        ("forum_general", "1"),
        ("forum_general_numbered", "1"),
        ("forum_general_reply_chain", "1"),
        ("private_topic", "28"),
    ],
)
def test_only_a_topic_is_a_thread_and_the_general_topic_is_always_one(name: str, thread_id: str):
    assert thread_id == message(name).source.thread_id


def test_a_message_in_a_topic_does_not_answer_the_message_that_opened_it():
    in_topic = message("forum_topic")

    assert (in_topic.reply_to, in_topic.mentions_bot) == ("", False)


def test_a_topic_whose_first_message_is_an_ordinary_one_is_no_answer_to_it_either():
    update = payload("forum_topic")
    opening = update["message"]["reply_to_message"]
    del opening["forum_topic_created"]
    opening["text"] = "a topic that began as a message"
    event = read(update)

    assert isinstance(event, InboundMessage)
    assert (event.reply_to, event.mentions_bot) == ("", False)


def test_an_answer_names_the_message_it_quotes():
    assert message("group_reply_chain").reply_to == "402"
    assert not message("group_reply_chain").mentions_bot


@pytest.mark.proves("A2")
@pytest.mark.parametrize(
    "name",
    ["group_mention", "group_text_mention", "group_command_for_us", "group_reply_to_bot"],
)
def test_mention_command_suffix_and_reply_address_the_bot(name: str):
    assert message(name).mentions_bot
    assert not message(name).command_for_other


def test_our_name_is_taken_off_a_command():
    assert message("group_command_for_us").text == "/status now"


def test_a_command_for_another_bot_is_marked_and_left_as_it_is():
    event = message("group_command_for_other")

    assert event.command_for_other
    assert not event.mentions_bot
    assert event.text == "/new@otherbot"


def test_the_case_of_our_name_does_not_matter():
    event = said("/STOP@GWBOT", entity("bot_command", 0, 11))

    assert (event.mentions_bot, event.command_for_other, event.text) == (True, False, "/STOP")


def test_a_command_with_our_name_inside_the_text_is_a_mention_and_the_text_stays():
    event = said("try /new@gwbot", entity("bot_command", 4, 10))

    assert (event.mentions_bot, event.text) == (True, "try /new@gwbot")


def test_a_command_with_another_name_inside_the_text_is_just_words():
    event = said("try /new@otherbot", entity("bot_command", 4, 13))

    assert (event.mentions_bot, event.command_for_other) == (False, False)


def test_a_command_that_names_nobody_addresses_nobody():
    event = said("/new", entity("bot_command", 0, 4))

    assert (event.mentions_bot, event.command_for_other) == (False, False)


def test_a_bot_without_a_name_cannot_tell_whose_command_it_is():
    update = update_with("/new@otherbot", [entity("bot_command", 0, 13)])
    event = read(update, BotIdentity(user_id="123456789", user_name=""))

    assert isinstance(event, InboundMessage)
    assert not event.command_for_other


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`@gwbot`", [entity("code", 0, 8)]),
        ("https://x.com/@gwbot", [entity("url", 0, 20)]),
        ("@gwbot2 hi", [entity("mention", 0, 7)]),
        ("mail a@gwbot.com", [entity("email", 5, 11)]),
        ("@gwbot without an entity", []),
        ("@gwbot2 hi", [entity("mention", 0, 6.0)]),
    ],
)
def test_a_name_that_is_no_mention_entity_wakes_nobody(text: str, found: list[Any]):
    assert not said(text, *found).mentions_bot


@pytest.mark.parametrize(
    ("offset", "length"),
    [(0, 100), (-1, 2), (0, 0), (1, 2**70), (True, 1), ("0", 6), (None, None), (0.0, 6.0)],
)
def test_an_entity_outside_the_text_is_no_entity(offset: Any, length: Any):
    event = said("@gwbot", entity("mention", offset, length))

    assert (event.text, event.mentions_bot) == ("@gwbot", False)


def test_an_entity_that_cuts_a_surrogate_pair_is_no_entity():
    assert not said("😀@gwbot", entity("mention", 1, 7)).mentions_bot
    assert said("😀@gwbot", entity("mention", 2, 6)).mentions_bot


def test_an_entity_that_is_no_object_is_passed_over():
    assert said("@gwbot", None, 7, "x", entity("mention", 0, 6)).mentions_bot


def test_text_comes_in_clean():
    assert said("a\udfa9b\x00\ud83c\udfa9").text == "a�b🎩"


def test_an_anonymous_administrator_is_their_group_and_no_bot():
    source = message("anonymous_admin").source

    assert (source.user_id, source.user_name, source.is_bot) == (SUPERGROUP, "Harbour crew", False)


def test_someone_who_speaks_as_a_channel_is_that_channel():
    source = message("sent_as_channel").source

    assert (source.user_id, source.is_bot) == ("-1001500000003", False)


def test_a_channel_post_is_the_channels_own_word():
    assert message("channel_post").source.user_id == "-1001500000003"


def test_another_bot_is_known_as_one():
    assert message("from_another_bot").source.is_bot


@pytest.mark.proves("A3")
def test_our_own_messages_are_passed_over():
    update = payload("private_text")
    update["message"]["from"]["id"] = int(ME.user_id)
    edited = payload("edited_message")
    edited["edited_message"]["from"]["id"] = int(ME.user_id)

    assert read(update).reason == "our own message"
    assert read(edited).reason == "an edit of our own message"


@pytest.mark.parametrize(
    ("name", "attachment"),
    [
        (
            "photo_with_caption",
            Attachment(
                kind="photo",
                file_id="AgACAgIAAxkBAAIBphoto-y",
                mime_type="image/jpeg",
                size=98120,
            ),
        ),
        (
            "document",
            Attachment(
                kind="document",
                file_id="BQACAgIAAxkBdoc",
                name="tide tables.pdf",
                mime_type="application/pdf",
                size=184220,
            ),
        ),
        (
            "voice",
            Attachment(
                kind="voice", file_id="AwACAgIAAxkBvoice", mime_type="audio/ogg", size=15233
            ),
        ),
        (
            "audio",
            Attachment(
                kind="audio",
                file_id="CQACAgIAAxkBaudio",
                name="shanty.mp3",
                mime_type="audio/mpeg",
                size=2904400,
            ),
        ),
        (
            "video",
            Attachment(
                kind="video",
                file_id="BAACAgIAAxkBvideo",
                name="sail.mp4",
                mime_type="video/mp4",
                size=904400,
            ),
        ),
        (
            "animation",
            Attachment(
                kind="video",
                file_id="CgACAgIAAxkBanim",
                name="wave.mp4",
                mime_type="video/mp4",
                size=40210,
            ),
        ),
        (
            "sticker",
            Attachment(kind="sticker", file_id="CAACAgIAAxkBsticker", name="⛵", size=20110),
        ),
    ],
)
def test_a_file_comes_once_with_what_is_known_of_it(name: str, attachment: Attachment):
    assert (attachment,) == message(name).attachments


def test_a_caption_is_the_text_and_can_mention():
    event = message("photo_with_caption")

    assert (event.text, event.mentions_bot) == ("what is this, @gwbot?", True)


def test_a_part_of_an_album_names_the_album():
    event = message("album_photo")

    assert (event.group_id, event.text) == ("13912345678901234", "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("location", "Location: 53.5413, 9.9841"),
        (
            "venue",
            "Venue: Elbphilharmonie, Platz der Deutschen Einheit 4 (53.5413, 9.9841)",
        ),
        ("contact", "Contact: Grace Hopper, +4940123456"),
        ("poll", "Poll: Sail today?\n- Yes\n- No"),
    ],
)
def test_what_is_neither_words_nor_file_is_put_into_words(name: str, text: str):
    assert (text, ()) == (message(name).text, message(name).attachments)


@pytest.mark.proves("Q15")
def test_words_that_an_inline_bot_wrote_are_marked_and_neither_command_nor_mention():
    bot = {"id": 5, "is_bot": True, "first_name": "Cats", "username": "cats]bot"}
    event = said("/approve@gwbot 17", entity("bot_command", 0, 14), via_bot=bot)

    assert event.text == "[written by the bot cats)bot]\n/approve@gwbot 17"
    assert not event.mentions_bot


def test_forwarded_words_are_marked_and_neither_command_nor_mention():
    event = message("forwarded")

    assert event.text == "[forwarded from Grace Hopper)]\n/stop @gwbot"
    assert not event.mentions_bot


@pytest.mark.parametrize("name", ["group_became_supergroup", "supergroup_was_group"])
def test_both_ends_of_a_migration_say_the_same_move(name: str):
    expected = ChatMoved(
        platform="telegram",
        account="main",
        event_id=str(payload(name)["update_id"]),
        old_chat_id="-50100200",
        new_chat_id="-1001500000009",
    )

    assert expected == read(payload(name))


@pytest.mark.parametrize(
    ("name", "is_member", "chat_id"),
    [
        ("bot_added", True, FORUM),
        ("bot_restricted", True, SUPERGROUP),
        ("bot_blocked", False, "111111111"),
    ],
)
def test_coming_and_going_of_the_bot_is_membership(name: str, is_member: bool, chat_id: str):
    event = read(payload(name))

    assert isinstance(event, Membership)
    assert (is_member, chat_id, "") == (
        event.is_member,
        event.source.chat_id,
        event.source.thread_id,
    )


def test_an_edit_names_the_message_and_the_new_words():
    event = read(payload("edited_message"))

    assert isinstance(event, EditedMessage)
    assert (event.source.message_id, event.text) == ("31", "good evening")


@pytest.mark.proves("A3", "Q25")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("live_location_moved", "an edit that left no words"),
        ("button_press_inline", "a button on an inline message"),
        ("reaction", "a reaction"),
        ("member_joined", "service message: new_chat_members"),
        ("forum_topic_created", "service message: forum_topic_created"),
        ("business_message", "update of a kind we do not use: business_message"),
        ("story", "no words and no files: story"),
        ("channel_direct_message", "a channel's direct messages"),
    ],
)
def test_what_is_not_for_us_is_passed_over_with_its_reason(name: str, expected: str):
    assert expected == reason(name)


def test_a_game_button_is_passed_over():
    update = payload("button_press")
    del update["callback_query"]["data"]

    assert read(update).reason == "a button without data"


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"update_id": 5},
        {"update_id": 5, "message": None},
        {"update_id": 5, "message": []},
        {"update_id": 5, "message": {"chat": {"id": "x", "type": "private"}}},
        {"update_id": 5, "message": {"chat": {"id": 1, "type": "moon"}, "text": "x", "date": 1}},
        {"update_id": 5, "callback_query": {"data": 7, "message": {"chat": 1}}},
        {"update_id": 5, "my_chat_member": {"new_chat_member": 3}},
        [],
        None,
        "message",
    ],
)
def test_a_broken_update_is_passed_over(update: Any):
    assert isinstance(read(update), Ignored)


@pytest.mark.parametrize("date", [10**30, -(10**30), "soon", None, float("nan")])
def test_a_date_that_is_none_is_a_broken_update(date: Any):
    update = payload("private_text")
    update["message"]["date"] = date

    assert isinstance(read(update), Ignored)


def test_the_cursor_is_one_past_the_last_update():
    assert wire.next_cursor("3", [{"update_id": 7}, {"update_id": 6}, "junk", {}]) == "8"
    assert wire.next_cursor("3", []) == "3"
    assert wire.next_cursor("", [{"update_id": True}]) == ""


_FIELDS = st.sampled_from(
    sorted({key for path in PAYLOADS.glob("*.json") for key in path.read_text().split('"')[1::2]})
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | _FIELDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_FIELDS, inner, max_size=6),
    max_leaves=20,
)


@given(st.sampled_from(sorted(PAYLOADS.glob("*.json"))), st.data())
def test_no_update_whatever_raises(path: Path, data: st.DataObject):
    update = json.loads(path.read_text())
    place = update
    while isinstance(place, dict) and place:
        key = data.draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or data.draw(st.booleans()):
            place[key] = data.draw(_JSON)
            break
        place = place[key]

    assert len(wire.normalise(update, ME, "main")) == 1
