"""What may be done when nobody knows whether it arrived: each level keeps its word ([D5])."""

import pytest

from delivery import ledger, preview_rows
from delivery.content import Button, Controls
from delivery.errors import NetworkDown, OutcomeUnknown, RateLimited, Refused
from delivery.models import Obligation
from delivery.outbox import Outbox
from delivery.ports import Certainty
from delivery.retry import FATE_UNKNOWN
from tests.factories import make_conversation
from tests.fakes.transport import FakeTransport, ReadableTransport
from tests.integration.desk import claim, has, nothing_is_open, outcomes, parts_of

RECOVERED = "♻️"
pytestmark = pytest.mark.proves("D5")


def serve_to_the_end(desk) -> None:
    """Serve, and let time pass whenever everything waits, until nothing is owed."""

    def is_over() -> bool:
        waits = Obligation.objects.filter(state="failed", next_attempt_at__gt=desk.clock())
        if waits.exists():
            desk.clock.advance(20)
            desk.outbox.wake()
        return nothing_is_open()

    desk.serve(until=is_over, within=600)


@pytest.fixture(params=[40, pytest.param(1000, marks=pytest.mark.full)])
def messages(request) -> range:
    """How many messages: few in an ordinary run, a thousand in a full one."""
    return range(request.param)


@pytest.fixture(params=[3, *(pytest.param(n, marks=pytest.mark.full) for n in (2, 7))])
def every(request) -> int:
    """The acknowledgement of every so many-th call is lost."""
    return request.param


def owe_all(desk, messages, **changes) -> list[str]:
    """Owe `messages` in ten chats; their texts in order."""
    chats = [make_conversation(chat_id=str(number)) for number in range(1, 11)]
    for number in messages:
        desk.owe(f"Message {number}", conversation=chats[number % 10], **changes)
    return [f"Message {number}" for number in messages]


def use(desk, certainty: Certainty, transport: FakeTransport) -> None:
    desk.change_outlet(certainty=certainty)
    desk.transport = transport


@pytest.mark.parametrize(
    ("certainty", "transport"),
    [
        (Certainty.IDEMPOTENT, lambda: FakeTransport(drops_copies=True)),
        (Certainty.READABLE, ReadableTransport),
    ],
)
def test_where_copies_can_be_told_nothing_is_lost_or_doubled_or_marked(
    desk, messages, every, certainty, transport
) -> None:
    use(desk, certainty, transport())
    desk.transport.loses_every = every
    owed = owe_all(desk, messages)
    serve_to_the_end(desk)
    assert sorted(desk.transport.texts) == sorted(owed)
    assert not Obligation.objects.exclude(state="delivered").exists()


def test_where_a_known_message_can_be_edited_nothing_is_lost_or_doubled_or_marked(
    desk, messages, every
) -> None:
    use(desk, Certainty.EDITABLE, FakeTransport())
    chats = [make_conversation(chat_id=str(number)) for number in range(1, 11)]
    for number in messages:
        chat = chats[number % 10]
        shown = desk.transport.show("half of it", chat.address)
        key = f"t{number}.0"
        preview_rows.store(key, "telegram", chat.address, [shown], desk.clock())
        desk.owe(f"Message {number}", conversation=chat, preview_key=key)
    desk.transport.loses_every = every
    serve_to_the_end(desk)
    assert sorted(desk.transport.texts) == sorted(f"Message {number}" for number in messages)


def test_where_nothing_can_be_told_nothing_is_lost_and_each_copy_says_so(
    desk, messages, every
) -> None:
    use(desk, Certainty.UNCERTAIN, FakeTransport(loses_every=every))
    owed = owe_all(desk, messages)
    serve_to_the_end(desk)
    unmarked = [text for text in desk.transport.texts if not text.startswith(RECOVERED)]
    told = {text.splitlines()[-1] for text in desk.transport.texts}
    assert told >= set(owed)
    assert len(unmarked) == len(set(unmarked))


# --- looking first


@pytest.fixture
def history(desk) -> ReadableTransport:
    use(desk, Certainty.READABLE, ReadableTransport())
    return desk.transport


def lose_one(desk, *, arrives: bool):
    owed = desk.owe("Hello")
    desk.transport.fail(OutcomeUnknown(), arrives=arrives)
    desk.serve(until=desk.calls(1))
    desk.clock.advance(60)
    return owed


def test_what_is_found_is_not_sent_again(desk, history) -> None:
    owed = lose_one(desk, arrives=True)
    desk.serve()
    assert len(history.of("send")) == 1
    assert outcomes(owed) == [("send", "unknown"), ("look", "accepted")]
    assert [part.message_id for part in owed.parts.all()] == list(history.screen)


def test_what_is_not_found_is_sent_again_without_a_mark(desk, history) -> None:
    lose_one(desk, arrives=False)
    desk.serve()
    assert [call.operation for call in history.calls] == ["send", "look", "send"]
    assert history.texts == ["Hello"]


