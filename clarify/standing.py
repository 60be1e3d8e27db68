"""Why an open question is still open, in one sentence for staff ([Q21]). Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

OVERDUE = timedelta(minutes=1)  # upkeep closes what is overdue within seconds


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What is known of an open question.

    Attributes:
        expires_at: Its deadline.
        asker: Who was asked, as staff know them.
        answered: How many of its questions are answered.
        questions: How many it has.
        shown: The state of the message that shows it; empty while it has none.
        may_be_seen: Some of that message may have reached the person.
        shown_error: Why that message has not arrived, if anything is known.
        reply_outcome: What became of the last reply; empty if there was none.
        reply_detail: Why, in the words the person was given.
    """

    expires_at: datetime
    asker: str
    questions: int
    answered: int = 0
    shown: str = ""
    may_be_seen: bool = False
    shown_error: str = ""
    reply_outcome: str = ""
    reply_detail: str = ""


def why_open(standing: Standing, *, now: datetime) -> str:
    """What an open question waits for, most telling reason first."""
    if now - standing.expires_at > OVERDUE:
        return "Its deadline has passed and nothing closed it: no upkeep runs (beat or worker)."
    return _not_shown(standing) or _not_answered(standing)


def is_shown(standing: Standing) -> bool:
    """Whether the person may have seen it; otherwise delivery holds it, not the person."""
    return not _not_shown(standing)


def _not_shown(standing: Standing) -> str:
    if not standing.shown:
        return "It is not shown yet: an earlier question of the conversation is open."
    if standing.shown == "delivered" or standing.may_be_seen:
        return ""
    error = f": {standing.shown_error}" if standing.shown_error else "."
    if standing.shown == "abandoned":
        return f"Its message was given up{error}"
    return f"Its message has not reached the platform{error}"


def _not_answered(standing: Standing) -> str:
    asker = standing.asker
    match standing.reply_outcome:
        case "hinted":
            detail = " ".join(standing.reply_detail.split())
            return f"The last reply was not taken as an answer: {detail}"
        case "refused":
            return f"Somebody else pressed a button; only {asker} may answer."
        case "kept":
            return f"{standing.answered} of {standing.questions} questions are answered so far."
        case _:
            return f"Nobody has replied; {asker} was asked."
