"""The outbox against a platform that does everything a platform may do."""

import asyncio

import pytest

from delivery import destinations, ledger, preview_rows
from delivery.content import Button, Controls
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
)
from delivery.models import Attempt, DeadDestination, Kind, Obligation, Part
from delivery.ports import Certainty, Receipt
from delivery.retry import FATE_UNKNOWN
from gateway.models import Conversation
from tests.factories import make_conversation, make_obligation
from tests.integration.desk import claim, has, nothing_is_open, outcomes, parts_of

RECOVERED = "♻️"
LONG = "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(20))


def states(obligation):
    return [part.state for part in parts_of(obligation)]


def test_an_owed_message_is_delivered_and_says_so(desk) -> None:
    owed = desk.owe("Hello")
    desk.serve()
    owed.refresh_from_db()
    assert desk.transport.texts == ["Hello"]
    assert (owed.state, owed.attempts, owed.settled_at) == ("delivered", 1, desk.clock())
    assert [part.message_id for part in parts_of(owed)] == list(desk.transport.screen)
    assert outcomes(owed) == [("send", "accepted")]


@pytest.mark.proves("D1")
def test_the_row_says_attempting_before_the_platform_is_called(desk) -> None:
    owed, seen = desk.owe("Hello"), []

    async def look(call) -> None:
        row = await desk.database(Obligation.objects.get, pk=owed.pk)
        part = await desk.database(Part.objects.get, obligation=owed)
        seen.append((row.state, part.state, row.owner))

    desk.transport.before = look
    desk.serve()
    assert seen == [("attempting", "attempting", desk.fence.owner)]


@pytest.mark.proves("D8")
def test_messages_of_one_chat_keep_their_order(desk) -> None:
    conversation = make_conversation()
    for number in range(8):
        desk.owe(f"Number {number}", conversation=conversation)
    desk.serve()
    assert desk.transport.texts == [f"Number {number}" for number in range(8)]


@pytest.mark.proves("D8")
def test_a_chat_that_must_wait_holds_up_no_other(desk) -> None:
    x, y = make_conversation(chat_id="1"), make_conversation(chat_id="2")
    first, second = desk.owe("m1", conversation=x), desk.owe("m2", conversation=x)
    desk.owe("n1", conversation=y)
    desk.transport.fail(RateLimited(retry_after=5), chat="1")
    desk.serve(until=desk.calls(2))
    assert desk.transport.texts == ["n1"]
    assert has(first, state="failed")()
    assert has(second, state="pending", attempts=0)()
    desk.clock.advance(5.1)
    desk.serve()
    assert desk.transport.texts == ["n1", "m1", "m2"]


@pytest.mark.proves("D10")
def test_a_limit_of_the_whole_account_holds_up_every_chat(desk) -> None:
    desk.owe("first", conversation=make_conversation(chat_id="1"))
    desk.transport.fail(RateLimited(retry_after=5, scope="account"))

    desk.serve(until=desk.calls(1))
    assert desk.outbox.traffic.room() == 0
    desk.clock.advance(4.9)
    assert desk.outbox.traffic.room() == 0
    desk.clock.advance(0.2)
    assert desk.outbox.traffic.room() is None


def test_while_the_account_is_held_up_nothing_is_claimed(desk) -> None:
    owed = desk.owe("first")
    desk.transport.fail(RateLimited(retry_after=5, scope="account"))
    claims = []

    def counted() -> bool:
        claims.append(desk.database.calls.count("claim_due"))
        if desk.calls(1)():
            desk.outbox._woken.set()
        return len(claims) > 30

    desk.serve(until=counted)
    assert len(desk.transport.calls) == 1
    assert has(owed, state="failed", attempts=1)()


@pytest.mark.proves("D10")
def test_refused_formatting_is_sent_plain_at_once(desk) -> None:
    owed = desk.owe("Some **bold** words")
    desk.transport.fail(FormattingRefused("can't parse entities"))
    desk.serve()
    first, second = desk.transport.of("send")
    assert first.part.body.format
    assert not second.part.body.format
    assert desk.transport.texts == ["Some bold words"]
    assert outcomes(owed) == [("send", "refused"), ("send", "accepted")]


