"""The site, the broker or the clock dies while people chat: they notice nothing but a moment."""

import pytest

from tests.peers.model import Gate, Reply
from tests.peers.model.replies import last_user_text

pytestmark = pytest.mark.acceptance


@pytest.mark.usefixtures("time")
@pytest.mark.parametrize(
    "victims",
    [
        ("web",),
        ("valkey", "beat", "worker"),
        pytest.param(("valkey",), marks=pytest.mark.full),
    ],
)
def test_a_death_during_a_turn_is_not_noticed(stack, telegram, model, books, somebody, victims):
    gate = Gate()
    model.script(lambda request: Reply(text=f"I heard {last_user_text(request)}.", gate=gate))
    earlier, later = somebody(), somebody()
    earlier.says("one")
    earlier.says("two")
    model.wait_for(lambda: model.in_flight == 1)

    for victim in victims:
        stack.kill9(victim)
    later.says("three")
    gate.open()

    earlier.sees("I heard two.")
    later.sees("I heard three.")
    books.wait_until_settled(telegram)
    said = [text for text in earlier.texts if "interrupted" not in text]
    assert said == ["I heard one.", "I heard two."]
    assert later.texts == ["I heard three."]


def test_a_stop_is_heard_although_the_broker_has_died_meanwhile(stack, telegram, model, person):
    model.script(lambda request: Reply(text="Too late.", gate=Gate()))
    person.says("think for ever")
    model.wait_for(lambda: model.in_flight == 1)

    stack.kill9("valkey")
    person.says("/stop")

    person.sees("Stopped")
    model.wait_for(lambda: model.in_flight == 0)
    stack.wait_until_ready()
