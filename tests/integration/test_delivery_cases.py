"""What was reported of other gateways' deliveries, told of this one; each names its case."""

import asyncio

import pytest

from delivery import preview_rows
from delivery.errors import NetworkDown, OutcomeUnknown, RateLimited, Refused, TooOld
from delivery.models import Obligation
from tests.factories import make_conversation
from tests.integration.desk import has, outcomes, parts_of

CURSOR = "▉"
LONG = "\n\n".join(f"Paragraph {number}. " + "word " * 100 for number in range(9))  # two messages
RECOVERED = "♻️"


def streamed(desk, shown: str, content: str) -> Obligation:
    """A final whose preview stands already."""
    chat = make_conversation(chat_id="1")
    message = desk.transport.show(shown, chat.address)
    preview_rows.store("t1.0", "telegram", chat.address, [message], desk.clock())
    return desk.owe(content, conversation=chat, preview_key="t1.0")


# B050 (a): written down and not begun, it is sent once and without a mark.
def test_what_was_owed_when_everything_stopped_is_sent_once_without_a_mark(desk) -> None:
    owed = desk.owe("T")
    desk.restart("host/200/2")
    desk.serve()
    assert desk.transport.texts == ["T"]
    assert outcomes(owed) == [("send", "accepted")]


# B052: a stop waits for the send under way, so the next start repeats nothing.
def test_a_stop_during_a_send_leaves_nothing_to_repeat(desk) -> None:
    desk.owe("T")
    begun = []

    async def slowly(call) -> None:
        begun.append(call)
        await asyncio.sleep(0.3)

    desk.transport.before = slowly
    desk.serve(until=lambda: bool(begun))
    desk.transport.before = None
    desk.restart("host/200/2")
    desk.serve()
    assert desk.transport.texts == ["T"]


# B062: the key of a part is the same on each try, whatever was sent in between.
def test_the_key_of_a_part_depends_on_nothing_that_changes(desk) -> None:
    first, other = make_conversation(chat_id="1"), make_conversation(chat_id="2")
    desk.owe("M", conversation=first)
    desk.transport.fail(OutcomeUnknown(), chat="1", arrives=True)
    desk.serve(until=desk.calls(1))
    desk.owe("N", conversation=other)
    desk.clock.advance(60)
    desk.serve()
    keys = [c.part.idempotency_key for c in desk.transport.of("send") if c.address.chat_id == "1"]
    assert len(keys) == 2
    assert len(set(keys)) == 1


# B066: it was taken, and writing that down failed: neither a second send nor a mark.
def test_a_receipt_that_could_not_be_stored_at_once_is_no_reason_to_send_again(desk) -> None:
    owed = desk.owe("M")
    desk.database.outages["accept"] = 3
    desk.serve()
    assert desk.transport.texts == ["M"]
    assert has(owed, state="delivered")()


# B080: of a final of two messages neither counts before the platform named it.
@pytest.mark.proves("D4", "D13")
def test_a_final_is_delivered_when_both_its_messages_are_and_not_before(desk) -> None:
    owed = streamed(desk, f"Paragraph 0. {CURSOR}", LONG)
    assert len(parts_of(owed)) == 2
    desk.transport.fail(RateLimited(retry_after=30), on="edit")
    desk.serve(until=desk.calls(1))
    assert has(owed, state="failed")()
    desk.transport.fail(RateLimited(retry_after=30), on="send")
    desk.clock.advance(31)
    desk.serve(until=desk.calls(3))
    assert has(owed, state="failed")()
    desk.clock.advance(31)
    desk.serve()
    assert "".join(" ".join(desk.transport.texts).split()) == "".join(LONG.split())
    assert len(desk.transport.texts) == 2


# B082: whatever the preview showed last, the final shows all of it and no cursor.
@pytest.mark.proves("D13")
@pytest.mark.parametrize("shown", ["half of it ▉", "The whole of it. ▉", "The whole of it."])
def test_the_final_takes_the_place_of_whatever_stood_there(desk, shown) -> None:
    streamed(desk, shown, "The whole of it.")
    desk.serve()
    assert desk.transport.texts == ["The whole of it."]


# B086: the preview goes once the new message is there, and stays as long as it is not.
@pytest.mark.proves("D13")
def test_a_preview_that_cannot_be_finished_stays_until_its_replacement_is_there(desk) -> None:
    owed = streamed(desk, f"half {CURSOR}", "whole")
    desk.transport.fail(TooOld(), on="edit")
    desk.transport.fail(NetworkDown(), on="send")
    desk.serve(until=has(owed, state="failed"))
    assert desk.transport.texts == [f"half {CURSOR}"]
    desk.transport.fail(TooOld(), on="edit")
    desk.clock.advance(60)
    desk.serve()
    assert desk.transport.texts == ["whole"]


# B090: three refused edits and three failed sends later it is still owed, and arrives.
@pytest.mark.proves("D4")
def test_what_failed_six_times_is_still_owed_and_arrives(desk) -> None:
    owed = streamed(desk, f"half {CURSOR}", "whole")
    desk.transport.fail(*[RateLimited(retry_after=1)] * 3, TooOld(), on="edit")
    desk.transport.fail(*[NetworkDown("500")] * 3, on="send")
    for number in (1, 2, 3, 5):
        desk.serve(until=desk.calls(number))
        assert has(owed, state="failed")()
        desk.clock.advance(60)
    desk.transport.fail(TooOld(), TooOld(), on="edit")
    desk.serve(until=desk.calls(7))
    desk.clock.advance(60)
    desk.serve(until=desk.calls(9))
    desk.clock.advance(60)
    desk.serve()
    assert desk.transport.texts == ["whole"]


# B064: what comes in late about a delivered message moves nothing back.
def test_a_delivered_message_is_never_owed_again(desk) -> None:
    owed = desk.owe("M")
    desk.serve()
    desk.restart("host/200/2")
    desk.serve()
    assert desk.transport.texts == ["M"]
    assert has(owed, state="delivered", attempts=1)()


# B058: no plain copy follows a time-out, whatever its words say.
def test_a_time_out_that_speaks_of_formatting_is_a_time_out(desk) -> None:
    owed = desk.owe("Some **bold** words")
    desk.transport.fail(OutcomeUnknown("Timeout sending message: can't parse entities"))
    desk.serve(until=desk.calls(1))
    assert has(owed, state="failed", error_kind="OutcomeUnknown")()


# B060: the platform's refusal in a successful answer is a refusal (the adapter's word), and told.
def test_a_refusal_leaves_its_code_for_staff(desk) -> None:
    owed = desk.owe("M")
    desk.transport.fail(Refused("ret -2", code="-2"))
    desk.serve()
    assert owed.parts.get().tries.get().error_code == "-2"
