"""The WebSocket of the Control UI: a page is greeted, kept in step and sent away."""

import asyncio
import json

import channels.db
import channels.testing.application
import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.db import SessionStore

from clarify.models import Prompt
from clarify.states import State as PromptState
from delivery import hints
from gateway.console.consumers import LOGGED_OUT, ConsoleConsumer
from gateway.models import Turn
from gateway.states import TurnState
from tests import factories
from tests.integration.viewing import (
    CLIENT_ID,
    Page,
    ask,
    chat_of,
    off_loop,
    user_of,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def connections_go_back(monkeypatch):
    """Channels' communicator keeps connections open for tests inside a transaction."""
    monkeypatch.setattr(channels.testing.application, "no_op", channels.db.close_old_connections)


async def test_a_page_greets_opens_says_and_is_kept_in_step(ada):
    async with Page(await user_of(ada)) as page:
        hello = await page.ask("hello")
        assert hello["viewer"]["name"] == "ada"
        conversation = hello["conversation"]
        opened = await page.ask("open", conversation=conversation)
        assert opened["reset"]
        assert opened["entries"] == []
        said = await page.ask("say", conversation=conversation, client_id=CLIENT_ID, text="Hello")
        assert said["entry"]["client_id"] == CLIENT_ID
        sync = await page.wait_for("sync", lambda message: message["turns"])
        assert [entry["id"] for entry in sync["entries"]] == [said["entry"]["id"]]
        turn = await off_loop(Turn.objects.get)()
        stopped = await page.ask("stop", turn=turn.pk)
        assert stopped["stopped"] == 1
        sync = await page.wait_for("sync", lambda message: not message["turns"])
        assert sync["entries"][0]["kind"] == "stopped"


async def test_a_hint_makes_a_page_look_again(ada):
    async with Page(await user_of(ada)) as page:
        conversation = await off_loop(chat_of)(ada)
        await page.ask("hello")
        await page.ask("open", conversation=conversation.pk)
        owed = await off_loop(factories.make_obligation)(conversation)
        sync = await page.wait_for("sync", lambda message: message["entries"])
        assert sync["entries"][0]["id"] == f"ob:{owed.pk}"


async def test_what_the_agent_is_saying_is_passed_on(ada):
    async with Page(await user_of(ada)) as page:
        conversation = await off_loop(chat_of)(ada)
        await page.ask("hello")
        await page.ask("open", conversation=conversation.pk)

        async def speak():
            while True:
                hints.publish(
                    hints.conversation_group(conversation.key),
                    "stream.text",
                    turn=7,
                    key="t7.0",
                    text="**So** <i>far</i>",
                )
                await asyncio.sleep(0.1)

        speaking = asyncio.create_task(speak())
        live = await page.wait_for("live")
        speaking.cancel()
        assert live["html"] == "<p><strong>So</strong> &lt;i&gt;far&lt;/i&gt;</p>"
        assert (live["turn"], live["key"]) == (7, "t7.0")


async def test_a_page_is_kept_in_step_while_the_broker_is_away(ada, monkeypatch):
    async def away(*_groups):
        raise ConnectionError
        yield

    monkeypatch.setattr(hints, "subscribe", away)
    async with Page(await user_of(ada)) as page:
        conversation = await off_loop(chat_of)(ada)
        await page.ask("hello")
        await page.ask("open", conversation=conversation.pk)
        owed = await off_loop(factories.make_obligation)(conversation)
        sync = await page.wait_for("sync", lambda message: message["entries"])
        assert sync["entries"][0]["id"] == f"ob:{owed.pk}"


async def test_of_a_flood_of_live_texts_the_last_one_counts(ada):
    async with Page(await user_of(ada)) as page:
        conversation = await off_loop(chat_of)(ada)
        await page.ask("hello")
        await page.ask("open", conversation=conversation.pk)
        owed = await off_loop(factories.make_obligation)(conversation)
        await page.wait_for("sync", lambda message: message["entries"])
        for number in range(300):
            hints.publish(
                hints.conversation_group(conversation.key),
                "stream.text",
                turn=7,
                key="t7.0",
                text=f"word {number}",
            )
        await page.wait_for("live", lambda message: message["html"] == "<p>word 299</p>")
        lives = [message for message in page.pushes if message["type"] == "live"]
        assert len(lives) < 100
        await off_loop(factories.settle)(owed)
        hints.publish(hints.conversation_group(conversation.key), "conversation.changed")
        sync = await page.wait_for("sync", lambda message: message["entries"])
        assert sync["entries"][0]["tick"] == "delivered"


async def test_a_prompt_answered_in_one_tab_closes_in_the_other(ada):
    prompt = await off_loop(ask)(ada)
    user, conversation = await user_of(ada), await off_loop(chat_of)(ada)
    async with Page(user) as one, Page(user) as other:
        for page in (one, other):
            await page.ask("hello")
            opened = await page.ask("open", conversation=conversation.pk)
            assert opened["pending"] == [f"prompt:{prompt.pk}"]
        reply = await one.ask("answer", prompt=prompt.pk, answers={"answer": ["Staging"]})
        assert reply["entry"]["state"] == "answered"
        sync = await other.wait_for("sync", lambda message: not message["pending"])
        assert sync["entries"][0]["answers"] == {"answer": ["Staging"]}
        late = await other.ask("answer", prompt=prompt.pk, answers={"answer": ["Production"]})
        assert "Staging" in late["error"]


async def test_a_closed_page_cancels_nothing(ada):
    prompt = await off_loop(ask)(ada)
    conversation = await off_loop(chat_of)(ada)
    async with Page(await user_of(ada)) as page:
        await page.ask("hello")
        await page.ask("open", conversation=conversation.pk)
    assert (await off_loop(Prompt.objects.get)(pk=prompt.pk)).state == PromptState.PENDING
    assert (await off_loop(Turn.objects.get)(pk=int(prompt.correlation))).state == TurnState.WAITING


@pytest.mark.proves("U1")
async def test_a_page_that_was_away_gets_what_changed_meanwhile(ada):
    conversation = await off_loop(chat_of)(ada)
    async with Page(await user_of(ada)) as page:
        opened = await page.ask("open", conversation=conversation.pk)
    owed = await off_loop(factories.make_obligation)(conversation)
    async with Page(await user_of(ada)) as page:
        again = await page.ask("open", conversation=conversation.pk, since=opened["watermark"])
        assert "reset" not in again
        assert [entry["id"] for entry in again["entries"]] == [f"ob:{owed.pk}"]


async def test_a_page_gets_a_great_deal_in_messages_of_bearable_size(ada):
    conversation = await off_loop(chat_of)(ada)
    for size in (50_000, 50_000, 50_000, 120_000, 120_000, 120_000, 50_000, 50_000):
        await off_loop(factories.make_obligation)(conversation, content="漢" * size)
    async with Page(await user_of(ada)) as page:
        opened = await page.ask("open", conversation=conversation.pk)
        seen = list(opened["entries"])
        while opened["more"]:
            size = len(json.dumps(opened, ensure_ascii=False).encode())
            assert size < 2_000_000
            before = min(entry["at"] for entry in opened["entries"])
            opened = await page.ask("more", conversation=conversation.pk, before=before)
            seen += opened["entries"]
    assert len({entry["id"] for entry in seen}) == 8


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ("no json", "no request"),
        ("[" * 100_000, "no request"),
        ('{"id": 1, "type": "open", "conversation": 1e400}', "not complete"),
        ("[1]", "no request"),
        ('{"id": 1, "type": "drop_tables"}', "no such request"),
        ('{"id": 1, "type": "open"}', "not complete"),
        ('{"id": 1, "type": "open", "conversation": "x"}', "not complete"),
        ('{"id": 1, "type": "open", "conversation": 999999}', "no such conversation"),
        ('{"id": 1, "type": "answer", "prompt": 1, "answers": "x"}', "not complete"),
        (
            '{"id": 1, "type": "more", "conversation": 1, "before": "2026-01-01T00:00:00"}',
            "not complete",
        ),
    ],
)
async def test_a_request_that_makes_no_sense_gets_a_sentence(ada, frame, words):
    async with Page(await user_of(ada)) as page:
        await page.communicator.send_to(text_data=frame)
        reply = await page.communicator.receive_json_from(timeout=5)
        assert words in reply["error"]


async def test_without_a_login_a_page_is_sent_away():
    communicator = WebsocketCommunicator(ConsoleConsumer.as_asgi(), "/ws/console/")
    await communicator.connect()
    assert (await communicator.receive_output(timeout=5))["code"] == LOGGED_OUT


async def test_who_logs_out_or_is_disabled_is_sent_away_at_the_next_request(ada):
    user = await user_of(ada)
    session = await off_loop(make_session)(user)
    async with Page(user, session) as page:
        await page.ask("hello")
        await off_loop(session.delete)(session.session_key)
        await page.communicator.send_json_to({"id": 9, "type": "new"})
        assert await closing_code(page) == LOGGED_OUT
    async with Page(user) as page:
        await page.ask("hello")
        await off_loop(get_user_model().objects.filter(pk=ada.pk).update)(is_active=False)
        await page.communicator.send_json_to({"id": 9, "type": "new"})
        assert await closing_code(page) == LOGGED_OUT


def make_session(user):
    session = SessionStore()
    session["user"] = user.pk
    session.save()
    return session


async def closing_code(page):
    while True:
        output = await page.communicator.receive_output(timeout=5)
        if output["type"] == "websocket.close":
            return output["code"]
