"""What is peculiar to Slack, against a workspace on loopback; the rest is in tests/platforms."""

import asyncio
import io
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from delivery.content import Button, Controls
from delivery.errors import (
    AuthenticationRefused,
    DestinationGone,
    FormattingRefused,
    NetworkDown,
    OutcomeUnknown,
    Refused,
    TooOld,
)
from gateway.fetching.errors import Forbidden, NoSuchFile
from gateway.fetching.limits import Limits, Meter
from gateway.messages import Form, InboundMessage
from gateway.platforms.slack.adapter import SlackAdapter
from tests.peers.slack import APP_TOKEN, CHANNEL, DM, PERSON, TOKEN, Fault, SlackPeer
from tests.peers.slack.world import BOT_USER
from tests.platforms.conformance import insisting, pressed, said, texts
from tests.platforms.harness import buttons
from tests.platforms.test_slack import SlackHarness

FORM = Form(title="Yours", label="Where to?", placeholder="Words", submit="Send", cancel="Back")


@pytest.fixture
def harness() -> Iterator[SlackHarness]:
    made = SlackHarness()
    with made.peer:
        yield made


@pytest.fixture
def peer(harness) -> SlackPeer:
    return harness.peer


@pytest.fixture
async def adapter(harness) -> AsyncIterator[SlackAdapter]:
    made = harness.adapter()
    await made.connect()
    yield made
    await made.disconnect()


# --- connecting and hearing -----------------------------------------------------------------------


async def test_an_app_token_that_is_refused_is_named(harness):
    config = replace(harness.config(), secret=f"{TOKEN} xapp-1-wrong-wrong")

    with pytest.raises(AuthenticationRefused, match="connections:write"):
        await harness.platform.build_adapter(config).connect()


async def test_a_socket_without_a_greeting_is_no_connection(harness, peer, monkeypatch):
    monkeypatch.setattr("gateway.platforms.slack.sockets.HELLO_SECONDS", 0.1)
    peer.says_hello = False

    with pytest.raises(NetworkDown, match="hello"):
        await harness.adapter().connect()


@pytest.mark.proves("P2")
async def test_two_sockets_stand(peer, adapter):
    waiting = asyncio.create_task(insisting(adapter, ""))
    await peer.until(lambda: len(peer.mailbox.sockets) == 2)
    peer.say("hello")
    batch = await waiting

    assert texts(batch) == ["hello"]


@pytest.mark.proves("P2")
async def test_a_socket_that_will_be_closed_is_replaced_first(peer, adapter):
    waiting = asyncio.create_task(insisting(adapter, ""))
    await peer.until(lambda: len(peer.mailbox.sockets) == 2)
    before = list(peer.mailbox.sockets)
    await asyncio.to_thread(peer.renew)
    await peer.until(
        lambda: len(peer.mailbox.sockets) == 2 and not set(before) & set(peer.mailbox.sockets)
    )
    peer.say("after")
    batch = await waiting

    assert texts(batch) == ["after"]


async def test_socket_mode_that_is_switched_off_is_named(peer, adapter):
    waiting = asyncio.create_task(adapter.receive(""))
    await peer.until(lambda: len(peer.mailbox.sockets) == 2)
    await asyncio.to_thread(peer.renew, "link_disabled")

    with pytest.raises(AuthenticationRefused, match="Socket Mode"):
        await waiting


@pytest.mark.proves("P2")
async def test_a_workspace_that_cannot_be_reached_any_more_is_a_network_that_is_down(peer, adapter):
    waiting = asyncio.create_task(adapter.receive(""))
    await peer.until(lambda: len(peer.mailbox.sockets) == 2)
    refusal = await asyncio.to_thread(peer.refuse)

    with pytest.raises(NetworkDown):
        await waiting
    await asyncio.to_thread(refusal.end)
    peer.say("kept")
    assert texts(await insisting(adapter, "")) == ["kept"]


@pytest.mark.proves("P3")
async def test_slack_may_forget_only_what_is_stored(peer, adapter):
    peer.say("one")
    batch = await adapter.receive("")
    assert peer.mailbox.pending == 1

    waiting = asyncio.create_task(adapter.receive(batch.cursor))
    await peer.until(lambda: peer.mailbox.pending == 0)
    waiting.cancel()


@pytest.mark.proves("P1")
async def test_a_mention_comes_twice_as_one_message(peer, adapter):
    message = peer.say(f"<@{BOT_USER}> hello", CHANNEL)
    batch = await said(adapter, "", 2)

    keys = {(event.source.chat_id, event.source.message_id) for event in batch.events}
    assert keys == {(CHANNEL, message["ts"])}
    assert len({event.event_id for event in batch.events}) == 2


