"""What to do after a try that did not end in a receipt. Pure: a value in, a value out."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from delivery.errors import (
    AnchorGone,
    AuthenticationRefused,
    DestinationGone,
    DestinationMoved,
    FormattingRefused,
    MessageGone,
    NetworkDown,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ThreadGone,
    TransportError,
)


class Step(StrEnum):
    """What comes next for a part."""

    LATER = "later"  # the same again after `delay`
    PLAIN = "plain"  # at once, without formatting
    NO_ANCHOR = "no_anchor"  # at once, not as a reply
    PARENT = "parent"  # at once, into the parent chat, saying so
    MOVED = "moved"  # at once, to the chat's new id
    FRESH = "fresh"  # at once, as a new message instead of an edit
    MARKED = "marked"  # after `delay`, by the rules for an unknown outcome
    LEAVE = "leave"  # never, but the parts after it are still sent
    ABANDON = "abandon"  # never, nor what comes after it


@dataclass(frozen=True)
class Decision:
    """What comes next, after how long, and what else it means.

    Attributes:
        step: What comes next.
        delay: How long to wait first.
        reason: For staff, when left or abandoned.
        stops_account: The credential is refused: nothing more may be tried.
        kills_destination: The chat is closed to us until it speaks again.
    """

    step: Step
    delay: timedelta = timedelta(0)
    reason: str = ""
    stops_account: bool = False
    kills_destination: bool = False


FATE_UNKNOWN = "its fate stayed unknown too often"
FIRST_WAIT = 0.5
LONGEST_WAIT = 15.0  # so that an outage's backlog is out within half a minute of its end
# Before a message of unknown fate is sent again with a mark. Each may be one more copy, and there
# are few of them: together they outlast a connection that is cut for a dozen seconds.
LOST_WAITS = (1.5, 5.0, 15.0)

MOST_EDITS = 8  # harmless, but the lane waits; after about a minute a new message is better

FALLBACKS: dict[type[Refused], Step] = {
    FormattingRefused: Step.PLAIN,
    AnchorGone: Step.NO_ANCHOR,
    ThreadGone: Step.PARENT,
    DestinationMoved: Step.MOVED,
    MessageGone: Step.FRESH,
}


def back_off(attempt: int, chance: float) -> timedelta:
    """How long to wait before try number `attempt` + 1.

    Args:
        attempt: How many tries there have been, at least 1.
        chance: A random number in [0, 1), so that many waiters do not return at once.
    """
    ceiling = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(attempt - 1, 10))
    return timedelta(seconds=ceiling * (0.5 + chance / 2))


def decide(
    error: TransportError,
    *,
    attempt: int,
    recoveries_left: int,
    tried: frozenset[Step],
    chance: float,
    is_edit: bool = False,
    is_harmless: bool = False,
) -> Decision:
    """What to do about `error`.

    Args:
        error: What the transport said.
        attempt: Tries of this part so far, this one included.
        recoveries_left: How often this part may still be sent again with an unknown fate.
        tried: Fall-backs this part has already been through; none is taken twice.
        chance: A random number in [0, 1).
        is_edit: An earlier message was to be changed; doing that twice is harmless.
        is_harmless: The platform drops a second copy, or lets us look before one is sent.
    """
    if isinstance(error, RateLimited):
        wait = timedelta(seconds=error.retry_after + 0.25 * chance)
        return Decision(Step.LATER, wait)
    if isinstance(error, AuthenticationRefused):
        return Decision(Step.LATER, timedelta(seconds=LONGEST_WAIT), stops_account=True)
    if isinstance(error, NetworkDown | NotSent):
        return Decision(Step.LATER, back_off(attempt, chance))
    if isinstance(error, OutcomeUnknown):
        if is_edit or is_harmless:
            is_enough = is_edit and attempt >= MOST_EDITS and Step.FRESH not in tried
            wait = timedelta(0) if is_enough else back_off(attempt, chance)
            return Decision(Step.FRESH if is_enough else Step.MARKED, wait)
        return _after_loss(recoveries_left, chance)
    return _after_refusal(error, tried, is_edit=is_edit)


def _after_loss(recoveries_left: int, chance: float) -> Decision:
    if recoveries_left <= 0:
        return Decision(Step.LEAVE, reason=FATE_UNKNOWN)
    wait = LOST_WAITS[-min(recoveries_left, len(LOST_WAITS))]
    return Decision(Step.MARKED, timedelta(seconds=wait * (0.75 + chance / 4)))


def _after_refusal(error: TransportError, tried: frozenset[Step], *, is_edit: bool) -> Decision:
    step = next((step for kind, step in FALLBACKS.items() if isinstance(error, kind)), None)
    if step is None and is_edit and not isinstance(error, DestinationGone):
        # Whatever stands in the way of changing the old message, a new one may still pass.
        step = Step.FRESH
    if step is not None and step not in tried:
        return Decision(step)
    reason = error.detail or type(error).__name__
    return Decision(
        Step.ABANDON, reason=reason, kills_destination=isinstance(error, DestinationGone)
    )
