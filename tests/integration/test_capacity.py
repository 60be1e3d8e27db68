"""[T1]: whoever waits because the installation is full is told so once, and is not dropped."""

import pytest

from gateway import queue, turns
from gateway.models import Turn
from tests.factories import make_allow_entry
from tests.integration.door import Door, fresh, said
from tests.integration.paces import claim, end

pytestmark = pytest.mark.django_db
MEL = {"chat_id": "8", "user_id": "8"}


@pytest.fixture
def door(db, clock):
    make_allow_entry(user_id="8")
    return Door(clock)


@pytest.fixture
def woken(monkeypatch):
    seen: list[int] = []
    monkeypatch.setattr(queue, "send_run_turns", seen.append)
    return seen


def tell(door) -> int:
    return turns.tell_waiting(now=door.clock(), capacity=1)


@pytest.mark.proves("T1")
def test_whoever_waits_for_room_is_told_once_and_served_in_the_end(door) -> None:
    running = claim(door.say("A").turn, door.clock)
    waiting = door.say("B", **MEL).turn
    assert claim(waiting, door.clock, capacity=1) is None
    door.clock.advance(3)
    assert [tell(door), tell(door)] == [1, 0]
    assert "All 1 places" in said()[-1]
    end(running, door.clock)
    assert claim(waiting, door.clock, capacity=1).prompt == "B"


@pytest.mark.proves("T1")
def test_commands_work_while_the_installation_is_full(door) -> None:
    claim(door.say("A").turn, door.clock)
    waiting = door.say("B", **MEL).turn
    assert door.say("/status", **MEL).decision == "command"
    assert "in the queue" in said()[-1]
    door.say("/stop", **MEL)
    assert fresh(waiting).state == "stopped"


def test_nobody_is_told_of_a_moment_or_of_room_that_there_is(door) -> None:
    claim(door.say("A").turn, door.clock)
    door.say("B", **MEL)
    assert tell(door) == 0
    door.clock.advance(3)
    assert turns.tell_waiting(now=door.clock(), capacity=2) == 0


def test_whoever_waits_behind_their_own_turn_waits_for_no_room(door) -> None:
    claim(door.say("A").turn, door.clock)
    door.say("more")
    door.clock.advance(3)
    assert tell(door) == 0


@pytest.mark.proves("T1")
def test_the_end_of_a_turn_lets_in_who_waits_longest(door, woken) -> None:
    running = claim(door.say("A").turn, door.clock)
    waiting = door.say("B", **MEL).turn
    turns.make_way(running, now=door.clock(), capacity=1)
    woken.clear()
    end(running, door.clock)
    turns.make_way(running, now=door.clock(), capacity=1)
    assert woken == [waiting.conversation_id]
    assert Turn.objects.filter(state="queued").count() == 1