async def test_what_the_bot_says_does_not_come_back(harness, peer, adapter):
    sent = await adapter.send(harness.part("mine"))
    await adapter.edit(sent.message_id, harness.part("mine, edited"))
    peer.say("yours")
    batch = await insisting(adapter, "")

    assert texts(batch) == ["yours"]


async def test_slash_commands_at_the_same_time_are_not_mixed(peer, adapter):
    mine = peer.slash("/hermes", "stop", CHANNEL)
    theirs = peer.slash("/hermes", "status", CHANNEL, user="U0OTHER01")
    batch = await said(adapter, "", 2)
    waiting = asyncio.create_task(adapter.receive(batch.cursor))
    await peer.until(lambda: peer.mailbox.pending == 0)
    waiting.cancel()

    orders = [(event.source.user_id, event.text) for event in batch.events]
    assert orders == [(PERSON, "/stop"), ("U0OTHER01", "/status")]
    assert "`/hermes stop`" in mine.answer["text"]
    assert "`/hermes status`" in theirs.answer["text"]


async def test_a_name_that_is_not_to_be_had_is_left_out(peer, adapter):
    peer.faults.add(Fault(kind="500", method="users.info"))
    peer.say("hello")
    (event,) = (await adapter.receive("")).events

    assert (event.text, event.source.user_name) == ("hello", "")


# --- controls -------------------------------------------------------------------------------------


def boxes(*on: bool) -> Controls:
    rows = tuple(
        (Button(label=f"{'☑' if is_on else '☐'} box {place}", data=f"b{place}", ticked=is_on),)
        for place, is_on in enumerate(on)
    )
    return Controls(rows=(*rows, (Button(label="Submit", data="go"),)))


@pytest.mark.proves("Q14")
async def test_what_can_be_on_is_drawn_as_boxes_and_told_with_the_button(harness, peer, adapter):
    sent = await adapter.send(harness.part(controls=boxes(False, True, False)))
    (shown,) = peer.from_bot(DM)
    assert shown.labels == ("box 0", "box 1", "box 2", "Submit")
    (element,) = shown.blocks[1]["elements"]
    assert [one["value"] for one in element["initial_options"]] == ["b1"]

    peer.press(DM, sent.message_id, "Submit", ticked=("box 0", "box 2"))
    press = await pressed(adapter)

    assert (press.data, press.chosen) == ("go", ("b0", "b2"))


@pytest.mark.proves("Q14")
async def test_a_form_is_shown_and_what_is_typed_answers_its_message(harness, peer, adapter):
    sent = await adapter.send(harness.part(controls=buttons("Other…")))
    peer.press(DM, sent.message_id, "Other…")
    batch = await said(adapter, "", 1)
    await adapter.open_form(batch.events[0], FORM)
    (view,) = peer.forms()
    peer.submit(view, "to the moon")
    (event,) = (await insisting(adapter, batch.cursor)).events

    assert isinstance(event, InboundMessage)
    assert (event.text, event.reply_to) == ("to the moon", sent.message_id)
    assert event.source.address == harness.address()


@pytest.mark.proves("Q14")
async def test_a_form_comes_too_late_after_three_seconds(harness, peer, adapter):
    peer.api.trigger_seconds = 0.0
    sent = await adapter.send(harness.part(controls=buttons("Other…")))
    peer.press(DM, sent.message_id, "Other…")

    with pytest.raises(TooOld):
        await adapter.open_form(await pressed(adapter), FORM)


async def test_a_presser_whose_address_is_used_up_is_told_in_the_channel(harness, peer, adapter):
    sent = await adapter.send(harness.part(controls=buttons("Yes")))
    peer.press(DM, sent.message_id, "Yes")
    press = await pressed(adapter)
    peer.faults.add(Fault(kind="400", method="response_url"))
    await adapter.acknowledge(press, text="Not yours.", alert=True)

    assert [one.text for one in peer.whispers(PERSON)] == ["Not yours."]
    assert len(peer.calls.of("chat.postEphemeral")) == 1


async def test_a_press_that_needs_no_words_gets_none(harness, peer, adapter):
    sent = await adapter.send(harness.part(controls=buttons("Yes")))
    peer.press(DM, sent.message_id, "Yes")
    await adapter.acknowledge(await pressed(adapter), text="", alert=False)

    assert peer.whispers(PERSON) == []


async def test_a_sign_that_it_thinks_is_shown_in_threads_and_taken_away(harness, peer, adapter):
    thread = harness.open_thread()
    for place in (harness.address(thread=thread), harness.address()):
        await adapter.typing(place)
        await adapter.stop_typing(place)

    shown = [(one, status != "") for _, one, status in peer.world.statuses]
    assert shown == [(thread, True), (thread, False)]


