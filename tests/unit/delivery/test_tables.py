"""A table of steps: what follows, from where, and to where."""

from enum import StrEnum

import pytest

from delivery.errors import IllegalTransition
from delivery.tables import Table


class Lamp(StrEnum):
    OFF = "off"
    ON = "on"
    BROKEN = "broken"


class Hand(StrEnum):
    LIGHT = "light"
    PRESS = "press"
    DROP = "drop"
    MEND = "mend"


LAMPS: Table[Lamp, Hand] = Table(
    thing="a lamp",
    steps={
        (Lamp.OFF, Hand.LIGHT): Lamp.ON,
        (Lamp.OFF, Hand.PRESS): Lamp.ON,
        (Lamp.ON, Hand.PRESS): Lamp.OFF,
        (Lamp.ON, Hand.DROP): Lamp.BROKEN,
        (Lamp.OFF, Hand.DROP): Lamp.BROKEN,
    },
)


def test_a_step_of_the_table_leads_where_it_says() -> None:
    assert LAMPS.advance(Lamp.OFF, Hand.LIGHT) is Lamp.ON
    assert LAMPS.advance(Lamp.ON, Hand.PRESS) is Lamp.OFF


def test_a_step_that_is_not_in_the_table_is_refused_by_name() -> None:
    with pytest.raises(IllegalTransition, match=r"^a lamp that is broken cannot light$"):
        LAMPS.advance(Lamp.BROKEN, Hand.LIGHT)


def test_the_sources_of_an_event_are_the_states_it_applies_to() -> None:
    assert set(LAMPS.sources(Hand.DROP)) == {Lamp.ON, Lamp.OFF}
    assert LAMPS.sources(Hand.LIGHT) == [Lamp.OFF]


def test_an_event_that_happens_nowhere_has_no_sources() -> None:
    assert LAMPS.sources(Hand.MEND) == []


def test_an_event_has_the_one_state_it_leads_to_as_its_target() -> None:
    assert LAMPS.target(Hand.DROP) is Lamp.BROKEN
    assert LAMPS.target(Hand.LIGHT) is Lamp.ON


@pytest.mark.parametrize(("event", "count"), [(Hand.PRESS, 2), (Hand.MEND, 0)])
def test_an_event_that_leads_to_several_states_or_to_none_has_no_target(event, count) -> None:
    with pytest.raises(IllegalTransition, match=f"a lamp: {event} leads to {count} states"):
        LAMPS.target(event)
