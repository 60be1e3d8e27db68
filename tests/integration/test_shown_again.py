"""A question that staff show again: whichever message of it a person sees, their answer counts."""

from datetime import timedelta

import pytest
from django.db import transaction

from clarify import questions
from clarify.questions import Answerer
from clarify.schema import normalise_ask_user
from delivery import ledger
from gateway.models import Turn
from tests.factories import make_obligation, make_prompt, settle

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


@pytest.mark.proves("Q21")
def test_staff_see_every_message_of_a_question_that_moved_down_twice_and_no_other(clock) -> None:
    options = [{"label": "Yes"}, {"label": "No"}]
    asked = [
        {"id": key, "header": key, "question": f"Take {key}?", "options": options}
        for key in ("salt", "oil", "rice")
    ]
    for _ in range(9):  # the ledger has rows of others, too
        make_obligation()
    prompt = make_prompt(question_set=normalise_ask_user(asked, None), now=clock())
    make_prompt(Turn.objects.get(pk=prompt.correlation), now=clock())
    ada = Answerer(id=prompt.asker_id, name="Ada", surface="telegram")
    shown = [prompt.obligation]
    for _ in range(2):
        with transaction.atomic():
            questions.answer_text(prompt, "yes", ada, now=clock.advance(60))
        prompt.refresh_from_db()
        shown.append(settle(prompt.obligation, at=clock()))

    found = questions.messages_of(prompt)

    first, second, third = shown
    assert [row for row in found if row.kind == "prompt"] == [first, second, third]
    assert [row.edits for row in found if row.kind == "retire"] == [first, second]
    assert len(found) == 5
