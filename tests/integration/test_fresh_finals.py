"""Answers that come as a new message, so that people are notified, and what becomes of the live
message: taken away once the answer is there, and not before ([D13])."""

import asyncio
from dataclasses import replace

import pytest

from delivery import ledger, preview_rows, replacing
from delivery.errors import DestinationMoved, MessageGone, NetworkDown, OutcomeUnknown, Refused
from delivery.means import Ambience
from delivery.models import Preview
from tests.factories import make_conversation
from tests.integration.desk import claim, has, outcomes, parts_of

pytestmark = pytest.mark.proves("D13")
KEY = "t1.0"
LIVE = "Hel ▉"
LONG = "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(20))


@pytest.fixture
def place(desk):
    return make_conversation(chat_id="1")


def show(desk, place, *texts: str) -> list[str]:
    """A live message stands in the chat."""
    ids = [desk.transport.show(text, place.address) for text in texts or (LIVE,)]
    preview_rows.store(KEY, "telegram", place.address, ids, desk.clock())
    return ids


def answer(desk, place, content: str = "Hello", *, after: int | None = 60):
    return desk.owe(content, conversation=place, preview_key=KEY, fresh_after=after)


@pytest.mark.parametrize(
    ("after", "watched", "calls"),
    [
        (60, 61, ["send", "delete"]),
        (0, 0, ["send", "delete"]),
        (60, 5, ["edit"]),
        (None, 3600, ["edit"]),
    ],
)
def test_an_answer_that_was_watched_for_long_is_a_new_message(
    desk, place, after, watched, calls
) -> None:
    show(desk, place)
    desk.clock.advance(watched)
    answer(desk, place, after=after)
    desk.serve()
    assert [call.operation for call in desk.transport.calls] == calls
    assert desk.transport.texts == ["Hello"]


def test_without_a_live_message_there_is_nothing_to_take_away(desk, place) -> None:
    answer(desk, place, after=0)
    desk.serve()
    assert [call.operation for call in desk.transport.calls] == ["send"]


def test_the_live_message_stays_until_the_last_part_has_arrived(desk, place) -> None:
    show(desk, place, "one ▉", "two ▉")
    owed = answer(desk, place, LONG, after=0)
    seen = []

    async def look(call) -> None:
        seen.append((call.operation, "one ▉" in desk.transport.texts))

    desk.transport.before = look
    desk.serve()
    count = len(parts_of(owed))
    assert seen == [("send", True)] * count + [("delete", True), ("delete", False)]
    assert len(desk.transport.texts) == count


def test_the_live_message_stays_while_the_answer_is_still_owed(desk, place) -> None:
    show(desk, place)
    owed = answer(desk, place, after=0)
    desk.transport.fail(NetworkDown())
    desk.serve(until=desk.calls(1))
    assert desk.transport.texts == [LIVE]
    assert has(owed, state="failed")()


@pytest.mark.parametrize("gone", [True, False])
def test_a_live_message_that_cannot_be_deleted_says_where_the_answer_is(desk, place, gone) -> None:
    show(desk, place)
    answer(desk, place, after=0)
    desk.transport.fail(MessageGone() if gone else Refused("can't be deleted"), on="delete")
    desk.serve()
    stub = LIVE if gone else "↪️ The answer stands in another message"
    assert desk.transport.texts == [stub, "Hello"]


def test_what_was_decided_stays_decided_however_long_it_takes(desk, place) -> None:
    show(desk, place)
    desk.clock.advance(5)
    answer(desk, place, after=60)
    desk.transport.fail(NetworkDown(), on="edit")
    desk.serve(until=desk.calls(1))
    desk.clock.advance(600)
    desk.serve()
    assert [call.operation for call in desk.transport.calls] == ["edit", "edit"]


# --- a process dies


def die_at(desk, operation: str) -> None:
    """The process ends while the platform is called so; another takes the account over."""

    async def die(call) -> None:
        if call.operation == operation:
            desk.transport.before = None
            desk.outbox.lease_lost.set()
            raise SystemError("killed")

    desk.transport.before = die


def clear(desk) -> None:
    """What a process does first when it has become the owner."""
    ambience = Ambience(desk.database, desk.clock, lambda: 0.0)
    asyncio.run(replacing.take_away_what_is_left("telegram", desk.transport, ambience))


def test_a_death_before_the_live_message_is_deleted_leaves_that_to_the_next_owner(
    desk, place
) -> None:
    show(desk, place)
    owed = answer(desk, place, after=0)
    die_at(desk, "delete")
    desk.serve(until=has(owed, state="delivered"))
    assert desk.transport.texts == [LIVE, "Hello"]
    desk.restart("host/200/2")
    clear(desk)
    assert desk.transport.texts == ["Hello"]
    assert not Preview.objects.exists()
    clear(desk)
    assert [call.operation for call in desk.transport.calls] == ["send", "delete", "delete"]


def test_a_death_while_the_answer_is_sent_marks_the_second_copy_and_ends_tidy(desk, place) -> None:
    show(desk, place)
    owed = answer(desk, place, after=0)
    claim(desk)
    desk.transport.show("Hello", place.address)  # it got there, and nobody wrote it down
    desk.restart("host/200/2")
    clear(desk)
    assert LIVE in desk.transport.texts
    desk.serve()
    assert outcomes(owed) == [("send", "unknown"), ("send", "accepted")]
    first, second = desk.transport.texts
    assert first == "Hello"
    assert second.startswith("♻️")


def test_the_next_owner_takes_away_nothing_that_is_an_answer(desk, place) -> None:
    show(desk, place)
    answer(desk, place, after=None)
    desk.serve()
    clear(desk)
    assert desk.transport.texts == ["Hello"]


def test_the_next_owner_takes_away_nothing_that_staff_have_seen_arrive(desk, place) -> None:
    show(desk, place)
    owed = answer(desk, place, after=0)
    desk.transport.fail(OutcomeUnknown())
    desk.serve(until=desk.calls(1))
    ledger.mark_delivered(owed, reason="seen", now=desk.clock())
    clear(desk)
    assert desk.transport.texts == [LIVE]


# --- a chat moves


def test_in_a_chat_with_another_id_no_message_is_changed_by_its_old_number(desk, place) -> None:
    ids = show(desk, place)
    owed = answer(desk, place)
    ledger.move_chat("telegram", "1", "-100200", now=desk.clock())
    desk.serve()
    assert [call.operation for call in desk.transport.calls] == ["send"]
    assert ids[0] in desk.transport.screen
    assert has(owed, state="delivered", chat_id="-100200")()


def test_a_move_that_the_edit_itself_tells_of_leaves_the_old_message_alone(desk, place) -> None:
    show(desk, place)
    answer(desk, place, after=None)
    desk.transport.fail(DestinationMoved(new_chat_id="-100200"), on="edit")
    desk.serve()
    sent = desk.transport.messages[-1]
    assert (sent.operation, sent.address) == ("send", replace(place.address, chat_id="-100200"))
    assert desk.transport.of("delete") == []