def test_a_time_out_never_drops_the_formatting(desk) -> None:
    desk.owe("Some **bold** words")
    desk.transport.fail(OutcomeUnknown("Timeout sending message: bad entities"), arrives=True)
    desk.serve(until=desk.calls(1))
    desk.clock.advance(60)
    desk.serve()
    assert all(call.part.body.format for call in desk.transport.of("send"))


def test_a_vanished_anchor_is_left_out_at_once(desk) -> None:
    owed = desk.owe("Hello", reply_to="41")
    desk.transport.fail(AnchorGone())
    desk.serve()
    assert [call.part.reply_to for call in desk.transport.of("send")] == ["41", ""]
    assert has(owed, state="delivered", reply_to="")()


@pytest.mark.proves("D10")
def test_a_vanished_thread_falls_back_to_the_chat_visibly(desk) -> None:
    conversation = make_conversation(chat_type="group", thread_id="7")
    owed = desk.owe("Hello", conversation=conversation)
    desk.transport.fail(ThreadGone())
    desk.serve()
    first, second = desk.transport.of("send")
    assert (first.address.thread_id, second.address.thread_id) == ("7", "")
    assert desk.transport.texts[0].startswith("↩️")
    assert desk.transport.texts[0].endswith("Hello")
    assert has(owed, state="delivered")()


def test_the_fall_back_to_the_chat_stays_visible_after_a_network_failure(desk) -> None:
    conversation = make_conversation(chat_type="group", thread_id="7")
    desk.owe("Hello", conversation=conversation)
    desk.transport.fail(ThreadGone(), NetworkDown())
    desk.serve(until=desk.calls(2))
    desk.clock.advance(60)
    desk.serve()
    (shown,) = desk.transport.texts
    assert shown.count("↩️") == 1
    assert desk.transport.calls[-1].address.thread_id == ""


def test_the_mark_fits_beside_the_longest_part_on_a_platform_that_needs_no_other(desk) -> None:
    conversation = make_conversation(chat_type="group", thread_id="7")
    desk.owe("word " * 2000, conversation=conversation)
    desk.transport.fail(ThreadGone())
    desk.serve()
    assert all(call.part.body.length <= 4096 for call in desk.transport.calls)


def test_a_chat_with_a_new_id_gets_its_message_there(desk) -> None:
    owed = desk.owe("Hello", conversation=make_conversation(chat_type="group", chat_id="-501"))
    desk.transport.fail(DestinationMoved(new_chat_id="-1001000000501"))
    desk.serve()
    assert [c.address.chat_id for c in desk.transport.calls] == ["-501", "-1001000000501"]
    assert has(owed, state="delivered", chat_id="-1001000000501")()


def test_a_new_id_learnt_from_a_send_is_passed_on(desk) -> None:
    moved = []
    desk.on_moved = lambda address, new: moved.append((address.chat_id, new))
    desk.owe("Hello", conversation=make_conversation(chat_type="group", chat_id="-501"))
    desk.transport.fail(DestinationMoved(new_chat_id="-1001000000501"))
    desk.serve()
    assert moved == [("-501", "-1001000000501")]


def test_a_second_new_id_ends_it_instead_of_going_round(desk) -> None:
    owed = desk.owe("Hello")
    desk.transport.fail(DestinationMoved(new_chat_id="2"), DestinationMoved(new_chat_id="3"))
    desk.serve(until=has(owed, state="abandoned"))
    assert [call.text for call in desk.transport.calls[:3]].count("Hello") == 2


def test_what_never_left_is_tried_again_without_a_mark(desk) -> None:
    owed = desk.owe("Hello")
    for _ in range(4):
        desk.transport.fail(NetworkDown())
        desk.serve(until=desk.calls(1))
        desk.transport.calls.clear()
        desk.clock.advance(60)
    desk.serve()
    owed.refresh_from_db()
    assert desk.transport.texts == ["Hello"]
    assert (owed.state, owed.attempts, owed.recoveries) == ("delivered", 5, 0)


def test_a_lost_answer_is_sent_again_with_a_mark(desk) -> None:
    owed = desk.owe("Hello")
    desk.transport.fail(OutcomeUnknown(), arrives=True)
    desk.serve(until=desk.calls(1))
    assert states(owed) == ["lost"]
    desk.clock.advance(60)
    desk.serve()
    assert desk.transport.texts[0] == "Hello"
    assert desk.transport.texts[1].startswith(RECOVERED)
    assert desk.transport.texts[1].endswith("Hello")
    assert list(Attempt.objects.values_list("outcome", "marked")) == [
        ("unknown", False),
        ("accepted", True),
    ]


