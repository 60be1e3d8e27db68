"""A question that staff show again: whichever message of it a person sees, their answer counts."""

import pytest

from clarify import questions
from clarify.questions import Answerer
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
