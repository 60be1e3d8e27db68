"""Why an open question is still open, in one sentence for staff ([Q21]). Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from clarify.states import Effect
from delivery.states import State as DeliveryState

OVERDUE = timedelta(minutes=1)  # upkeep closes what is overdue within seconds


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What is known of an open question.

    Attributes:
        expires_at: Its deadline.
        asker: Who was asked, as staff know them.
        answered: How many of its questions are answered.
        questions: How many it has.
        since: Since when it can be answered, in the zone that staff read clocks in; None where
            that is not known.
        ahead: The question of the same conversation that it waits behind; None if that is not
            known.
        shown: The state of the message that shows it; empty while it has none.
        may_be_seen: Some of that message may have reached the person.
        shown_error: Why that message has not arrived, if anything is known.
        barred: Why the person may not speak any more; empty if they may, or if others may answer.
        hints: How many replies were not taken as an answer.
        reply_outcome: What became of the last reply; empty if there was none.
        reply_detail: Why, in the words the person was given.
        is_approval: An operation is to be approved.
    """

    expires_at: datetime
    asker: str
    questions: int
    answered: int = 0
    since: datetime | None = None
    ahead: int | None = None
    shown: str = ""
    may_be_seen: bool = False
    shown_error: str = ""
    barred: str = ""
    hints: int = 0
    reply_outcome: str = ""
    reply_detail: str = ""
    is_approval: bool = False


def why_open(standing: Standing, *, now: datetime) -> str:
    """What an open question waits for, most telling reason first."""
    if now - standing.expires_at > OVERDUE:
        return "Its deadline has passed and nothing closed it: no upkeep runs (beat or worker)."
    if now >= standing.expires_at:
        return "Its deadline has passed; upkeep closes it within seconds."
    return _not_shown(standing) or _barred(standing) or _not_answered(standing, now)


def is_shown(standing: Standing) -> bool:
    """Whether the person may have seen it; otherwise delivery holds it, not the person."""
    return not _not_shown(standing)


def _not_shown(standing: Standing) -> str:
    if not standing.shown:
        ahead = f" (question {standing.ahead})" if standing.ahead else ""
        return f"It is not shown yet: an earlier question of the conversation is open{ahead}."
    if standing.shown == DeliveryState.DELIVERED or standing.may_be_seen:
        return ""
    error = f": {standing.shown_error}" if standing.shown_error else "."
    if standing.shown == DeliveryState.ABANDONED:
        return f"Its message was given up{error}"
    return f"Its message has not reached the platform{error}"


def _barred(standing: Standing) -> str:
    if not standing.barred:
        return ""
    asked = "for whom it is asked" if standing.is_approval else "who was asked"
    return f"{standing.asker}, {asked}, may not speak any more: {standing.barred}."


def _not_answered(standing: Standing, now: datetime) -> str:
    match standing.reply_outcome:
        case Effect.HINTED:
            return _hinted(standing)
        case Effect.REFUSED if standing.is_approval:
            return "Somebody tried to decide it who may not."
        case Effect.REFUSED:
            return f"Somebody else pressed a button; only {standing.asker} may answer."
        case Effect.KEPT:
            return f"{standing.answered} of {standing.questions} questions are answered so far."
    since = f" since {_clock(standing.since, now)}" if standing.since else ""
    if standing.is_approval:
        return f"Nobody has decided{since}; it is asked for {standing.asker}."
    return f"Nobody has replied{since}; {standing.asker} was asked."


def _hinted(standing: Standing) -> str:
    detail = " ".join(standing.reply_detail.split())
    if standing.hints > 1:
        return f"The last {standing.hints} replies were not taken as answers, lastly: {detail}"
    return f"The last reply was not taken as an answer: {detail}"


def _clock(at: datetime, now: datetime) -> str:
    is_today = at.date() == now.astimezone(at.tzinfo).date()
    return f"{at:%H:%M}" if is_today else f"{at:%Y-%m-%d %H:%M}"
