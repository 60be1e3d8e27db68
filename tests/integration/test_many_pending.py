"""Ten thousand open questions are ten thousand rows: answering one of them costs no more."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from clarify import questions
from clarify.models import Prompt
from clarify.questions import Answerer
from tests.factories import make_prompt

pytestmark = pytest.mark.django_db
MANY = 10_000


def crowd(like: Prompt, count: int) -> None:
    """Others who were asked the same, each in a conversation of their own."""
    columns = {
        field.attname: getattr(like, field.attname) for field in Prompt._meta.concrete_fields
    }
    del columns["id"], columns["obligation_id"]
    Prompt.objects.bulk_create(
        Prompt(**columns | {"conversation_key": f"other:{n}", "token": f"t{n}", "call_id": f"c{n}"})
        for n in range(count)
    )


def statements_of_an_answer(clock) -> list[str]:
    prompt = make_prompt(now=clock())
    ada = Answerer(id=prompt.asker_id, name="Ada", surface="telegram")
    with CaptureQueriesContext(connection) as seen, transaction.atomic():
        (found,) = questions.pending_for(prompt.conversation_key)
        outcome = questions.answer_text(found, "2", ada, now=clock())
    assert outcome.effect is questions.Effect.RESOLVED
    return [query["sql"] for query in seen]


@pytest.mark.proves("Q3")
def test_an_answer_costs_the_same_among_ten_thousand_open_questions(clock) -> None:
    alone = statements_of_an_answer(clock)
    crowd(make_prompt(now=clock()), MANY)

    among_many = statements_of_an_answer(clock)

    assert len(among_many) == len(alone)
    assert [sql for sql in among_many if reads_whole_table(sql)] == []


def reads_whole_table(sql: str) -> bool:
    """Whether the database would go through all prompts to carry out `sql`."""
    if connection.vendor != "sqlite" or not sql.startswith(("SELECT", "UPDATE")):
        return False
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        plan = [row[3] for row in cursor.fetchall()]
    return any(step.startswith("SCAN clarify_prompt") and "USING" not in step for step in plan)


@pytest.mark.proves("Q3")
def test_deadlines_are_kept_a_bounded_number_at_a_time(clock) -> None:
    crowd(make_prompt(now=clock()), 30)
    clock.advance(timedelta(hours=2).total_seconds())

    assert questions.expire_overdue(now=clock(), limit=20) == 20
    assert questions.expire_overdue(now=clock(), limit=20) == 11
