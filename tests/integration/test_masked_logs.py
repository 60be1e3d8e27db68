"""[A4]: whatever happens to somebody's message, the logs do not carry their id."""

import logging

import pytest

from delivery import masking
from gateway import execution, sessions, tasks
from gateway.models import Turn
from hermes_site.logs import JsonFormatter, LineFormatter
from tests.factories import make_allow_entry, make_conversation
from tests.fakes.clock import FakeClock
from tests.integration.commanding import run
from tests.integration.door import Door

pytestmark = pytest.mark.django_db(transaction=True)

ADA = "4815162342"
EVE = "1618033988"


class Lines(logging.Handler):
    """Every line as it would be written, in both forms."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += [LineFormatter().format(record), JsonFormatter().format(record)]


@pytest.fixture
def lines():
    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler.lines
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def door(clock: FakeClock) -> Door:
    make_allow_entry(user_id=ADA)
    return Door(clock)


def names(lines: list[str], *ids: str) -> list[str]:
    """The lines that carry one of these ids, or none of what surely was logged."""
    assert lines, "nothing was logged at all"
    return [line for line in lines if any(one in line for one in ids)]


@pytest.mark.proves("A4")
def test_a_message_that_cannot_be_handled_is_logged_without_the_id(
    door, lines, monkeypatch
) -> None:
    def refuse(*args, **kwargs):
        message = f"no conversation for {ADA}: agent:default:telegram:bot::dm:{ADA}"
        raise ValueError(message)

    monkeypatch.setattr(sessions, "find_or_open", refuse)

    assert door.say(user_id=ADA, chat_id=ADA).decision == "poison"

    assert any("could not be handled" in line for line in lines)
    assert any("no conversation for id-" in line for line in lines)
    assert names(lines, ADA) == []


@pytest.mark.proves("A4")
def test_the_story_of_a_turn_that_fails_is_logged_without_the_id(door, lines, monkeypatch) -> None:
    def fail(turn: Turn, _runtime: object) -> None:
        message = f"cannot work for {turn.sender_id} in {turn.conversation.key}"
        raise RuntimeError(message)

    monkeypatch.setattr(execution, "run", fail)
    door.say("/pair", user_id=EVE, chat_id=EVE)
    turn = door.say("Deploy it, please", user_id=ADA, chat_id=ADA).turn

    tasks.run_turns(conversation=turn.conversation_id)

    assert any("cannot work for id-" in line for line in lines)
    assert names(lines, ADA, EVE) == []


@pytest.mark.proves("A4")
def test_a_delivery_that_fails_is_logged_without_the_id(desk, lines) -> None:
    desk.owe("Hello", conversation=make_conversation(chat_id=ADA))

    async def fail(part):
        message = f"nobody is at {part.address}"
        raise RuntimeError(message)

    desk.transport.send = fail
    desk.serve(until=lambda: any("An adapter failed" in line for line in lines))

    assert any("chat_id='id-" in line for line in lines)
    assert names(lines, ADA) == []


def test_whoever_has_an_id_finds_its_mark(settings) -> None:
    assert run("mark", ADA).strip() == masking.mark(ADA, settings.SECRET_KEY)
