"""[Q3]: what an answer, a press and the upkeep ask the database is found by an index."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import pytest
from django.db import connection, transaction

from clarify import buttons, questions
from clarify.models import Prompt
from delivery import leases, ledger
from gateway import intake, turns, upkeep
from gateway.messages import ButtonPress, ChatType, InboundMessage, Source
from gateway.models import Turn
from tests.crowds import make_crowd
from tests.factories import make_account, make_allow_entry, make_approval

pytestmark = pytest.mark.django_db
MANY = 1_000  # with fewer rows PostgreSQL rightly reads the whole table
FEW = 100  # rows
BIG = {
    "clarify_prompt",
    "gateway_turn",
    "gateway_toolcall",
    "gateway_conversation",
    "gateway_session",
    "delivery_obligation",
    "delivery_part",
}


@pytest.fixture
def crowd(db, clock) -> list[Prompt]:
    """Many open questions, one each; the database has counted its rows."""
    make_account("telegram")
    prompts = make_crowd(MANY, now=clock())
    for prompt in prompts[:3]:
        make_allow_entry(user_id=prompt.asker_id)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return prompts


def place_of(prompt: Prompt) -> Source:
    return Source(
        platform="telegram",
        account="telegram",
        chat_type=ChatType.DM,
        chat_id=prompt.asker_id,
        user_id=prompt.asker_id,
        message_id="5",
    )


def say(prompt: Prompt, text: str, clock, *, reply_to: str = "") -> None:
    said = InboundMessage(
        source=place_of(prompt),
        event_id=f"said {prompt.pk} {text}",
        text=text,
        sent_at=clock(),
        reply_to=reply_to,
    )
    intake.take("telegram", said, now=clock())


def press(prompt: Prompt, choice: str, clock) -> None:
    pressed = ButtonPress(
        source=place_of(prompt),
        event_id=f"pressed {prompt.pk}",
        interaction_id="1",
        data=buttons.button_data(prompt.token, choice),
    )
    intake.take("telegram", pressed, now=clock())


def dear(act: Callable[[], object]) -> list[str]:
    """The statements of `act` that read a big table from end to end, with their plans."""
    seen: list[tuple[str, Sequence[object]]] = []

    def note(execute, sql, params, many, context):
        if re.match(r"SELECT|UPDATE|DELETE", sql):
            seen.append((sql, params or ()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        act()
    assert seen
    return [f"{sql}\n{plan}" for sql, params in seen for plan in scans(sql, params)]


def scans(sql: str, params: Sequence[object]) -> Iterator[str]:
    """The steps of the plan of a statement that read a whole big table."""
    if connection.vendor == "postgresql":
        yield from _scans_of_postgresql(sql, params)
    else:
        yield from _scans_of_sqlite(sql, params)


def _scans_of_sqlite(sql: str, params: Sequence[object]) -> Iterator[str]:
    """A scan is a scan, but for the indexes of what is under way now, which are short.

    It is asked with placeholders, as it runs: with the values in their place SQLite finds indexes
    that it does not find otherwise.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        steps = [row[3] for row in cursor.fetchall()]
    for step in steps:
        table = re.match(r"SCAN (\w+)(?! USING (COVERING )?INDEX (owed_by_|turns_in_hand))", step)
        if table and table[1] in BIG:
            yield step


def _scans_of_postgresql(sql: str, params: Sequence[object]) -> Iterator[str]:
    """It says how many rows it has read, whatever way it took to them."""
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
        plan = cursor.fetchone()[0]
        transaction.set_rollback(True)
    waiting = [(json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]]
    while waiting:
        step = waiting.pop()
        waiting += step.get("Plans", ())
        left_out = step.get("Rows Removed by Filter", 0)
        read = (step["Actual Rows"] + left_out) * step["Actual Loops"]
        if step.get("Relation Name") in BIG and read > FEW:
            yield f"{step['Node Type']} on {step['Relation Name']}: {read} rows"