@pytest.mark.proves("D5")
def test_a_platform_that_drops_doubles_itself_gets_no_mark(desk) -> None:
    desk.change_outlet(certainty=Certainty.IDEMPOTENT)
    desk.owe("Hello")
    desk.transport.fail(OutcomeUnknown(), arrives=False)
    desk.serve(until=desk.calls(1))
    desk.clock.advance(60)
    desk.serve()
    first, second = desk.transport.of("send")
    assert first.part.idempotency_key == second.part.idempotency_key
    assert desk.transport.texts == ["Hello"]


@pytest.mark.proves("D6")
def test_an_unknown_fate_is_borne_three_times_and_then_staff_see_it(desk) -> None:
    owed = desk.owe("Hello")
    desk.transport.fail(*[OutcomeUnknown()] * 4)
    for number in range(1, 5):
        desk.serve(until=desk.calls(number))
        desk.clock.advance(60)
    owed.refresh_from_db()
    assert (owed.state, owed.reason) == ("abandoned", "its fate stayed unknown too often")
    assert [call.text.endswith("Hello") for call in desk.transport.messages[:4]] == [True] * 4
    assert [outcome for _, outcome in outcomes(owed)] == ["unknown"] * 4
    assert states(owed) == ["lost"]


@pytest.mark.proves("D10")
def test_a_person_who_blocked_the_bot_is_not_written_to_again(desk) -> None:
    owed = desk.owe("Hello", conversation=make_conversation(chat_id="77"))
    desk.transport.fail(DestinationGone("Forbidden: bot was blocked by the user"))
    desk.serve()
    owed.refresh_from_db()
    assert (owed.state, owed.reason) == ("abandoned", "Forbidden: bot was blocked by the user")
    assert DeadDestination.objects.get().chat_id == "77"
    assert destinations.is_dead(owed.destination)


def test_another_refusal_ends_the_message_but_not_the_chat(desk) -> None:
    owed = desk.owe("Hello")
    after = desk.owe("Later", conversation=make_conversation(chat_id=owed.chat_id))
    desk.transport.fail(Refused("Bad Request: text must be encoded in UTF-8", code="400"))
    desk.serve()
    assert has(owed, state="abandoned")()
    assert has(after, state="delivered")()
    assert not DeadDestination.objects.exists()
    assert Attempt.objects.filter(part__obligation=owed).get().error_code == "400"


@pytest.mark.proves("D10")
def test_a_refused_credential_stops_the_account_and_burns_no_attempts(desk) -> None:
    owed = [desk.owe("Hello"), desk.owe("There", conversation=make_conversation(chat_id="9"))]
    desk.transport.fail(AuthenticationRefused("Unauthorized"), AuthenticationRefused())
    seen = []

    def refused() -> bool:
        return desk.outbox.account_refused.is_set() and desk.calls(1)()

    desk.serve(until=refused, then=lambda desk: seen.append(desk.outbox._open))
    assert seen == [False]
    assert not Obligation.objects.filter(state="abandoned").exists()
    desk.clock.advance(60)
    desk.serve()
    assert all(has(obligation, state="delivered")() for obligation in owed)


@pytest.mark.proves("D11")
def test_a_closed_account_sends_nothing(desk) -> None:
    owed = desk.owe("Hello")
    looks = []

    def several_looks() -> bool:
        desk.outbox.close()
        looks.append(1)
        return len(looks) > 20

    desk.transport.before = None
    desk.change_outlet()
    asyncio.run(closed_from_the_start(desk, several_looks))
    assert desk.transport.calls == []
    assert has(owed, state="pending", attempts=0)()


async def closed_from_the_start(desk, until) -> None:
    from delivery.means import Ambience
    from delivery.outbox import Outbox
    from delivery.previews import LivePreviews

    ambience = Ambience(desk.database, desk.clock, lambda: 0.0)
    previews = LivePreviews("telegram", desk.transport, desk.outlet, ambience)
    desk.outbox = Outbox("telegram", desk.fence, desk.transport, desk.outlet, previews, ambience)
    stopping = asyncio.Event()
    running = asyncio.create_task(desk.outbox.run(stopping))
    await desk.wait_until(until)
    stopping.set()
    await running


