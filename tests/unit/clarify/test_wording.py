"""The words about prompts, in another language."""

import dataclasses

import pytest

from clarify import approvals, presenting, stepping
from clarify.schema import normalise_clarify
from clarify.states import State
from clarify.wording import ENGLISH, Words


def shouted(text: str) -> str:
    """A language of its own: everything but what stands in braces is in capitals."""
    return "".join(
        piece if piece.startswith("{") else piece.upper()
        for piece in text.replace("{", "\0{").replace("}", "}\0").split("\0")
    )


LOUD = Words.through(shouted)
SET = normalise_clarify("Where?", ["Here", "There"])


def test_each_text_goes_through_the_translation() -> None:
    for known in dataclasses.fields(Words):
        english, loud = getattr(ENGLISH, known.name), getattr(LOUD, known.name)
        if isinstance(english, str):
            assert loud == shouted(english), known.name
        else:
            assert dict(loud) == {key: shouted(text) for key, text in english.items()}


@pytest.mark.parametrize("bad", ["{nobody}", "no place", "{count", "{count} {count.real}"])
def test_a_translation_that_would_break_what_is_put_in_is_not_used(bad: str) -> None:
    words = Words.through(lambda text: bad if text == ENGLISH.several else text)
    assert words.several == ENGLISH.several


def test_a_question_is_put_shown_and_closed_in_the_words_given() -> None:
    said = [
        presenting.present(SET, words=LOUD),
        presenting.present(SET, buttons=True, words=LOUD),
        stepping.present(SET, stepping.Progress(), LOUD),
        presenting.summary(SET, {}, State.EXPIRED, by="Bo", words=LOUD),
        LOUD.closed(State.SKIPPED, {}, by="Bo"),
        LOUD.taken(State.ANSWERED, {"q": ["Here"]}),
        approvals.ending({}, State.EXPIRED, words=LOUD),
    ]
    for text in said:
        kept = text
        for own in ("Where?", "Here", "There", "Bo", "/skip"):
            kept = kept.replace(own, "")
        assert kept == kept.upper(), text
    captions = [
        b.label for row in stepping.controls(SET, stepping.Progress(), "t", LOUD).rows for b in row
    ]
    assert captions == ["Here", "There", "OTHER…", "SKIP"]
