"""What the ledger writes down of a debt and of each try to pay it."""

import hashlib

import pytest

from delivery import ledger
from delivery.content import Button, Controls
from delivery.errors import OutcomeUnknown
from delivery.ledger import Debt
from delivery.models import Attempt, Kind
from tests.factories import make_conversation
from tests.integration.desk import parts_of


@pytest.mark.django_db
@pytest.mark.proves("D1")
def test_a_debt_is_written_down_with_everything_about_it(clock) -> None:
    chat = make_conversation(chat_type="group", thread_id="7", now=clock())
    debt = Debt(
        conversation_key=chat.key,
        trigger="turn:1",
        address=chat.address,
        kind=Kind.PROMPT,
        content="**Where** to?",
        reply_to="41",
        controls=Controls(rows=((Button(label="Yes", data="q:t:0"),),)),
        correlation="1",
    )

    owed = ledger.record(debt, now=clock())
    owed.refresh_from_db()

    assert (owed.conversation_key, owed.account, owed.correlation) == (chat.key, "telegram", "1")
    assert (owed.destination, owed.lane) == (chat.address, chat.address.lane)
    assert (owed.reply_to, owed.kind, owed.priority) == ("41", "prompt", 0)
    assert owed.content == "**Where** to?"
    assert owed.content_hash == hashlib.sha256(b"**Where** to?").hexdigest()
    assert (owed.state, owed.attempts, owed.last_error, owed.owner) == ("pending", 0, "", "")
    assert owed.next_attempt_at == owed.created_at == clock()
    assert owed.native_controls == debt.controls
    assert [part.rendered.text for part in parts_of(owed)] == ["Where to?"]


@pytest.mark.proves("D1")
def test_a_later_try_changes_nothing_that_is_written_of_an_earlier_one(desk) -> None:
    owed = desk.owe("Hello")
    desk.transport.fail(OutcomeUnknown("no answer"), arrives=True)
    desk.serve(until=desk.calls(1))
    (first,) = Attempt.objects.filter(part__obligation=owed).values()
    desk.clock.advance(60)
    desk.serve()

    before, after = Attempt.objects.filter(part__obligation=owed).order_by("pk").values()
    assert before == first
    assert (before["outcome"], after["outcome"]) == ("unknown", "accepted")
    assert after["number"] > before["number"]
