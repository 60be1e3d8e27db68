"""Raw payloads of Slack's, read into our words; the payloads stand in tests/payloads/slack."""

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
    ChatType,
    EditedMessage,
    Ignored,
    Inbound,
    InboundMessage,
    Membership,
    Source,
)
from gateway.platforms.slack import wire
from gateway.platforms.slack.places import Spot

PAYLOADS = Path(__file__).parents[2] / "payloads" / "slack"
US = wire.Us(account="main", user_id="U0BOT0001")
TEAM, CHANNEL, DM, TS, ROOT = (
    "T012AB3C4",
    "C0LAN2Q65",
    "D024BE91L",
    "1767225600.000200",
    "1767225500.000100",
)
SENT_AT = datetime(2026, 1, 1, 0, 0, 0, 200, tzinfo=UTC)
KINDS = {"press": wire.INTERACTIVE, "form": wire.INTERACTIVE, "slash": wire.SLASH}


def payload(name: str) -> dict[str, Any]:
    return json.loads((PAYLOADS / f"{name}.json").read_text())


def kind_of(name: str) -> str:
    if name in {"ticked", "shortcut"}:
        return wire.INTERACTIVE
    return KINDS.get(name.partition("_")[0], wire.EVENTS)


def read(name: str, us: wire.Us = US) -> Inbound:
    (event,) = wire.normalise(kind_of(name), payload(name), us)
    return event


def message(name: str, us: wire.Us = US) -> InboundMessage:
    event = read(name, us)
    assert isinstance(event, InboundMessage), event
    return event


def reason(name: str) -> str:
    event = read(name)
    assert isinstance(event, Ignored), event
    return event.reason


def source(**changes: Any) -> Source:
    facts = {
        "platform": "slack",
        "account": "main",
        "scope_id": TEAM,
        "chat_type": ChatType.DM,
        "chat_id": DM,
        "user_id": "U061F7AUR",
        "message_id": TS,
    }
    return Source(**(facts | changes))


@pytest.mark.proves("P1")
def test_a_direct_message_is_read_whole():
    expected = InboundMessage(
        source=source(), event_id="Ev0PV52K25", text="Hello & <welcome>", sent_at=SENT_AT
    )

    assert expected == read("dm")


@pytest.mark.proves("P1")
def test_a_mention_in_a_channel_begins_a_thread_below_itself():
    expected = InboundMessage(
        source=source(chat_type=ChatType.GROUP, chat_id=CHANNEL, thread_id=TS),
        event_id="Ev0PV52K25",
        text="what is up in #ops?",
        sent_at=SENT_AT,
        mentions_bot=True,
    )

    assert expected == read("channel_mention")


def test_both_events_of_a_mention_say_the_same_message():
    said, mentioned = message("channel_mention"), message("app_mention")

    assert (said.source, said.text) == (mentioned.source, mentioned.text)
    assert said.mentions_bot
    assert mentioned.mentions_bot


def test_with_answers_beside_a_mention_begins_no_thread():
    us = wire.Us(account="main", user_id="U0BOT0001", replies_in_threads=False)

    assert message("channel_mention", us).source.thread_id == ""


def test_what_is_not_for_us_begins_no_thread():
    event = message("channel")

    assert (event.source.thread_id, event.mentions_bot) == ("", False)


@pytest.mark.parametrize("name", ["dm_in_thread", "thread_mention", "thread_broadcast"])
def test_a_message_in_a_thread_says_which(name: str):
    assert message(name).source.thread_id == ROOT


@pytest.mark.proves("Q27")
@pytest.mark.parametrize("name", ["thread_of_ours", "dm_below_ours"])
def test_below_a_message_of_ours_is_said_to_us_and_quotes_it(name: str):
    event = message(name)

    assert (event.reply_to, event.mentions_bot) == (ROOT, True)


@pytest.mark.parametrize("name", ["private_channel", "mpim"])
def test_a_private_talk_of_several_is_a_group(name: str):
    assert message(name).source.chat_type is ChatType.GROUP


