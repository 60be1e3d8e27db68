"""What becomes of something said to a prompt, and its row for staff."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from clarify.models import Prompt, Reply
from clarify.questions.looking import Answerer


class Effect(StrEnum):
    """What an answer did."""

    RESOLVED = "resolved"  # the prompt is closed by it
    KEPT = "kept"  # part of it is answered and kept; the rest is still open
    HINTED = "hinted"  # not taken; the person is told how to answer
    TOO_LATE = "too late"  # closed before
    NOTHING = "nothing"  # no answer at all: not for this prompt


@dataclass(frozen=True)
class Outcome:
    """What became of an answer: the effect, and the words for whoever gave it."""

    effect: Effect
    prompt: Prompt
    say: str = ""


def note(
    prompt: Prompt, answerer: Answerer, text: str, outcome: str, detail: str, now: datetime
) -> None:
    """Write down what somebody said to a prompt, and what became of it."""
    Reply.objects.create(
        prompt=prompt,
        by=answerer.id[:255],
        surface=answerer.surface,
        text=text[:4000],
        outcome=outcome,
        detail=detail[:500],
        at=now,
    )
