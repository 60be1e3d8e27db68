"""The life of a prompt, as a table ([Q1]), and what becomes of something said to it. Pure."""

from enum import StrEnum

from delivery.tables import Table


class State(StrEnum):
    """Where a prompt stands."""

    PENDING = "pending"  # it was asked and may still be answered
    ANSWERED = "answered"  # a person answered all of it
    SKIPPED = "skipped"  # a person declined it
    EXPIRED = "expired"  # its deadline passed
    CANCELLED = "cancelled"  # the turn, the session or staff withdrew it
    UNDELIVERABLE = "undeliverable"  # it certainly never reached anybody


class Event(StrEnum):
    """What can happen to a prompt."""

    ANSWER = "answer"  # the last open question was answered
    SKIP = "skip"  # a permitted person declined
    EXPIRE = "expire"  # the wall clock passed the deadline
    CANCEL = "cancel"  # `/stop`, `/new`, suspension, staff
    FAIL_DELIVERY = "fail_delivery"  # the platform refused the message for good


PROMPTS: Table[State, Event] = Table(
    thing="a prompt",
    steps={
        (State.PENDING, Event.ANSWER): State.ANSWERED,
        (State.PENDING, Event.SKIP): State.SKIPPED,
        (State.PENDING, Event.EXPIRE): State.EXPIRED,
        (State.PENDING, Event.CANCEL): State.CANCELLED,
        (State.PENDING, Event.FAIL_DELIVERY): State.UNDELIVERABLE,
    },
)


class Effect(StrEnum):
    """What something said to a prompt did, as its reply is stored with."""

    RESOLVED = "resolved"  # the prompt is closed by it
    KEPT = "kept"  # part of it is answered and kept; the rest is still open
    HINTED = "hinted"  # not taken; the person is told how to answer
    TOO_LATE = "too late"  # closed before
    REFUSED = "refused"  # not theirs to say; `NotYours` or `NotAllowed` is raised
    NOTHING = "nothing"  # no answer at all: not for this prompt, and no reply is stored