def test_an_outbox_whose_account_was_taken_over_ends(desk) -> None:
    owed = desk.owe("Hello")
    old = desk.fence
    desk.restart("host/200/2")
    desk.fence = old
    seen = []
    desk.serve(
        until=desk.has_lost_the_lease,
        then=lambda desk: seen.append(desk.outbox.lease_lost.is_set()),
    )
    assert seen == [True]
    assert desk.transport.calls == []
    assert has(owed, state="pending")()


def test_an_owner_that_loses_the_account_while_sending_writes_nothing(desk) -> None:
    owed = desk.owe("Hello")

    async def lose(call) -> None:
        await desk.database(desk.restart, "host/200/2")
        await desk.database(claim, desk)

    old_fence = desk.fence
    desk.transport.before = lose
    desk.serve(until=desk.has_lost_the_lease)
    owed.refresh_from_db()
    assert (owed.state, owed.owner, owed.epoch) == (
        "attempting",
        "host/200/2",
        old_fence.epoch + 1,
    )
    assert outcomes(owed) == [("send", "unknown")]


def test_a_process_killed_before_sending_loses_nothing_and_marks_nothing(desk) -> None:
    desk.owe("Hello")
    desk.restart("host/200/2")
    desk.serve()
    assert desk.transport.texts == ["Hello"]


def test_a_process_killed_while_sending_is_told_of_honestly(desk) -> None:
    owed = desk.owe("Hello")
    claim(desk)
    desk.restart("host/200/2")
    desk.serve()
    (shown,) = desk.transport.texts
    assert shown.startswith(RECOVERED)
    assert outcomes(owed) == [("send", "unknown"), ("send", "accepted")]


def test_a_second_crash_is_told_of_as_well(desk) -> None:
    desk.owe("Hello")
    for owner in ("host/200/2", "host/300/3"):
        claim(desk)
        desk.restart(owner)
    desk.serve()
    assert desk.transport.texts[0].startswith(RECOVERED)


def test_a_message_that_outlives_no_process_is_given_up(desk) -> None:
    owed, later = desk.owe("Hello"), None
    for crash in range(4):
        assert [work.obligation.pk for work in claim(desk)] == [owed.pk]
        desk.restart(f"host/{crash + 200}/2")
    later = desk.owe("There", conversation=Conversation.objects.get(key=owed.conversation_key))
    desk.serve()
    owed.refresh_from_db()
    assert (owed.state, owed.reason) == ("abandoned", FATE_UNKNOWN)
    assert "There" in desk.transport.texts
    assert not any("Hello" in text for text in desk.transport.texts)
    assert has(later, state="delivered")()


def test_a_stop_waits_for_the_send_under_way(desk) -> None:
    owed, under_way = desk.owe("Hello"), []

    async def slowly(call) -> None:
        under_way.append(call)
        await asyncio.sleep(0.3)

    desk.transport.before = slowly
    desk.serve(until=lambda: bool(under_way))
    assert has(owed, state="delivered")()
    desk.restart("host/200/2")
    desk.serve()
    assert desk.transport.texts == ["Hello"]


@pytest.mark.parametrize("function", ["accept", "claim_due"])
def test_a_database_that_is_away_for_a_moment_costs_nothing(desk, function) -> None:
    owed = desk.owe("Hello")
    desk.database.outages[function] = 2
    desk.serve()
    assert desk.transport.texts == ["Hello"]
    assert has(owed, state="delivered")()


def test_a_database_that_is_away_while_the_preview_is_looked_up_costs_nothing(desk) -> None:
    preview(desk, "t1.0", "Hel ▉")
    owed = answer(desk, "Hello")
    desk.database.outages["stored_ids"] = 2
    desk.serve()
    assert desk.transport.texts == ["Hello"]
    assert has(owed, state="delivered", attempts=1)()


