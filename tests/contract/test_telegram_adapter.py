"""The Telegram adapter against a Bot API server on loopback."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings

from delivery.addresses import Address
from delivery.content import Button, ButtonStyle, Controls, Rendered
from delivery.errors import (
    AnchorGone,
    AuthenticationRefused,
    DestinationGone,
    DestinationMoved,
    FormattingRefused,
    MessageGone,
    NetworkDown,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ThreadGone,
    TooOld,
    TransportError,
)
from delivery.ports import OutgoingPart
from gateway.commands import COMMANDS
from gateway.messages import (
    ButtonPress,
    ChatMoved,
    ChatType,
    EditedMessage,
    Ignored,
    InboundMessage,
    Source,
)
from gateway.platforms.telegram import conf, platform
from gateway.ports import AccountConfig, Adapter, BotIdentity
from tests.peers.telegram import PERSON, Fault, TelegramPeer

FORUM = -1001500000002
GROUP = -50100200


def config(peer: TelegramPeer, **options: str) -> AccountConfig:
    fields = {"api_base_url": peer.url, "poll_seconds": "1", **options}
    return AccountConfig(slug="main", secret=peer.token, options=fields)


def part(text: str = "hello", *, chat: int = PERSON, thread: str = "", **fields: Any):
    chat_type = "dm" if chat > 0 else "group"
    return OutgoingPart(
        address=Address(
            platform="telegram",
            account="main",
            chat_type=chat_type,
            chat_id=str(chat),
            thread_id=thread,
        ),
        body=Rendered(text=text, plain=text, length=len(text), format=fields.pop("format", {})),
        idempotency_key="0123456789abcdef",
        **fields,
    )


def buttons(*labels: str) -> Controls:
    return Controls(rows=(tuple(Button(label=label, data=f"p:{label}") for label in labels),))


@pytest.fixture
def peer() -> Iterator[TelegramPeer]:
    with TelegramPeer() as server:
        server.open_chat(PERSON)
        yield server


@pytest.fixture
async def adapter(peer: TelegramPeer) -> AsyncIterator[Adapter]:
    made = platform.build_adapter(config(peer))
    await made.connect()
    yield made
    await made.disconnect()


async def impatient(peer: TelegramPeer) -> Adapter:
    """An adapter that takes silence of a third of a second for an answer."""
    made = platform.build_adapter(config(peer, answer_seconds="0.3", poll_seconds="0"))
    await made.connect()
    return made


# --- connecting ---------------------------------------------------------------------------------


async def test_connecting_tells_who_the_bot_is(peer: TelegramPeer):
    adapter = platform.build_adapter(config(peer))
    me = await adapter.connect()
    await adapter.disconnect()

    assert me == BotIdentity(user_id=peer.token.split(":")[0], user_name="hermes_peer_bot")


@pytest.mark.proves("S6")
async def test_connecting_takes_a_webhook_away_and_keeps_what_waits(peer: TelegramPeer):
    peer.webhook_url = "https://example.org/hook"
    peer.say("said while nobody listened")
    adapter = platform.build_adapter(config(peer))
    await adapter.connect()
    batch = await adapter.receive("")
    await adapter.disconnect()

    assert [event.text for event in batch.events] == ["said while nobody listened"]


async def test_connecting_offers_the_command_menu(peer: TelegramPeer):
    menu = conf.write_commands([("new", "Start again"), ("deep-think", "Think")])
    adapter = platform.build_adapter(config(peer, commands=menu))
    await adapter.connect()
    await asyncio.to_thread(peer.wait_for, lambda: peer.api.commands)
    await adapter.disconnect()

    assert peer.api.commands == {
        "default::": [
            {"command": "new", "description": "Start again"},
            {"command": "deep_think", "description": "Think"},
        ]
    }


@pytest.mark.proves("T5")
async def test_the_menu_is_the_one_table_of_commands_in_each_language(peer: TelegramPeer):
    adapter = platform.build_adapter(config(peer))
    await adapter.connect()
    await asyncio.to_thread(peer.wait_for, lambda: len(peer.api.commands) == 3)
    await adapter.disconnect()

    names = [spec.name for spec in COMMANDS]
    shown = {scope: [one["command"] for one in menu] for scope, menu in peer.api.commands.items()}
    assert shown == {"default::": names, "default::zh": names, "default::fa": names}


async def test_a_refused_menu_does_not_fail_connecting(peer: TelegramPeer, caplog):
    peer.faults.add(Fault(kind="400", method="setMyCommands"))
    adapter = platform.build_adapter(config(peer, commands="new - Start again"))
    await adapter.connect()
    await asyncio.to_thread(peer.wait_for, lambda: "no command menu" in caplog.text)
    await adapter.disconnect()

    assert "no command menu" in caplog.text


async def test_a_wrong_token_is_refused_with_what_to_do(peer: TelegramPeer):
    wrong = AccountConfig(
        slug="main", secret="123456:TESTTESTTEST", options={"api_base_url": peer.url}
    )
    adapter = platform.build_adapter(wrong)

    with pytest.raises(AuthenticationRefused, match="BotFather") as refused:
        await adapter.connect()
    assert "TESTTEST" not in str(refused.value)


async def test_a_placeholder_is_refused_without_asking_anyone(peer: TelegramPeer):
    adapter = platform.build_adapter(AccountConfig(slug="main", secret="undefined", options={}))

    with pytest.raises(AuthenticationRefused, match="placeholder"):
        await adapter.connect()


async def test_a_proxy_the_client_cannot_use_is_named(peer: TelegramPeer, monkeypatch):
    monkeypatch.setitem(sys.modules, "socksio", None)
    adapter = platform.build_adapter(config(peer, proxy="socks5://127.0.0.1:9"))

    with pytest.raises(AuthenticationRefused, match="socksio"):
        await adapter.connect()


@pytest.mark.proves("P4")
async def test_a_proxy_is_gone_through(peer: TelegramPeer):
    proxied = config(peer, proxy=peer.url, api_base_url="http://bot-api.invalid")
    adapter = platform.build_adapter(proxied)
    me = await adapter.connect()
    await adapter.disconnect()

    assert me.user_name == "hermes_peer_bot"


async def test_an_absent_server_is_a_network_that_is_down(peer: TelegramPeer):
    adapter = platform.build_adapter(config(peer))
    with peer.refuse(), pytest.raises(NetworkDown):
        await adapter.connect()


@pytest.mark.parametrize("kind", ["500", "502html", "503", "reset_before", "garbage"])
async def test_any_trouble_while_connecting_is_a_network_that_is_down(
    peer: TelegramPeer, kind: str
):
    peer.faults.add(Fault(kind=kind, method="getMe"))
    adapter = platform.build_adapter(config(peer))

    with pytest.raises(NetworkDown):
        await adapter.connect()


async def test_an_adapter_can_be_connected_again_and_closed_twice(peer: TelegramPeer):
    adapter = platform.build_adapter(config(peer))
    await adapter.connect()
    await adapter.connect()
    await adapter.send(part())
    await adapter.disconnect()
    await adapter.disconnect()

    with pytest.raises(NetworkDown):
        await adapter.send(part())


# --- receiving ----------------------------------------------------------------------------------


async def test_what_is_said_comes_in_and_the_cursor_confirms_it(peer: TelegramPeer, adapter):
    peer.say("one")
    peer.say("two")
    first = await adapter.receive("")
    peer.say("three")
    second = await adapter.receive(first.cursor)

    assert [event.text for event in first.events] == ["one", "two"]
    assert [event.text for event in second.events] == ["three"]
    assert int(second.cursor) == int(second.events[-1].event_id) + 1


@pytest.mark.proves("P2")
async def test_what_was_not_confirmed_comes_in_again_under_the_same_id(peer: TelegramPeer, adapter):
    peer.say("one")
    first = await adapter.receive("")
    again = await adapter.receive("")

    assert first == again


async def test_a_long_poll_ends_with_the_first_word(peer: TelegramPeer, adapter):
    waiting = asyncio.create_task(adapter.receive(""))
    await peer.until(lambda: peer.updates.is_polled)
    peer.say("here")
    batch = await waiting

    assert [event.text for event in batch.events] == ["here"]


async def test_a_quiet_poll_gives_nothing_and_keeps_the_cursor(peer: TelegramPeer):
    adapter = await impatient(peer)
    batch = await adapter.receive("42")
    await adapter.disconnect()

    assert (batch.cursor, batch.events) == ("42", ())


async def test_a_poisoned_update_does_not_stop_those_behind_it(peer: TelegramPeer, adapter):
    peer.push({"message": {"chat": "nonsense"}})
    peer.say("after it")
    batch = await adapter.receive("")

    assert [type(event) for event in batch.events] == [Ignored, InboundMessage]


@pytest.mark.proves("P1")
async def test_edits_presses_and_moves_come_in(peer: TelegramPeer, adapter):
    said = peer.say("one")
    peer.edit_said(said["message_id"], "uno")
    sent = await adapter.send(part(controls=buttons("yes")))
    peer.press(PERSON, int(sent.message_id), "yes")
    peer.say("us", GROUP)
    peer.migrate(GROUP)
    batch = await adapter.receive("")

    kinds = [type(event) for event in batch.events]
    assert kinds == [
        InboundMessage,
        EditedMessage,
        ButtonPress,
        InboundMessage,
        ChatMoved,
        ChatMoved,
    ]


async def test_a_second_reader_of_the_same_bot_is_named(peer: TelegramPeer, adapter):
    peer.faults.add(Fault(kind="409", method="getUpdates"))

    with pytest.raises(NetworkDown, match="Another process") as down:
        await adapter.receive("")
    assert down.value.code == "409"


@pytest.mark.proves("P1")
@pytest.mark.parametrize(
    "kind", ["500", "502html", "503", "reset_before", "lost_ack", "truncated", "garbage"]
)
async def test_trouble_while_receiving_is_a_network_that_is_down(
    peer: TelegramPeer, adapter, kind: str
):
    peer.say("kept")
    with peer.faults.during(Fault(kind=kind, method="getUpdates")), pytest.raises(NetworkDown):
        await adapter.receive("")

    batch = await adapter.receive("")
    assert [event.text for event in batch.events] == ["kept"]


async def test_a_half_open_connection_is_noticed(peer: TelegramPeer):
    adapter = await impatient(peer)
    peer.faults.add(Fault(kind="hang_before", method="getUpdates", seconds=2))

    with pytest.raises(NetworkDown):
        await adapter.receive("")
    await adapter.disconnect()


async def test_a_revoked_token_stops_receiving(peer: TelegramPeer, adapter):
    peer.faults.add(Fault(kind="401"))

    with pytest.raises(AuthenticationRefused):
        await adapter.receive("")


# --- sending ------------------------------------------------------------------------------------


async def test_a_message_arrives_as_it_was_rendered(peer: TelegramPeer, adapter):
    bold = {"type": "bold", "offset": 0, "length": 5}
    receipt = await adapter.send(part("hello 😀", format={"entities": [bold]}))
    (shown,) = peer.messages(PERSON)

    assert (shown.text, shown.entities) == ("hello 😀", (bold,))
    assert receipt.message_id == str(shown.message_id)


async def test_what_the_dialect_renders_is_taken_by_the_server(peer: TelegramPeer, adapter):
    (body,) = platform.dialect.render("**bold** and `code` and [a link](https://example.org) 😀")
    await adapter.send(replace(part(), body=body))
    (shown,) = peer.messages(PERSON)

    assert [entity["type"] for entity in shown.entities] == ["bold", "code", "text_link"]


async def test_no_preview_of_links_is_asked_for(peer: TelegramPeer, adapter):
    await adapter.send(part("https://example.org"))
    (call,) = peer.calls.of("sendMessage")

    assert call.params["link_preview_options"] == {"is_disabled": True}


async def test_buttons_an_answer_and_a_topic_arrive(peer: TelegramPeer, adapter):
    topic = peer.add_topic(FORUM, "Rigging", 7)
    asked = peer.say("which?", FORUM, thread=topic)
    await adapter.send(
        part(
            "this",
            chat=FORUM,
            thread=str(topic),
            reply_to=str(asked["message_id"]),
            controls=buttons("1", "2"),
        )
    )
    shown = peer.from_bot(FORUM)[0]

    assert shown.labels == ("1", "2")
    assert (shown.thread, shown.reply_to) == (topic, asked["message_id"])


async def test_the_general_topic_is_not_named_when_sending_and_is_when_typing(
    peer: TelegramPeer, adapter
):
    peer.open_chat(FORUM, is_forum=True)
    await adapter.send(part(chat=FORUM, thread="1"))
    await adapter.typing(part(chat=FORUM, thread="1").address)
    (sent,), (typed,) = peer.calls.of("sendMessage"), peer.calls.of("sendChatAction")

    assert "message_thread_id" not in sent.params
    assert typed.params["message_thread_id"] == 1


async def test_an_invitation_to_type_arrives(peer: TelegramPeer, adapter):
    await adapter.send(part(controls=Controls(force_reply=True, placeholder="Your words")))
    (shown,) = peer.messages(PERSON)
    (call,) = peer.calls.of("sendMessage")

    assert shown.force_reply
    assert call.params["reply_markup"]["input_field_placeholder"] == "Your words"


async def test_an_edit_changes_words_and_buttons(peer: TelegramPeer, adapter):
    sent = await adapter.send(part("one", controls=buttons("a")))
    receipt = await adapter.edit(sent.message_id, part("two", controls=buttons("b")))
    (shown,) = peer.messages(PERSON)

    assert receipt == sent
    assert (shown.text, shown.labels) == ("two", ("b",))


# B088
async def test_an_edit_leaves_alone_what_it_does_not_name(peer: TelegramPeer, adapter):
    asked = peer.say("what?")["message_id"]
    sent = (await adapter.send(part("one", controls=buttons("A"), reply_to=str(asked)))).message_id
    peer.world.reactions[(PERSON, int(sent))] = ("👍",)
    await adapter.edit(sent, part("two", controls=buttons("B")))
    await adapter.edit(sent, part("two", controls=Controls(clear=True)))
    (shown,) = peer.from_bot(PERSON)

    assert (shown.text, shown.reply_to, shown.reactions) == ("two", asked, ("👍",))
    given = {name for call in peer.calls.of("editMessageText") for name in call.params}
    assert not given & {"reply_parameters", "message_thread_id", "media", "pinned"}


async def test_an_edit_can_take_the_buttons_away(peer: TelegramPeer, adapter):
    sent = await adapter.send(part("one", controls=buttons("a")))
    await adapter.edit(sent.message_id, part("one", controls=Controls(clear=True)))
    (shown,) = peer.messages(PERSON)

    assert shown.labels == ()


async def test_editing_to_what_is_there_is_success(peer: TelegramPeer, adapter):
    sent = await adapter.send(part("one"))

    assert await adapter.edit(sent.message_id, part("one")) == sent


async def test_a_message_can_be_deleted_once(peer: TelegramPeer, adapter):
    sent = await adapter.send(part())
    await adapter.delete(part().address, sent.message_id)

    assert peer.messages(PERSON) == []
    with pytest.raises(MessageGone):
        await adapter.delete(part().address, sent.message_id)


async def test_typing_is_seen(peer: TelegramPeer, adapter):
    await adapter.typing(part().address)

    assert [(seen.chat, seen.action) for seen in peer.typing_seen] == [(PERSON, "typing")]


async def test_what_was_heard_bears_eyes(peer: TelegramPeer, adapter):
    asked = str(peer.say("hello")["message_id"])
    await adapter.show_heard(part().address, asked)

    assert [seen.reactions for seen in peer.messages(PERSON)] == [("👀",)]
    with pytest.raises(TransportError):
        await adapter.show_heard(part().address, "99999")


async def test_a_press_is_acknowledged_with_words_that_fit(peer: TelegramPeer, adapter):
    sent = await adapter.send(part(controls=buttons("yes")))
    callback = peer.press(PERSON, int(sent.message_id), "yes")
    (press,) = (await adapter.receive("")).events
    await adapter.acknowledge(press, text="x" * 300, alert=True)
    (answer,) = peer.answers_to(callback)

    assert (len(answer.text), answer.text[-1], answer.alert) == (200, "…", True)


async def test_a_press_answered_too_late_is_too_old(adapter):
    press = ButtonPress(
        source=Source(
            platform="telegram",
            account="main",
            chat_type=ChatType.DM,
            chat_id=str(PERSON),
            user_id=str(PERSON),
        ),
        event_id="1",
        interaction_id="4400000000000000",
        data="x",
    )
    with pytest.raises(TooOld):
        await adapter.acknowledge(press, text="", alert=False)


async def test_the_styles_of_buttons_are_told(peer: TelegramPeer, adapter):
    row = tuple(Button(label=style, data=style, style=style) for style in ButtonStyle)
    await adapter.send(part(controls=Controls(rows=(row,))))
    (call,) = peer.calls.of("sendMessage")
    (drawn,) = call.params["reply_markup"]["inline_keyboard"]

    assert [button.get("style") for button in drawn] == [None, "primary", "danger"]


# --- being refused ------------------------------------------------------------------------------


async def test_a_flood_is_waited_for_as_long_as_telegram_says(peer: TelegramPeer, adapter):
    peer.faults.add(Fault(kind="429", method="sendMessage", retry_after=7))

    with pytest.raises(RateLimited) as limited:
        await adapter.send(part())
    assert (limited.value.retry_after, limited.value.scope) == (7.0, "chat")


async def test_a_person_who_blocked_the_bot_is_gone(peer: TelegramPeer, adapter):
    peer.block(PERSON)

    with pytest.raises(DestinationGone):
        await adapter.send(part())


async def test_a_chat_nobody_knows_is_gone(adapter):
    with pytest.raises(DestinationGone):
        await adapter.send(part(chat=9))


async def test_a_group_that_moved_says_where_to(peer: TelegramPeer, adapter):
    peer.open_chat(GROUP)
    new_id = peer.migrate(GROUP)

    with pytest.raises(DestinationMoved) as moved:
        await adapter.send(part(chat=GROUP))
    assert moved.value.new_chat_id == str(new_id)


async def test_a_topic_that_is_no_more_is_gone(peer: TelegramPeer, adapter):
    topic = peer.add_topic(FORUM, "Rigging", 7)
    peer.remove_topic(FORUM, topic)

    with pytest.raises(ThreadGone):
        await adapter.send(part(chat=FORUM, thread=str(topic)))


@pytest.mark.parametrize("reply_to", ["999", "not-a-number"])
async def test_a_message_to_answer_that_is_no_more_is_told(adapter, reply_to: str):
    with pytest.raises(AnchorGone):
        await adapter.send(part(reply_to=reply_to))


@pytest.mark.parametrize("message_id", ["999", "preview-1"])
async def test_a_message_to_edit_that_is_no_more_is_told(adapter, message_id: str):
    with pytest.raises(MessageGone):
        await adapter.edit(message_id, part())


async def test_a_text_that_is_too_long_is_refused(adapter):
    with pytest.raises(Refused) as refused:
        await adapter.send(part("x" * 4097))
    assert type(refused.value) is Refused


async def test_formatting_that_cannot_be_read_is_told_without_quoting_it(
    peer: TelegramPeer, adapter
):
    words = 'Bad Request: can\'t parse entities: Unsupported start tag "secret" at byte offset 4'
    peer.faults.add(Fault(kind="400", method="sendMessage", description=words))

    with pytest.raises(FormattingRefused) as refused:
        await adapter.send(part())
    assert str(refused.value) == "Bad Request: can't parse entities"


# --- not knowing --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["500", "503"])
async def test_a_server_that_says_it_cannot_has_not_sent(peer: TelegramPeer, adapter, kind: str):
    peer.faults.add(Fault(kind=kind, method="sendMessage"))

    with pytest.raises(NetworkDown) as down:
        await adapter.send(part())
    assert down.value.code == kind


@pytest.mark.proves("P1")
@pytest.mark.parametrize("kind", ["502html", "reset_before", "lost_ack", "truncated", "garbage"])
async def test_a_send_without_a_proper_answer_may_have_arrived(
    peer: TelegramPeer, adapter, kind: str
):
    peer.faults.add(Fault(kind=kind, method="sendMessage"))

    with pytest.raises(OutcomeUnknown):
        await adapter.send(part())


async def test_a_server_that_restarts_in_the_middle_may_have_sent(peer: TelegramPeer, adapter):
    words = "Internal Server Error: restart"
    peer.faults.add(Fault(kind="500", method="sendMessage", description=words))

    with pytest.raises(OutcomeUnknown):
        await adapter.send(part())


async def test_a_send_that_is_not_answered_in_time_may_have_arrived(peer: TelegramPeer):
    adapter = await impatient(peer)
    peer.faults.add(Fault(kind="hang", method="sendMessage", seconds=2))

    with pytest.raises(OutcomeUnknown):
        await adapter.send(part())
    await adapter.disconnect()
    assert [shown.text for shown in peer.messages(PERSON)] == ["hello"]


async def test_a_send_that_never_left_is_not_sent(peer: TelegramPeer, adapter):
    with peer.refuse(), pytest.raises(NetworkDown):
        await adapter.send(part())

    await adapter.send(part("after"))
    assert [shown.text for shown in peer.messages(PERSON)] == ["after"]


async def test_a_cancelled_send_is_cancelled(peer: TelegramPeer, adapter):
    fault = peer.faults.add(Fault(kind="hold", method="sendMessage"))
    sending = asyncio.create_task(adapter.send(part()))
    await peer.until(lambda: fault.hits)
    sending.cancel()

    with pytest.raises(asyncio.CancelledError):
        await sending
    fault.gate.open()


# --- secrets ------------------------------------------------------------------------------------


def everything_said(error: BaseException | None) -> str:
    said = ""
    while error is not None:
        said += f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return said


@pytest.mark.proves("X1")
@pytest.mark.parametrize(
    "kind", ["401", "403", "400", "429", "500", "502html", "reset_before", "garbage", "truncated"]
)
async def test_no_error_and_no_log_tells_the_token(peer: TelegramPeer, adapter, kind: str, caplog):
    caplog.set_level(logging.DEBUG)
    for name, facts in settings.LOGGING["loggers"].items():
        caplog.set_level(facts["level"], name)
    peer.faults.add(Fault(kind=kind))

    for call in (adapter.send(part()), adapter.receive("")):
        with pytest.raises(TransportError) as raised:
            await call
        assert peer.token not in everything_said(raised.value)
    assert peer.token not in caplog.text


async def test_no_answer_is_logged_even_if_it_cannot_be_read(peer: TelegramPeer, adapter, caplog):
    peer.faults.add(Fault(kind="garbage", method="sendMessage"))

    with pytest.raises(OutcomeUnknown):
        await adapter.send(part())
    assert "doctype" not in caplog.text


def test_the_client_library_is_imported_only_to_build_an_adapter():
    script = (
        "import sys; from gateway.platforms.telegram import platform; "
        "assert platform.kind == 'telegram'; print('telegram' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert told.stdout.strip() == "False"
