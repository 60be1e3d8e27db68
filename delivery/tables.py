"""A life as a table: which state follows which when what happens. Pure.

Every state that is written to the database is the `target` of an event, under a guard made of the
event's `sources`; so no verb can write a step that the table does not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from delivery.errors import IllegalTransition

S = TypeVar("S", bound=StrEnum)
E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True)
class Table(Generic[S, E]):
    """The steps of one kind of thing.

    Attributes:
        thing: Its name with an article, for errors ("a turn").
        steps: The state that follows, by state and event.
    """

    thing: str
    steps: Mapping[tuple[S, E], S]

    def advance(self, state: S, event: E) -> S:
        """The state that follows `state` when `event` happens.

        Raises:
            IllegalTransition: The table has no such step.
        """
        try:
            return self.steps[state, event]
        except KeyError:
            message = f"{self.thing} that is {state} cannot {event}"
            raise IllegalTransition(message) from None

    def sources(self, event: E) -> list[S]:
        """The states from which `event` is legal: the guard of a conditional update."""
        return [before for (before, happening) in self.steps if happening is event]

    def target(self, event: E) -> S:
        """The one state `event` leads to, from wherever it is legal.

        Raises:
            IllegalTransition: It leads nowhere, or to several.
        """
        after = {state for (_, happening), state in self.steps.items() if happening is event}
        if len(after) != 1:
            message = f"{self.thing}: {event} leads to {len(after)} states, not to one"
            raise IllegalTransition(message)
        return after.pop()