def test_a_database_that_is_away_while_the_question_is_looked_up_costs_nothing(desk) -> None:
    closing = close(desk, asked(desk, "Where?"), "Where? Here.")
    desk.database.outages["message_ids"] = 2
    desk.serve()
    assert desk.transport.texts == ["Where? Here."]
    assert has(closing, state="delivered", attempts=1)()


@pytest.mark.parametrize(
    ("function", "error", "state"),
    [
        ("postpone", NetworkDown(), "failed"),
        ("abandon", Refused(), "abandoned"),
        ("try_again", FormattingRefused(), "delivered"),
    ],
)
def test_what_the_platform_said_is_written_down_when_the_database_is_back(
    desk, function, error, state
) -> None:
    owed = desk.owe("Hello")
    desk.database.outages[function] = 2
    desk.transport.fail(error)
    desk.serve(until=has(owed, state=state))
    assert has(owed, state=state)()


@pytest.mark.parametrize(
    ("function", "error", "state", "tries"),
    [
        ("accept", None, "delivered", ["accepted"]),
        ("claim_due", None, "delivered", ["accepted"]),
        ("postpone", NetworkDown(), "failed", ["not_sent"]),
        ("postpone", OutcomeUnknown(), "failed", ["unknown"]),
        ("abandon", Refused(), "abandoned", ["refused"]),
        ("try_again", FormattingRefused(), "delivered", ["refused", "accepted"]),
    ],
)
def test_a_commit_that_fails_is_made_again_without_another_send(
    desk, function, error, state, tries
) -> None:
    owed = desk.owe("Hello")
    desk.database.lost_commits[function] = 2
    if error is not None:
        desk.transport.fail(error)
    desk.serve(until=has(owed, state=state))
    assert [outcome for _, outcome in outcomes(owed)] == tries
    assert len([call for call in desk.transport.calls if call.text == "Hello"]) == len(tries)
    assert not desk.outbox.lease_lost.is_set()
    assert parts_of(owed)[0].attempts == len(tries)


def test_a_commit_that_fails_between_two_parts_repeats_neither(desk) -> None:
    owed = desk.owe(LONG)
    desk.database.lost_commits["accept"] = 3
    desk.serve()
    assert len(desk.transport.texts) == len(parts_of(owed))
    assert all(part.attempts == 1 for part in parts_of(owed))


@pytest.mark.proves("D4")
def test_a_receipt_without_an_id_is_no_receipt(desk) -> None:
    owed, real = desk.owe("Hello"), desk.transport.send

    async def without_an_id(part):
        await real(part)
        return Receipt("")

    desk.transport.send = without_an_id
    desk.serve(until=desk.calls(1))
    assert states(owed) == ["lost"]
    assert not desk.has_lost_the_lease()


def test_a_fault_of_an_adapter_is_borne_as_an_unknown_fate(desk) -> None:
    owed, other = desk.owe("Hello"), desk.owe("There", conversation=make_conversation())
    desk.transport.fail(ValueError("a bug"), chat=owed.chat_id)
    desk.serve(until=desk.calls(2))
    assert states(owed) == ["lost"]
    assert has(other, state="delivered")()
    assert not desk.has_lost_the_lease()
    desk.clock.advance(60)
    desk.serve()
    assert has(owed, state="delivered", recoveries=1)()


def test_an_edit_that_nobody_answers_does_not_hold_up_the_chat_for_ever(desk) -> None:
    preview(desk, "t1.0", "Hel ▉")
    answer(desk, "Hello")
    desk.transport.fail(*[OutcomeUnknown()] * 20, on="edit")
    for number in range(1, 9):
        desk.serve(until=desk.calls(number))
        desk.clock.advance(60)
    desk.serve()
    assert [text.splitlines()[-1] for text in desk.transport.texts] == ["Hello"]


def test_a_long_answer_arrives_whole_and_in_order(desk) -> None:
    owed = desk.owe(LONG, reply_to="41")
    desk.serve()
    assert len(parts_of(owed)) > 3
    assert "".join("".join(desk.transport.texts).split()) == "".join(LONG.split())
    assert [bool(call.part.reply_to) for call in desk.transport.calls][:2] == [True, False]