def test_a_look_that_fails_sends_nothing_and_is_taken_again(desk, history) -> None:
    for error in (NetworkDown(), OutcomeUnknown(), RateLimited(retry_after=3)):
        history.calls.clear()
        owed = lose_one(desk, arrives=True)
        history.fail(error, on="look")
        desk.serve(until=has(owed, attempts=2, state="failed"))
        assert [call.operation for call in history.calls] == ["send", "look"]
        desk.clock.advance(60)
        desk.serve()
    assert history.texts == ["Hello"] * 3


def test_where_looking_is_refused_the_mark_comes_back(desk, history) -> None:
    lose_one(desk, arrives=True)
    history.fail(Refused("no right to read the history"), on="look")
    desk.serve()
    assert history.texts[-1].startswith(RECOVERED)


def test_after_a_crash_it_is_looked_for_as_well(desk, history) -> None:
    owed = desk.owe("Hello")
    hanging = []

    async def die(call) -> None:
        hanging.append(call)
        await desk.database(desk.restart, "host/200/2")
        await desk.database(claim, desk)

    history.before = die
    desk.serve(until=desk.has_lost_the_lease)
    history.before = None
    desk.restart("host/300/3")
    desk.serve()
    assert len(hanging) == 1
    assert history.texts == ["Hello"]
    assert has(owed, state="delivered")()


def test_a_platform_that_promises_looking_must_be_able_to(desk) -> None:
    desk.change_outlet(certainty=Certainty.READABLE)
    with pytest.raises(ValueError, match="look"):
        Outbox("telegram", desk.fence, FakeTransport(), desk.outlet, None, None)


# --- before a marked copy


def test_no_copy_is_spent_on_a_platform_that_is_away(desk) -> None:
    owed = lose_one(desk, arrives=False)
    for away in (NetworkDown(), OutcomeUnknown()):
        desk.transport.fail(away, on="typing")
        before = Obligation.objects.get(pk=owed.pk).attempts
        desk.serve(until=has(owed, attempts=before + 1, state="failed"))
        desk.clock.advance(60)
    owed.refresh_from_db()
    assert owed.recoveries == 1
    desk.serve()
    assert [text.startswith(RECOVERED) for text in desk.transport.texts] == [True]


@pytest.mark.parametrize("error", [RateLimited(retry_after=5), Refused("no such call")])
def test_a_platform_that_answers_at_all_is_there(desk, error) -> None:
    lose_one(desk, arrives=True)
    desk.transport.fail(error, on="typing")
    desk.serve()
    assert len(desk.transport.texts) == 2


# --- long answers: what is spent on one part is not taken from another

LONG = "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(20))


def fate_stays_unknown(desk, owed, *, part: int) -> None:
    """No answer ever comes about one part."""
    key = parts_of(owed)[part].idempotency_key

    async def lose(call) -> None:
        if call.part and call.part.idempotency_key == key:
            raise OutcomeUnknown

    desk.transport.before = lose


@pytest.mark.proves("D6")
def test_a_part_whose_fate_stays_unknown_does_not_take_the_others_along(desk) -> None:
    owed = desk.owe(LONG)
    parts = parts_of(owed)
    fate_stays_unknown(desk, owed, part=1)
    serve_to_the_end(desk)
    owed.refresh_from_db()
    assert (owed.state, owed.reason) == ("abandoned", FATE_UNKNOWN)
    expected = ["delivered", "lost", *["delivered"] * (len(parts) - 2)]
    assert [part.state for part in parts_of(owed)] == expected
    *told, notice = desk.transport.texts
    assert told == [part.body["text"] for part in parts if part.position != 1]
    assert "given up" in notice


def test_each_part_of_a_long_answer_has_copies_of_its_own(desk) -> None:
    owed = desk.owe(LONG)
    desk.transport.loses_every = 2
    serve_to_the_end(desk)
    assert len(parts_of(owed)) > 3
    assert has(owed, state="delivered")()


def test_a_part_that_no_process_outlives_does_not_take_the_others_along(desk) -> None:
    owed = desk.owe(LONG)
    for crash in range(4):
        claim(desk)
        desk.restart(f"host/{crash + 200}/2")
    desk.serve()
    states = [part.state for part in parts_of(owed)]
    assert states == ["lost", *["delivered"] * (len(states) - 1)]
    assert has(owed, state="abandoned", reason=FATE_UNKNOWN)()


def test_what_staff_owe_again_is_the_part_alone_and_has_its_copies_anew(desk) -> None:
    owed = desk.owe(LONG, controls=Controls(rows=((Button(label="A", data="p:1"),),)).as_dict())
    fate_stays_unknown(desk, owed, part=1)
    serve_to_the_end(desk)
    desk.transport.before, desk.transport.calls = None, []
    ledger.retry(owed, now=desk.clock())
    desk.transport.fail(OutcomeUnknown())
    serve_to_the_end(desk)
    assert has(owed, state="delivered")()
    assert {call.part.idempotency_key for call in desk.transport.messages} == {
        parts_of(owed)[1].idempotency_key
    }
    assert not any(call.part.controls.rows for call in desk.transport.messages)