@pytest.mark.proves("Q3")
def test_a_typed_answer_reads_no_table_from_end_to_end(crowd, clock) -> None:
    assert dear(lambda: say(crowd[0], "2", clock)) == []
    assert Prompt.objects.get(pk=crowd[0].pk).state == "answered"


@pytest.mark.proves("Q3")
def test_an_answer_that_quotes_reads_no_table_from_end_to_end(crowd, clock) -> None:
    (part,) = crowd[0].obligation.parts.all()

    assert dear(lambda: say(crowd[0], "2", clock, reply_to=part.message_id)) == []
    assert Prompt.objects.get(pk=crowd[0].pk).state == "answered"


@pytest.mark.proves("Q3")
def test_a_late_answer_reads_no_table_from_end_to_end(crowd, clock) -> None:
    say(crowd[0], "2", clock)

    assert dear(lambda: say(crowd[0], "1", clock)) == []


@pytest.mark.proves("Q3")
def test_a_press_reads_no_table_from_end_to_end(crowd, clock) -> None:
    assert dear(lambda: press(crowd[0], "p0.1", clock)) == []
    assert Prompt.objects.get(pk=crowd[0].pk).state == "answered"


@pytest.mark.proves("Q3")
@pytest.mark.parametrize("text", ["/approve", "/deny", "/skip", "/stop", "/status"])
def test_no_command_reads_a_table_from_end_to_end(crowd, clock, text) -> None:
    turn = Turn.objects.get(pk=int(crowd[0].correlation))
    make_approval(turn, now=clock())

    assert dear(lambda: say(crowd[0], text, clock)) == []


@pytest.mark.proves("Q3")
def test_a_worker_finds_what_was_answered_without_looking_at_the_rest(crowd, clock) -> None:
    say(crowd[0], "2", clock)
    turn = Turn.objects.get(pk=int(crowd[0].correlation))

    def take_up() -> None:
        assert turns.claim(turn.conversation_id, "host/1/1", now=clock(), capacity=9) == turn

    assert dear(take_up) == []


@pytest.mark.proves("Q3")
@pytest.mark.parametrize("due", [0, 1, 20])
def test_the_sweep_reads_what_is_due_and_no_more(crowd, clock, due) -> None:
    late = [prompt.pk for prompt in crowd[:due]]
    Prompt.objects.filter(pk__in=late).update(expires_at=clock())

    assert dear(lambda: questions.expire_overdue(now=clock())) == []
    assert Prompt.objects.filter(state="expired").count() == due


@pytest.mark.proves("Q3")
def test_the_whole_upkeep_reads_no_table_from_end_to_end(crowd, clock) -> None:
    clock.advance(timedelta(minutes=5).total_seconds())

    assert dear(lambda: upkeep.tick(now=clock())) == []


@pytest.mark.proves("Q3", "Q22")
def test_what_reached_nobody_is_found_by_what_was_given_up(crowd, clock) -> None:
    unseen = crowd[5]
    unseen.obligation.parts.update(state="failed", message_id="")
    type(unseen.obligation).objects.filter(pk=unseen.obligation_id).update(state="abandoned")

    assert dear(lambda: questions.close_undeliverable(now=clock())) == []
    assert Prompt.objects.get(pk=unseen.pk).state == "undeliverable"


@pytest.mark.proves("Q3")
def test_a_look_at_what_is_owed_passes_by_what_was_sent(crowd, clock) -> None:
    fence = leases.acquire(
        "account:telegram",
        "host/1/1",
        now=clock(),
        ttl=timedelta(minutes=1),
        is_dead=lambda _owner: False,
    )
    assert fence is not None

    def look() -> None:
        ledger.claim_due(
            fence, "telegram", now=clock(), busy=["elsewhere"], limit=9, admit=lambda heads: heads
        )

    assert dear(look) == []
