"""What becomes of something said to a prompt, and its row for staff."""

from dataclasses import dataclass
from datetime import datetime

from clarify.models import Prompt, Reply
from clarify.questions.looking import Answerer
from clarify.states import Effect


@dataclass(frozen=True)
class Outcome:
    """What became of an answer: the effect, and the words for whoever gave it.

    `asks` is what their own words are to answer now, where they may be asked for in a form.
    """

    effect: Effect
    prompt: Prompt
    say: str = ""
    asks: str = ""


def note(
    prompt: Prompt, answerer: Answerer, text: str, effect: Effect, detail: str, now: datetime
) -> None:
    """Write down what somebody said to a prompt, and what became of it."""
    Reply.objects.create(
        prompt=prompt,
        by=answerer.id[:255],
        surface=answerer.surface,
        text=text[:4000],
        outcome=effect,
        detail=detail[:500],
        at=now,
    )