def test_a_long_answer_goes_on_at_the_first_part_without_a_receipt(desk) -> None:
    owed = desk.owe(LONG)
    count = len(parts_of(owed))

    async def lose_the_second(call) -> None:
        if len(desk.transport.messages) == 2:
            desk.transport.fail(OutcomeUnknown(), arrives=True)

    desk.transport.before = lose_the_second
    desk.serve(until=desk.calls(2))
    assert states(owed)[:3] == ["delivered", "lost", "pending"]
    desk.transport.before = None
    desk.clock.advance(60)
    desk.serve()
    texts = desk.transport.texts
    assert len(texts) == count + 1
    assert texts[2].startswith(RECOVERED)
    assert texts[2].endswith(texts[1])
    assert not any(text.startswith(RECOVERED) for text in [*texts[:2], *texts[3:]])
    keys = [call.part.idempotency_key for call in desk.transport.messages]
    assert keys[1] == keys[2]
    assert len(set(keys)) == count


@pytest.mark.proves("D5")
def test_a_crash_in_the_middle_of_a_long_answer_repeats_only_the_part_under_way(desk) -> None:
    owed = desk.owe(LONG)
    count = len(parts_of(owed))
    (work,) = claim(desk)
    ledger.accept(
        work, work.parts[0], Receipt("m0"), operation="send", marked=False, now=desk.clock()
    )
    desk.restart("host/200/2")
    desk.serve()
    texts = desk.transport.texts
    assert len(texts) == count - 1
    assert texts[0].startswith(RECOVERED)
    assert not any(text.startswith(RECOVERED) for text in texts[1:])


def test_only_the_last_part_carries_the_buttons(desk) -> None:
    controls = Controls(rows=((Button(label="Yes", data="q:t:0"),),))
    owed = desk.owe(LONG, controls=controls.as_dict())
    desk.serve()
    assert owed.state == "pending"
    assert [bool(call.part.controls.rows) for call in desk.transport.calls] == [
        *[False] * (len(desk.transport.calls) - 1),
        True,
    ]


# --- replacing what is on the screen


def preview(desk, key: str, *texts: str) -> list[str]:
    """Messages of a preview that an earlier process left on the screen."""
    address = make_conversation(chat_id="1").address
    ids = [desk.transport.show(text, address) for text in texts]
    preview_rows.store(key, "telegram", address, ids, desk.clock())
    return ids


def answer(desk, content: str):
    return desk.owe(content, conversation=make_conversation(chat_id="1"), preview_key="t1.0")


@pytest.mark.proves("D13")
def test_a_final_takes_the_place_of_its_preview(desk) -> None:
    ids = preview(desk, "t1.0", "Hel ▉")
    owed = answer(desk, "Hello")
    desk.serve()
    assert desk.transport.texts == ["Hello"]
    assert parts_of(owed)[0].message_id == ids[0]
    assert outcomes(owed) == [("edit", "accepted")]


def test_a_final_shorter_than_its_preview_removes_the_rest(desk) -> None:
    preview(desk, "t1.0", "one", "two", "three ▉")
    answer(desk, "Hello")
    desk.serve()
    assert desk.transport.texts == ["Hello"]


def test_a_final_longer_than_its_preview_goes_on_below_it(desk) -> None:
    preview(desk, "t1.0", "Par ▉")
    answer(desk, LONG)
    desk.serve()
    operations = [call.operation for call in desk.transport.calls]
    assert operations[0] == "edit"
    assert set(operations[1:]) == {"send"}
    assert "".join("".join(desk.transport.texts).split()) == "".join(LONG.split())


def test_a_preview_that_somebody_deleted_is_replaced_by_a_new_message(desk) -> None:
    ids = preview(desk, "t1.0", "Hel ▉")
    desk.transport.screen.pop(ids[0])
    answer(desk, "Hello")
    desk.serve()
    assert desk.transport.texts == ["Hello"]


@pytest.mark.parametrize("error", [Refused("message can't be edited"), TooOld()])
def test_a_preview_that_cannot_be_edited_is_removed_once_the_final_is_there(desk, error) -> None:
    preview(desk, "t1.0", "Hel ▉")
    owed = answer(desk, "Hello")
    desk.transport.fail(error, on="edit")
    desk.serve()
    assert desk.transport.texts == ["Hello"]
    assert [call.operation for call in desk.transport.calls] == ["edit", "send", "delete"]
    assert has(owed, state="delivered")()


