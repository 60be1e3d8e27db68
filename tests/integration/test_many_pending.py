"""Ten thousand open questions are ten thousand rows: answering one of them costs no more."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from clarify import questions
from clarify.models import Prompt
from gateway import intake
from gateway.messages import ChatType, InboundMessage, Source
from gateway.models import InboundEvent
from tests.factories import make_account, make_allow_entry, make_prompt

pytestmark = pytest.mark.django_db
MANY = 10_000
# What makes a statement about prompts be one about a few of them.
NARROW = re.compile(r'WHERE .*"(conversation_key|correlation|id|token)" (=|IN)')


def crowd(like: Prompt, count: int) -> None:
    """Others who were asked the same, each in a conversation of their own."""
    names = {field.attname for field in Prompt._meta.concrete_fields} - {"id", "obligation_id"}
    columns = {name: getattr(like, name) for name in names}
    Prompt.objects.bulk_create(
        Prompt(**columns | {"conversation_key": f"other:{n}", "token": f"t{n}", "call_id": f"c{n}"})
        for n in range(count)
    )


def statements_of_an_answer(clock) -> list[str]:
    """Everything that the database does when somebody who was asked something types "2"."""
    prompt = make_prompt(now=clock())
    make_allow_entry(user_id=prompt.asker_id)
    source = Source(
        platform="telegram",
        account="telegram",
        chat_type=ChatType.DM,
        chat_id=prompt.asker_id,
        user_id=prompt.asker_id,
        message_id="5",
    )
    said = InboundMessage(source=source, event_id=f"u{prompt.pk}", text="2", sent_at=clock())
    with CaptureQueriesContext(connection) as seen:
        intake.take("telegram", said, now=clock())
    assert InboundEvent.objects.get(event_id=said.event_id).decision == "answer"
    return [query["sql"] for query in seen]


@pytest.mark.proves("Q3")
def test_an_answer_costs_the_same_among_ten_thousand_open_questions(clock) -> None:
    make_account("telegram")
    alone = statements_of_an_answer(clock)
    crowd(make_prompt(now=clock()), MANY)

    among_many = statements_of_an_answer(clock)

    about_prompts = [sql for sql in among_many if re.search(r'(FROM|UPDATE) "clarify_prompt"', sql)]
    assert len(among_many) == len(alone)
    assert about_prompts
    assert [sql for sql in about_prompts if not NARROW.search(sql)] == []


@pytest.mark.proves("Q3")
def test_deadlines_are_kept_a_bounded_number_at_a_time(clock) -> None:
    crowd(make_prompt(now=clock()), 30)
    clock.advance(timedelta(hours=2).total_seconds())

    assert questions.expire_overdue(now=clock(), limit=20) == 20
    assert questions.expire_overdue(now=clock(), limit=20) == 11
