"""A hundred people wait for a slow model at once, on one worker, and each can stop their turn."""

import pytest

from tests.peers.model import Gate, Reply

pytestmark = pytest.mark.acceptance
TURNS = 100


@pytest.mark.proves("T4", "T11")
def test_a_hundred_turns_run_together_and_each_can_be_stopped(
    stack, telegram, model, books, somebody
):
    gate = Gate()
    model.script(lambda request: Reply(text="I have thought about it.", gate=gate))
    people = [somebody() for _ in range(TURNS)]
    for person in people:
        person.says("think")
    model.wait_for(lambda: model.in_flight == TURNS)

    stoppers, others = people[::2], people[1::2]
    for person in stoppers:
        person.says("/stop")
        person.sees("Stopped", within=5)
    model.wait_for(lambda: model.in_flight == len(others), timeout=5)
    gate.open()

    for person in others:
        person.sees("I have thought about it.")
    books.wait_until_settled(telegram)
    assert model.in_flight_peak == TURNS
    assert [text for person in others for text in person.texts] == [
        "I have thought about it."
    ] * len(others)
    assert not any("thought" in text for person in stoppers for text in person.texts)


@pytest.mark.full
def test_a_hundred_turns_of_ten_seconds_take_little_longer_than_one(
    stack, telegram, somebody, model
):
    model.script(lambda request: Reply(text="I have thought about it.", delay_first=10))
    model.forget()
    people = [somebody() for _ in range(TURNS)]
    for person in people:
        person.says("think")

    for person in people:
        person.sees("I have thought about it.", within=30)

    assert model.in_flight_peak == TURNS