def test_a_preview_stays_while_the_final_is_still_owed(desk) -> None:
    preview(desk, "t1.0", "Hel ▉")
    owed = answer(desk, "Hello")
    desk.transport.fail(TooOld(), on="edit")
    desk.transport.fail(NetworkDown())
    desk.serve(until=desk.calls(2))
    assert desk.transport.texts == ["Hel ▉"]
    assert has(owed, state="failed")()


def test_an_edit_whose_answer_was_lost_is_made_again_without_a_mark(desk) -> None:
    preview(desk, "t1.0", "Hel ▉")
    owed = answer(desk, "Hello")
    for _ in range(6):
        desk.transport.fail(OutcomeUnknown(), on="edit", arrives=True)
    for number in range(1, 8):
        desk.serve(until=desk.calls(number))
        desk.clock.advance(60)
    assert desk.transport.texts == ["Hello"]
    assert has(owed, state="delivered")()


@pytest.mark.proves("D5")
def test_a_crash_while_the_final_replaced_the_preview_needs_no_mark(desk) -> None:
    preview(desk, "t1.0", "Hel ▉")
    answer(desk, "Hello")
    claim(desk)
    desk.restart("host/200/2")
    desk.serve()
    assert desk.transport.texts == ["Hello"]


def test_a_final_is_delivered_however_often_its_preview_is_throttled(desk) -> None:
    preview(desk, "t1.0", "Hel ▉")
    owed = answer(desk, "Hello")
    desk.transport.fail(*[RateLimited(retry_after=1)] * 3, on="edit")
    for number in range(1, 4):
        desk.serve(until=desk.calls(number))
        desk.clock.advance(5)
    desk.serve()
    assert desk.transport.texts == ["Hello"]
    assert has(owed, state="delivered")()


def asked(desk, content: str):
    conversation = make_conversation(chat_id="1")
    controls = Controls(rows=((Button(label="Yes", data="q:t:0"),),))
    prompt = desk.owe(
        content, conversation=conversation, kind=Kind.PROMPT, controls=controls.as_dict()
    )
    desk.serve()
    desk.transport.calls.clear()
    return prompt


def close(desk, prompt, content: str):
    return make_obligation(
        make_conversation(chat_id="1"),
        content=content,
        kind=Kind.RETIRE,
        now=desk.clock(),
        edits=prompt,
        controls=Controls(clear=True).as_dict(),
    )


def test_a_question_is_closed_where_it_was_asked(desk) -> None:
    prompt = asked(desk, "Where?")
    close(desk, prompt, "Where? Here.")
    desk.serve()
    assert desk.transport.texts == ["Where? Here."]
    assert desk.transport.calls[0].part.controls.clear


def test_a_question_of_several_messages_leaves_no_buttons_behind(desk) -> None:
    prompt = asked(desk, LONG)
    close(desk, prompt, "Where? Here.")
    desk.serve()
    assert desk.transport.texts == ["Where? Here."]


@pytest.mark.parametrize("error", [MessageGone(), TooOld(), Refused()])
def test_a_question_that_cannot_be_changed_any_more_is_not_repeated(desk, error) -> None:
    prompt = asked(desk, "Where?")
    closing = close(desk, prompt, "Where? Here.")
    desk.transport.fail(error, on="edit")
    desk.serve()
    assert desk.transport.texts == ["Where?"]
    assert has(closing, state="abandoned")()


def test_a_question_that_nobody_saw_is_not_closed_on_the_screen(desk) -> None:
    conversation = make_conversation(chat_id="1")
    prompt = desk.owe("Where?", conversation=conversation, kind=Kind.PROMPT)
    desk.transport.fail(Refused())
    desk.serve()
    closing = close(desk, prompt, "Where? Nowhere.")
    desk.serve()
    assert not any("Where?" in text for text in desk.transport.texts)
    assert has(closing, state="abandoned")()


def test_hints_are_not_needed(desk) -> None:
    """A message recorded behind the outbox's back is found by its own look."""
    desk.owe("first")
    late = []

    def owe_late() -> bool:
        if nothing_is_open() and not late:
            late.append(desk.owe("second"))
        return len(desk.transport.texts) == 2 and nothing_is_open()

    desk.serve(until=owe_late)
    assert desk.transport.texts == ["first", "second"]
