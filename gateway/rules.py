"""What may be set for a chat, and how settings of an account, a chat and a thread add up. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from gateway.keys import Sharing


class BusyMode(StrEnum):
    """What becomes of a message that comes while a turn is open ([T2])."""

    QUEUE = "queue"  # it is a turn of its own, next in line
    COLLECT = "collect"  # all that comes meanwhile is one turn, next in line
    STEER = "steer"  # the running turn is given it at its next model call
    INTERRUPT = "interrupt"  # the running turn is stopped, and it comes next


class Histories(StrEnum):
    """Who shares one history in a group or thread ([S3])."""

    PERSON = "person"  # each participant has their own
    SHARED = "shared"  # everybody there has the same


class Reset(StrEnum):
    """When a session ends by itself ([S4])."""

    NONE = "none"  # never
    IDLE = "idle"  # after so long without a word
    DAILY = "daily"  # every day at an hour


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Settings of one place; None, and an empty text, say nothing about it.

    Attributes:
        groups: Who shares a history in a group.
        threads: Who shares a history in a thread.
        busy: What becomes of a message that comes while a turn is open.
        reset: When a session ends by itself.
        idle_minutes: For `Reset.IDLE`: after so many minutes.
        hour: For `Reset.DAILY`: at this hour, 0 to 23.
        time_zone: Whose hour that is; empty for the installation's.
        fresh_final_seconds: An answer comes as a new message, of which people are notified, where
            its live message is older than that; None: it takes the place of the live one.
        stop_suspends: After `/stop` the next message begins another session.
        model: The name of the model that is asked there.
        system_prompt: The agent's instructions there, in place of the usual ones.
    """

    groups: Histories | None = None
    threads: Histories | None = None
    busy: BusyMode | None = None
    reset: Reset | None = None
    idle_minutes: int | None = None
    hour: int | None = None
    time_zone: str = ""
    fresh_final_seconds: int | None = None
    stop_suspends: bool | None = None
    model: str = ""
    system_prompt: str = ""

    @property
    def sharing(self) -> Sharing:
        """Who shares one history, as keys are made by it."""
        usual = Sharing()
        return Sharing(
            group_per_participant=usual.group_per_participant
            if self.groups is None
            else self.groups is Histories.PERSON,
            thread_per_participant=usual.thread_per_participant
            if self.threads is None
            else self.threads is Histories.PERSON,
        )


DEFAULTS = Rules(busy=BusyMode.QUEUE, reset=Reset.NONE, hour=4, idle_minutes=1440)


def together(layers: Iterable[Rules]) -> Rules:
    """What holds where several settings say something: for each the first that says anything.

    Args:
        layers: The most exact one first: thread, chat, parent of the chat, account, everywhere.
    """
    said: dict[str, Any] = {}
    for layer in (*layers, DEFAULTS):
        for field in fields(Rules):
            value = getattr(layer, field.name)
            if value not in (None, ""):
                said.setdefault(field.name, value)
    return Rules(**said)
