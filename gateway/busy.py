"""What becomes of a message for the agent, by what is open in its conversation ([T2]). Pure.

What another person says in a conversation that several share is always a turn of its own, in
order: a turn is done with the rights of who began it, so nobody's words get into another's, and
nobody's words stop it. `/stop` does, on purpose.
"""

from dataclasses import dataclass
from enum import StrEnum

from gateway.rules import BusyMode


class Plan(StrEnum):
    """What is done with a message."""

    BEGIN = "begin"  # nothing is open: it begins a turn
    QUEUE = "queue"  # a turn of its own, behind what is open
    COLLECT = "collect"  # into the turn that is last in the queue
    STEER = "steer"  # for the running turn, at its next model call
    INTERRUPT = "interrupt"  # in place of the running turn


@dataclass(frozen=True)
class Open:
    """One open turn of a conversation, as far as it matters here."""

    id: int
    sender_id: str
    is_queued: bool


def plan(mode: BusyMode, ahead: list[Open], sender_id: str) -> Plan:
    """What is done with a message of `sender_id`.

    Args:
        mode: How the conversation wants it.
        ahead: Its open turns, the active one in front, then the queue in order.
        sender_id: Who says it.
    """
    if not ahead:
        return Plan.BEGIN
    first, last = ahead[0], ahead[-1]
    match mode:
        case BusyMode.COLLECT if last.is_queued and last.sender_id == sender_id:
            return Plan.COLLECT
        case BusyMode.STEER if not first.is_queued and first.sender_id == sender_id:
            return Plan.STEER
        case BusyMode.INTERRUPT if not first.is_queued and first.sender_id == sender_id:
            return Plan.INTERRUPT
        case _:
            return Plan.QUEUE
