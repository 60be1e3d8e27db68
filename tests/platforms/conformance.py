"""What every adapter does, whatever its platform ([P1]): one class of tests, run against a peer.

    class TestSlack(Conformance):
        harness_class = SlackHarness

What is peculiar to one platform is tested beside it, in tests/contract.
"""

import asyncio
import io
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings

from delivery.content import Controls
from delivery.errors import (
    AuthenticationRefused,
    DestinationGone,
    MessageGone,
    NetworkDown,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    ThreadGone,
    TransportError,
)
from delivery.ports import Certainty, Readable, problem_with
from gateway.fetching.limits import Limits, Meter
from gateway.messages import Batch, ButtonPress, Ignored, InboundMessage
from gateway.ports import Adapter, GivesFiles, OutgoingFile, TakesFiles
from tests.platforms.harness import Harness, Seen, buttons

BEFORE_IT_IS_READ = ["500", "502html", "503", "reset_before", "garbage"]
NO_PROPER_ANSWER = ["502html", "reset_before", "lost_ack", "truncated", "garbage"]
ARRIVED = {"lost_ack", "truncated", "garbage"}


class Conformance:
    """The suite; a subclass names its harness."""

    harness_class: type[Harness]

    @pytest.fixture
    def harness(self) -> Iterator[Harness]:
        made = self.harness_class()
        with made.peer:
            yield made

    @pytest.fixture
    async def adapter(self, harness: Harness) -> AsyncIterator[Adapter]:
        harness.seen(harness.private)
        made = harness.adapter()
        await made.connect()
        yield made
        await made.disconnect()

    # --- connecting -----------------------------------------------------------------------------

    @pytest.mark.proves("P1")
    async def test_connecting_tells_who_the_bot_is(self, harness, adapter):
        me = await adapter.connect()

        assert me.user_id
        assert me.user_name

    @pytest.mark.proves("P1")
    async def test_a_wrong_credential_is_refused_with_what_to_do(self, harness):
        adapter = harness.platform.build_adapter(harness.wrong_config())

        with pytest.raises(AuthenticationRefused) as refused:
            await adapter.connect()
        assert refused.value.detail.endswith(".")
        assert harness.wrong_config().secret not in str(refused.value)

    async def test_settings_that_cannot_work_are_refused_without_asking_anyone(self, harness):
        wrong = replace(harness.config(), secret="undefined")
        adapter = harness.platform.build_adapter(wrong)

        with pytest.raises(AuthenticationRefused, match="placeholder"):
            await adapter.connect()
        assert len(harness.peer.calls) == 0

    async def test_an_absent_server_is_a_network_that_is_down(self, harness):
        with harness.peer.refuse(), pytest.raises(NetworkDown):
            await harness.adapter().connect()

    @pytest.mark.parametrize("kind", BEFORE_IT_IS_READ)
    async def test_any_trouble_while_connecting_is_a_network_that_is_down(self, harness, kind):
        harness.fault("connect", kind)

        with pytest.raises(NetworkDown):
            await harness.adapter().connect()

    async def test_an_adapter_is_connected_again_and_closed_twice(self, harness, adapter):
        await adapter.connect()
        await adapter.send(harness.part())
        await adapter.disconnect()
        await adapter.disconnect()

        with pytest.raises(NetworkDown):
            await adapter.send(harness.part())

    @pytest.mark.proves("P1")
    async def test_nothing_is_left_running_after_closing(self, harness):
        before = asyncio.all_tasks()
        adapter = harness.adapter()
        await adapter.connect()
        harness.say("heard")
        await adapter.receive("")
        await adapter.disconnect()
        await asyncio.sleep(0)

        assert asyncio.all_tasks() - before == set()

    # --- receiving ------------------------------------------------------------------------------

    @pytest.mark.proves("P1", "P3")
    async def test_what_is_said_comes_in_and_the_cursor_confirms_it(self, harness, adapter):
        harness.say("one")
        harness.say("two")
        first = await said(adapter, "", 2)
        harness.say("three")
        second = await said(adapter, first.cursor, 1)

        assert texts(first) == ["one", "two"]
        assert texts(second) == ["three"]

    @pytest.mark.proves("P2")
    async def test_what_was_not_confirmed_comes_in_again_under_the_same_id(self, harness, adapter):
        harness.say("one")
        first = await adapter.receive("")
        again = await adapter.receive("")

        assert first == again

    @pytest.mark.proves("P2")
    async def test_what_was_not_confirmed_comes_in_again_to_another_connection(
        self, harness, adapter
    ):
        harness.say("one")
        first = await adapter.receive("")
        await adapter.disconnect()
        await adapter.connect()
        again = await adapter.receive("")

        assert ids(first) == ids(again)

    @pytest.mark.proves("P2")
    async def test_a_connection_that_dies_loses_and_repeats_nothing(self, harness, adapter):
        harness.say("before")
        first = await adapter.receive("")
        waiting = asyncio.create_task(insisting(adapter, first.cursor))
        await asyncio.sleep(0)
        await asyncio.to_thread(harness.cut)
        harness.say("after")
        second = await waiting

        assert texts(first) == ["before"]
        assert texts(second) == ["after"]

    @pytest.mark.proves("P1")
    async def test_what_nobody_can_read_does_not_stop_what_is_behind_it(self, harness, adapter):
        harness.say_nonsense()
        harness.say("after it")
        batch = await said(adapter, "", 2)

        assert [type(event) for event in batch.events] == [Ignored, InboundMessage]

    @pytest.mark.proves("P1")
    async def test_a_message_says_who_where_and_when(self, harness, adapter):
        message_id = harness.say("hello")
        (event,) = (await adapter.receive("")).events

        assert event.source.address == harness.address()
        assert event.source.message_id == message_id
        assert harness.platform.problem_with_user_id(event.source.user_id) == ""
        assert event.source.user_name
        assert abs(event.sent_at - datetime.now(UTC)) < timedelta(hours=1)

    @pytest.mark.proves("P1")
    async def test_a_message_in_a_thread_says_which(self, harness, adapter):
        thread = harness.open_thread()
        harness.say("below", thread=thread)
        batch = await adapter.receive("")

        assert batch.events[-1].source.address == harness.address(thread=thread)

    @pytest.mark.proves("Q14")
    async def test_a_press_brings_back_what_the_button_carries(self, harness, adapter):
        sent = await adapter.send(harness.part(controls=buttons("Yes", "No")))
        harness.press(sent.message_id, "No")
        press = await pressed(adapter)

        assert press.data == buttons("Yes", "No").rows[0][1].data
        assert press.message_id == sent.message_id
        assert press.source.address == harness.address()

    @pytest.mark.proves("Q14")
    async def test_a_presser_is_told_something(self, harness, adapter):
        sent = await adapter.send(harness.part(controls=buttons("Yes")))
        harness.press(sent.message_id, "Yes")
        press = await pressed(adapter)
        await adapter.acknowledge(press, text="Another person was asked.", alert=True)

        assert harness.told("Another person was asked.")

    # --- sending --------------------------------------------------------------------------------

    @pytest.mark.proves("P1")
    async def test_a_message_arrives_once_and_the_receipt_names_it(self, harness, adapter):
        receipt = await adapter.send(harness.part("hello 😀"))

        assert harness.seen(harness.private) == [Seen(receipt.message_id, "hello 😀")]

    @pytest.mark.proves("P1")
    async def test_a_long_answer_arrives_in_parts_that_the_platform_takes(self, harness, adapter):
        answer = "\n\n".join(f"**{number}.** " + "word & <tag> " * 60 for number in range(40))
        bodies = harness.platform.dialect.render(answer)
        for number, body in enumerate(bodies):
            part = harness.part("", body=body, idempotency_key=f"{number}")
            await adapter.send(part)

        shown = [seen.text for seen in harness.seen(harness.private)]
        assert shown == [body.text for body in bodies]
        assert len(bodies) > 3

    @pytest.mark.proves("P1")
    async def test_a_message_as_long_as_is_declared_is_taken_with_buttons(self, harness, adapter):
        text = "x" * harness.platform.capabilities.limit.size
        await adapter.send(harness.part(text, controls=buttons("Yes")))
        (shown,) = harness.seen(harness.private)

        assert (shown.text, shown.labels) == (text, ("Yes",))

    async def test_a_message_goes_into_its_thread_and_nowhere_else(self, harness, adapter):
        thread = harness.open_thread()
        await adapter.send(harness.part("below", thread=thread, controls=buttons("Yes")))

        (shown,) = [seen for seen in harness.seen(harness.group) if seen.text == "below"]
        assert (shown.thread, shown.labels) == (thread, ("Yes",))
        assert harness.seen(harness.private) == []

    async def test_an_edit_changes_words_and_buttons(self, harness, adapter):
        sent = await adapter.send(harness.part("one", controls=buttons("a")))
        receipt = await adapter.edit(sent.message_id, harness.part("two", controls=buttons("b")))

        assert receipt.message_id == sent.message_id
        assert harness.seen(harness.private) == [Seen(sent.message_id, "two", ("b",))]

    @pytest.mark.proves("Q5")
    async def test_an_edit_takes_the_buttons_away(self, harness, adapter):
        sent = await adapter.send(harness.part("one", controls=buttons("a")))
        await adapter.edit(sent.message_id, harness.part("two", controls=Controls(clear=True)))

        assert harness.seen(harness.private) == [Seen(sent.message_id, "two")]

    async def test_editing_to_what_is_there_is_success(self, harness, adapter):
        sent = await adapter.send(harness.part("one"))
        again = await adapter.edit(sent.message_id, harness.part("one"))

        assert again.message_id == sent.message_id

    async def test_a_message_is_deleted_once(self, harness, adapter):
        sent = await adapter.send(harness.part())
        await adapter.delete(harness.address(), sent.message_id)

        assert harness.seen(harness.private) == []
        with pytest.raises(MessageGone):
            await adapter.delete(harness.address(), sent.message_id)

    async def test_typing_is_shown_or_passed_over(self, harness, adapter):
        await adapter.typing(harness.address())
        await adapter.typing(harness.address(thread=harness.open_thread()))

    # --- being refused --------------------------------------------------------------------------

    @pytest.mark.proves("P1")
    async def test_a_flood_is_waited_for_as_long_as_the_platform_says(self, harness, adapter):
        harness.fault("send", "429", retry_after=7)

        with pytest.raises(RateLimited) as limited:
            await adapter.send(harness.part())
        assert limited.value.retry_after == 7.0

    @pytest.mark.proves("P1")
    async def test_a_chat_that_is_closed_to_us_is_gone(self, harness, adapter):
        harness.close_chat()

        with pytest.raises(DestinationGone):
            await adapter.send(harness.part())

    async def test_a_thread_that_is_no_more_is_gone(self, harness, adapter):
        thread = harness.open_thread()
        harness.close_thread(thread)

        with pytest.raises(ThreadGone):
            await adapter.send(harness.part(thread=thread))

    async def test_a_message_to_edit_that_is_no_more_is_told(self, harness, adapter):
        sent = await adapter.send(harness.part())
        harness.remove(sent.message_id)

        with pytest.raises(MessageGone):
            await adapter.edit(sent.message_id, harness.part("two"))

    async def test_an_id_that_is_none_of_the_platforms_names_no_message(self, harness, adapter):
        with pytest.raises(MessageGone):
            await adapter.edit("preview-1", harness.part())

    # --- not knowing ----------------------------------------------------------------------------

    @pytest.mark.parametrize("kind", ["500", "503"])
    async def test_a_server_in_trouble_is_tried_again(self, harness, adapter, kind):
        harness.fault("send", kind)

        with pytest.raises((NotSent, OutcomeUnknown)):
            await adapter.send(harness.part())

    @pytest.mark.proves("P1")
    @pytest.mark.parametrize("kind", NO_PROPER_ANSWER)
    async def test_a_send_without_a_proper_answer_may_have_arrived(self, harness, adapter, kind):
        harness.fault("send", kind)

        with pytest.raises(OutcomeUnknown):
            await adapter.send(harness.part())
        assert len(harness.seen(harness.private)) == (kind in ARRIVED)

    async def test_a_send_that_is_not_answered_in_time_may_have_arrived(self, harness):
        adapter = harness.adapter(**harness.impatient())
        await adapter.connect()
        harness.fault("send", "hang", seconds=2)

        with pytest.raises(OutcomeUnknown):
            await adapter.send(harness.part())
        await adapter.disconnect()
        assert len(harness.seen(harness.private)) == 1

    async def test_a_send_that_never_left_is_not_sent(self, harness, adapter):
        with harness.peer.refuse(), pytest.raises(NotSent):
            await adapter.send(harness.part())

        assert harness.seen(harness.private) == []

    async def test_a_cancelled_send_is_cancelled(self, harness, adapter):
        fault = harness.fault("send", "hold")
        sending = asyncio.create_task(adapter.send(harness.part()))
        await harness.peer.until(lambda: fault.hits)
        sending.cancel()

        with pytest.raises(asyncio.CancelledError):
            await sending
        fault.gate.open()

    @pytest.mark.proves("D5")
    async def test_its_certainty_is_kept(self, harness, adapter):
        certainty = harness.platform.capabilities.certainty
        assert problem_with(adapter, certainty) == ""
        if certainty is not Certainty.READABLE:
            return
        assert isinstance(adapter, Readable)
        since = datetime.now(UTC) - timedelta(minutes=1)
        for place in ({}, {"thread": harness.open_thread()}):
            part = harness.part("lost", **place)
            assert await adapter.look(part, since=since) is None
            fault = harness.fault("send", "lost_ack", times=1)
            with pytest.raises(OutcomeUnknown):
                await adapter.send(part)
            harness.peer.faults.remove(fault)

            found = await adapter.look(part, since=since)

            chat = part.address.chat_id
            assert found is not None
            assert found.message_id == harness.seen(chat)[-1].message_id

    # --- files ----------------------------------------------------------------------------------

    @pytest.mark.proves("D18")
    async def test_a_file_arrives_with_its_words(self, harness, adapter):
        if not isinstance(adapter, TakesFiles):
            pytest.skip("it takes no files")
        file = OutgoingFile(
            form="document", name="a.txt", mime_type="text/plain", content=io.BytesIO(b"words")
        )
        receipt = await adapter.send_file(harness.part("see this"), file)

        (shown,) = harness.seen(harness.private)
        assert (shown.message_id, shown.text) == (receipt.message_id, "see this")

    @pytest.mark.proves("D17")
    async def test_a_file_that_came_with_a_message_is_fetched(self, harness, adapter):
        if not isinstance(adapter, GivesFiles):
            pytest.skip("it gives no files")
        harness.share_file(b"what is in it", "notes.txt")
        (event,) = (await adapter.receive("")).events
        (attachment,) = event.attachments
        got = io.BytesIO()
        await adapter.fetch(attachment.file_id, Meter(got.write, 1000), Limits())

        assert got.getvalue() == b"what is in it"
        assert (attachment.name, attachment.size) == ("notes.txt", 13)

    # --- secrets --------------------------------------------------------------------------------

    @pytest.mark.proves("X1")
    @pytest.mark.parametrize(
        "kind",
        ["401", "403", "400", "429", "500", "502html", "reset_before", "garbage", "truncated"],
    )
    async def test_no_error_and_no_log_tells_a_secret(self, harness, adapter, kind, caplog):
        caplog.set_level(logging.DEBUG)
        for name, facts in settings.LOGGING["loggers"].items():
            caplog.set_level(facts["level"], name)
        harness.fault("send", kind)

        with pytest.raises(TransportError) as raised:
            await adapter.send(harness.part("not for the log"))
        for secret in (*harness.secrets, "not for the log"):
            assert secret not in everything_said(raised.value)
            assert secret not in caplog.text


def texts(batch: Batch) -> list[str]:
    return [event.text for event in batch.events if isinstance(event, InboundMessage)]


def ids(batch: Batch) -> list[str]:
    return [event.event_id for event in batch.events]


async def said(adapter: Adapter, cursor: str, count: int) -> Batch:
    """So many events, however many batches they come in."""
    events: list[Any] = []
    while len(events) < count:
        batch = await adapter.receive(cursor)
        cursor = batch.cursor
        events += batch.events
    return Batch(cursor, tuple(events))


async def insisting(adapter: Adapter, cursor: str) -> Batch:
    """What comes in next, whatever becomes of the connection meanwhile."""
    while True:
        try:
            batch = await adapter.receive(cursor)
        except NotSent:
            continue
        if batch.events:
            return batch
        cursor = batch.cursor


async def pressed(adapter: Adapter) -> ButtonPress:
    batch = await said(adapter, "", 1)
    (press,) = [event for event in batch.events if isinstance(event, ButtonPress)]
    return press


def everything_said(error: BaseException | None) -> str:
    words = ""
    while error is not None:
        words += f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return words