# --- looking --------------------------------------------------------------------------------------


@pytest.mark.proves("D5")
async def test_where_keys_are_not_shown_nobody_claims_to_have_looked(harness, peer, adapter):
    peer.api.shows_metadata = False
    await adapter.send(harness.part("other"))

    with pytest.raises(Refused, match="metadata"):
        await adapter.look(harness.part("lost"), since=datetime.now(UTC))


@pytest.mark.proves("D5")
async def test_where_nothing_may_be_read_nobody_claims_to_have_looked(harness, peer, adapter):
    peer.api.scopes_lacking["conversations.history"] = "im:history"

    with pytest.raises(Refused, match="missing_scope"):
        await adapter.look(harness.part("lost"), since=datetime.now(UTC))


@pytest.mark.proves("D5")
async def test_it_is_looked_for_on_every_page(harness, peer, adapter):
    sent = await adapter.send(harness.part("lost"))
    for number in range(450):
        peer.world.store(peer.world.channel(DM), {"user": PERSON, "text": str(number)})
    since = datetime.now(UTC) - timedelta(minutes=1)

    assert await adapter.look(harness.part("lost"), since=since) == sent


# --- being refused --------------------------------------------------------------------------------


async def test_a_channel_without_us_says_how_to_invite_us(harness, peer, adapter):
    peer.open_chat("C0STRANGE", has_bot=False)

    with pytest.raises(DestinationGone, match="/invite"):
        await adapter.send(harness.part(chat="C0STRANGE"))


async def test_blocks_that_are_refused_become_plain_words(harness, peer, adapter):
    peer.faults.add(Fault(kind="400", method="chat.postMessage", description="invalid_blocks"))

    with pytest.raises(FormattingRefused):
        await adapter.send(harness.part())


async def test_an_edit_that_is_too_long_asks_for_a_new_message(harness, adapter):
    sent = await adapter.send(harness.part())

    with pytest.raises(TooOld):
        await adapter.edit(sent.message_id, harness.part("語" * 4100))


async def test_the_library_tries_nothing_again_by_itself(harness, peer, adapter):
    fault = peer.faults.add(Fault(kind="lost_ack", method="chat.postMessage"))
    with pytest.raises(OutcomeUnknown):
        await adapter.send(harness.part())

    assert fault.hits == 1


# --- files ----------------------------------------------------------------------------------------


async def fetched(peer: SlackPeer, adapter: SlackAdapter, **fields) -> bytes:
    peer.share_file(b"\x89PNG....", "a.png", "image/png", **fields)
    (event,) = (await adapter.receive("")).events
    got = io.BytesIO()
    await adapter.fetch(event.attachments[0].file_id, Meter(got.write, 1000), Limits())
    return got.getvalue()


async def test_a_login_page_is_no_picture(peer, adapter):
    """B134: without the right to read files Slack answers with a page, and success."""
    with pytest.raises(NoSuchFile, match="files:read"):
        await fetched(peer, adapter, is_locked=True)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "https://files.slack.com.evil.example/x"])
async def test_a_file_that_lies_elsewhere_is_not_asked_for_with_the_token(peer, adapter, url):
    with pytest.raises(Forbidden):
        await fetched(peer, adapter, url_private_download=url)


async def test_a_file_on_another_service_says_so(peer, adapter):
    with pytest.raises(NoSuchFile, match="another service"):
        await fetched(peer, adapter, is_external=True)


# --- the peer -------------------------------------------------------------------------------------


async def test_slacks_own_client_is_content_with_the_peer(peer):
    """What the peer speaks is Socket Mode: the unmodified client hears and acknowledges."""
    heard: list[str] = []

    async def listen(client, request) -> None:
        heard.append(request.payload["event"]["text"])
        await client.send_socket_mode_response(SocketModeResponse(request.envelope_id))

    web = AsyncWebClient(token=APP_TOKEN, base_url=peer.url)
    client = SocketModeClient(APP_TOKEN, web_client=web)
    client.socket_mode_request_listeners.append(listen)
    await client.connect()
    peer.say("hello")
    await peer.until(lambda: peer.mailbox.pending == 0)
    await client.close()

    assert heard == ["hello"]


async def test_a_token_of_another_app_is_refused_by_the_peer(harness):
    config = replace(harness.config(), secret=f"{TOKEN[:-1]} {APP_TOKEN}")

    with pytest.raises(AuthenticationRefused):
        await harness.platform.build_adapter(config).connect()


def test_the_client_library_is_imported_only_to_build_an_adapter():
    script = (
        "import sys; from gateway.platforms.slack import platform; "
        "assert platform.kind == 'slack'; print({'slack_sdk', 'aiohttp'} & set(sys.modules))"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert told.stdout.strip() == "set()"
