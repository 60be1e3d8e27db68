"""A question that staff show again: whichever message of it a person sees, their answer counts."""

from datetime import timedelta

import pytest

from clarify import questions
from clarify.questions import Answerer
from delivery import ledger
from tests.factories import make_prompt

pytestmark = pytest.mark.django_db


@pytest.mark.proves("Q8")
def test_the_earlier_message_takes_an_answer_while_the_repeat_is_still_owed(clock) -> None:
    prompt = make_prompt(now=clock())
    questions.resend(prompt, now=clock.advance(60))
    prompt.refresh_from_db()
    assert prompt.obligation.state == "pending"

    (found,) = questions.pending_for(prompt.conversation_key)
    ada = Answerer(id=prompt.asker_id, name="Ada", surface="telegram")
    outcome = questions.answer_text(found, "2", ada, now=clock())

    assert outcome.effect is questions.Effect.RESOLVED
    assert outcome.prompt.answers == {"answer": ["Production"]}


@pytest.mark.proves("Q22")
def test_a_repeat_that_is_refused_closes_nothing_that_was_seen(clock) -> None:
    prompt = make_prompt(now=clock())
    questions.resend(prompt, now=clock.advance(60))
    prompt.refresh_from_db()
    ledger.withdraw(prompt.obligation, reason="refused", now=clock())

    assert questions.close_undeliverable(now=clock()) == 0

    (found,) = questions.pending_for(prompt.conversation_key)
    assert found == prompt


@pytest.mark.proves("Q8")
def test_a_question_outlives_the_row_of_its_message(clock) -> None:
    prompt = make_prompt(now=clock())
    questions.extend(prompt, by=timedelta(days=7), now=clock())
    prompt.obligation.delete()

    (found,) = questions.pending_for(prompt.conversation_key)
    assert found == prompt
