"""When a place is told of an incident, and that it is over. Pure.

Once for each incident, after it has lasted a moment; that it is over, after it has stayed away for
a while, so that what comes and goes is one incident and two words; and never more than a handful
of words at once: what is beyond that is told as a number.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gateway.watch.sights import Severity

LASTS = timedelta(seconds=30)  # before anybody is told
STAYS_AWAY = timedelta(minutes=3)  # before it counts as over
MOST_AT_ONCE = 5
MOST_AN_HOUR = 12


class Word(StrEnum):
    """What is told."""

    RAISED = "raised"
    WORSE = "worse"
    OVER = "over"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """An incident, as far as telling goes.

    Attributes:
        pk: Its number.
        severity: How bad it is.
        says: What is wrong.
        fix: What to do.
        since: Since when it is so, in words; empty if nobody knows.
        began_at: When it was first seen.
        seen_at: When it was last seen.
        told: How bad it was when somebody was told; empty for nobody yet.
    """

    pk: int
    severity: str
    says: str
    fix: str
    since: str = ""
    began_at: datetime
    seen_at: datetime
    told: str = ""


@dataclass(frozen=True)
class Telling:
    """One thing to tell."""

    word: Word
    standing: Standing


def due(standings: Iterable[Standing], *, now: datetime) -> list[Telling]:
    """What is to be told now, the worst first.

    Args:
        standings: All incidents that are not closed.
        now: When the watchdog looked; what was not seen then is gone for now.
    """
    found = [
        Telling(word, one)
        for one in standings
        if (word := _word(one, now, is_there=one.seen_at >= now)) is not None
    ]
    return sorted(found, key=lambda one: (one.standing.severity != Severity.ERROR, one.standing.pk))


def _word(one: Standing, now: datetime, *, is_there: bool) -> Word | None:
    if not is_there:
        gone = now - one.seen_at >= STAYS_AWAY
        return Word.OVER if gone and one.told else None
    if not one.told:
        return Word.RAISED if now - one.began_at >= LASTS else None
    grew = one.told == Severity.WARNING and one.severity == Severity.ERROR
    return Word.WORSE if grew else None


def is_over(one: Standing, *, now: datetime) -> bool:
    """Whether an incident has stayed away for long enough to be over."""
    return now - one.seen_at >= STAYS_AWAY


def chosen(tellings: Sequence[Telling], *, told_lately: int) -> list[Telling]:
    """Those of `tellings` that are told one by one; the rest is told as a number.

    Args:
        tellings: What is due, the worst first.
        told_lately: How many were told within the last hour.
    """
    return list(tellings[: max(min(MOST_AT_ONCE, MOST_AN_HOUR - told_lately), 0)])


def message(telling: Telling, page: str) -> str:
    """One thing as Markdown.

    Args:
        telling: The thing.
        page: The address of the page that shows everything.
    """
    one = telling.standing
    if telling.word is Word.OVER:
        return f"**Over:** {one.says}"
    head = "Worse" if telling.word is Word.WORSE else one.severity.capitalize()
    since = f" (since {one.since})" if one.since else ""
    return f"**{head}:** {one.says}{since}\n\n{one.fix}\n\n{page}"


def summary(count: int, page: str) -> str:
    """What was not told one by one, as Markdown."""
    things = "one more thing" if count == 1 else f"{count} more things"
    return f"**Health:** {things} changed that are not told one by one: {page}"