def test_an_order_with_an_exclamation_mark_is_a_command():
    assert message("thread_mention").text == "/stop"


def test_tags_are_read_as_people_see_them():
    assert message("tags").text == (
        "the page (https://example.org/a?b=1&c=2) https://example.org ada@example.org @here @ops"
        " New Year @grace #C024BE7LR"
    )


def test_files_come_with_their_kinds_names_and_sizes():
    expected = (
        Attachment(
            kind="document",
            file_id="F0RDC39U1",
            name="plan.pdf",
            mime_type="application/pdf",
            size=24024,
        ),
        Attachment(
            kind="photo", file_id="F0RDC39U2", name="photo.jpg", mime_type="image/jpeg", size=1234
        ),
    )

    assert message("file").attachments == expected
    assert [one.kind for one in message("voice").attachments] == ["voice"]


def test_words_passed_on_are_marked_as_anothers_and_give_no_order():
    event = message("shared")

    assert event.text == "what of this?\n[shared from Grace )Hopper]\n/approve 17"


def test_a_person_who_corrects_themselves_has_edited():
    expected = EditedMessage(source=source(), event_id="Ev0PV52K25", text="corrected")

    assert expected == read("edited")


@pytest.mark.parametrize("name", ["other_bot", "app_message"])
def test_another_bot_is_a_bot(name: str):
    assert message(name).source.is_bot


@pytest.mark.parametrize("name", ["own", "own_edited", "own_deleted"])
def test_what_we_do_ourselves_is_no_event(name: str):
    assert wire.normalise(wire.EVENTS, payload(name), US) == []


def test_we_know_ourselves_by_what_slack_says_beside_the_event():
    assert wire.normalise(wire.EVENTS, payload("own"), wire.Us(account="main")) == []
    assert message("channel_mention", wire.Us(account="main")).mentions_bot


def test_in_a_shared_channel_the_scope_is_our_own_workspace():
    event = message("connect")

    assert (event.source.scope_id, event.source.user_id) == (TEAM, "U9STRANGE")


def test_in_an_organization_the_scope_is_the_workspace_of_the_grant():
    assert message("grid").source.scope_id == "T0GRIDTWO"


def test_coming_and_going_of_our_own_is_told():
    there = source(chat_type=ChatType.GROUP, chat_id=CHANNEL, message_id="")

    assert read("joined") == Membership(source=there, event_id="Ev0PV52K25", is_member=True)
    assert read("left") == Membership(source=there, event_id="Ev0PV52K25", is_member=False)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("deleted", "service message: message_deleted"),
        ("unfurled", "a message changed, and its words did not"),
        ("channel_join", "service message: channel_join"),
        ("file_gone", "no words and no files"),
        ("somebody_joined", "somebody else came or went"),
        ("reaction", "an event we do not use: reaction_added"),
        ("press_elsewhere", "a button that is not ours"),
        ("form_of_another", "a form that is not ours"),
        ("ticked", "something was ticked and not submitted yet"),
        ("shortcut", "an interaction we do not use: message_action"),
    ],
)
def test_what_is_not_for_us_says_why(name: str, why: str):
    assert reason(name) == why


@pytest.mark.proves("Q14")
@pytest.mark.parametrize("name", ["press", "press_of_an_organization"])
def test_a_press_is_read_whole_and_stands_where_its_message_was_sent(name: str):
    expected = ButtonPress(
        source=source(
            chat_type=ChatType.GROUP,
            chat_id=CHANNEL,
            thread_id=TS,
            user_name="ada",
            message_id="",
        ),
        event_id="press:U061F7AUR:1767225700.000100:1767225760.123456:0.1",
        interaction_id=(
            "12466734323.1767225760000.f4f4f4 https://hooks.slack.com/actions/T012AB3C4/1/x"
        ),
        data="q:0123456789abcdef:p0.1",
        message_id="1767225700.000100",
    )

    assert expected == read(name)


@pytest.mark.proves("Q14")
def test_words_of_a_form_answer_the_message_it_was_opened_from():
    event = message("form")

    assert event.text == "to the moon"
    assert event.reply_to == "1767225700.000100"
    assert (event.source.chat_id, event.source.thread_id) == (CHANNEL, TS)
    assert event.source.message_id == ""


def test_a_slash_command_is_read_whole():
    expected = InboundMessage(
        source=source(chat_type=ChatType.GROUP, chat_id=CHANNEL, user_name="ada", message_id=""),
        event_id="slash:12466734323.1767225600000.f4f4f4",
        text="/stop",
        sent_at=datetime(2026, 1, 1, tzinfo=UTC),
        mentions_bot=True,
    )

    assert expected == read("slash")


@pytest.mark.parametrize(
    ("command", "text", "means"),
    [
        ("/hermes", "status", "/status"),
        ("/hermes", "/status", "/status"),
        ("/hermes", "approve 17 session", "/approve 17 session"),
        ("/hermes", "what is new?", "what is new?"),
        ("/hermes", "", "/help"),
        ("/stop", "", "/stop"),
        ("/stop", "it", "/stop it"),
    ],
)
def test_a_slash_command_is_an_order_of_ours_or_words(command: str, text: str, means: str):
    (event,) = wire.normalise(wire.SLASH, payload("slash") | {"command": command, "text": text}, US)

    assert isinstance(event, InboundMessage)
    assert event.text == means


def test_a_slash_command_in_a_channel_is_told_that_it_was_heard():
    said = payload("slash")

    assert "`/hermes stop` has been heard" in wire.answer_to(wire.SLASH, said)["text"]
    assert wire.answer_to(wire.SLASH, said | {"channel_id": DM}) is None
    assert wire.answer_to(wire.EVENTS, payload("dm")) is None


@pytest.mark.parametrize("name", sorted(path.stem for path in PAYLOADS.glob("*.json")))
def test_every_payload_is_read_and_none_is_malformed(name: str):
    for event in wire.normalise(kind_of(name), payload(name), US):
        assert "malformed" not in getattr(event, "reason", "")


@pytest.mark.parametrize(
    "spoilt",
    [
        {},
        {"event": None},
        {"event": []},
        {"event": {}},
        {"event": {"type": 7}},
        {"event": {"type": "message", "channel": 7, "ts": []}},
        {"event": {"type": "message", "channel": "D1", "ts": "x", "text": "a", "user": "U1"}},
        {"event": {"type": "message", "channel": "D1", "ts": "1.1", "text": 7, "user": "U1"}},
        {"event": {"type": "message", "subtype": "message_changed", "channel": "D1"}},
        {"event": {"type": "message", "channel": "D1", "ts": "1.1", "files": [7], "user": "U1"}},
        {"event": {"type": "message"}, "authorizations": [7]},
        {"type": "block_actions", "actions": []},
        {"type": "block_actions", "actions": [7], "user": {}},
        {"type": "view_submission", "view": {"id": 1, "callback_id": "own_words"}},
    ],
)
@pytest.mark.parametrize("kind", [wire.EVENTS, wire.INTERACTIVE, wire.SLASH])
def test_a_poisoned_payload_is_told_as_such(spoilt: dict[str, Any], kind: str):
    (event,) = wire.normalise(kind, spoilt, US)

    assert isinstance(event, Ignored)


leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats()
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "event", "channel", "ts", "user", "text", "message", "actions"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(trees, st.sampled_from([wire.EVENTS, wire.INTERACTIVE, wire.SLASH]))
def test_nothing_makes_reading_raise(tree: Any, kind: str):
    for event in wire.normalise(kind, tree, US):
        assert event.event_id is not None


@given(st.sampled_from(["", TEAM]), st.sampled_from(["", TS]), st.integers(0, 49))
def test_a_spot_is_read_back_as_it_was_written(scope: str, thread: str, row: int):
    spot = Spot(scope=scope, thread=thread)

    assert Spot.decoded(spot.encoded(row)) == spot
