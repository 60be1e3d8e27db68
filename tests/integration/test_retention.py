"""[O2]: what is over goes in time, in every table, and what is open or needed never does."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session as LoginSession
from django.db import connection, transaction
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from clarify import retention as clarify_retention
from clarify.models import Permit, Prompt, Reply
from clarify.states import State as PromptState
from delivery import forgetting
from delivery import retention as delivery_retention
from delivery.models import DeadDestination, Obligation, Preview
from delivery.states import OPEN, State
from gateway import retention
from gateway.models import (
    AuditEvent,
    Conversation,
    InboundEvent,
    MediaFile,
    Note,
    ProcessBeat,
    Session,
    ToolCall,
    TranscriptEntry,
    Turn,
    Upload,
)
from gateway.models.turns import OPEN_STATES
from gateway.states import TurnState
from tests import factories
from tests.fakes.clock import FakeClock

pytestmark = [pytest.mark.django_db, pytest.mark.proves("O2")]
DAY = 86_400
RULES = (
    *delivery_retention.RULES,
    *clarify_retention.RULES,
    *retention.RULES,
    *forgetting.registered_rules(),
)
OURS = (*delivery_retention.RULES, *clarify_retention.RULES, *retention.RULES)

# Bounded by what staff set up or by who takes part, not by how much is said.
AS_MANY_AS_THERE_ARE = {
    "gateway.Account": "made by staff",
    "gateway.AllowEntry": "made by staff, and by pairing",
    "gateway.ChatPolicy": "one a chat that staff set up",
    "gateway.HomeChannel": "one an account",
    "identity.Link": "one a pair of a person's identities; those that came to nothing go in tidy",
    "identity.LinkEnd": "two a link",
    "identity.Pairing": "one a person let in; those that came to nothing go in tidy",
    "identity.StrangerPolicy": "made by staff",
    "identity.Tries": "one a person who guesses, for an hour",
    "schedules.Job": "made by people, within a limit for each",
    "schedules.Place": "made by staff",
    "webhooks.Endpoint": "made by staff",
    "webhooks.Receipt": "dropped by its own job, after the days that a sender may repeat",
    "delivery.Lease": "one an account; its number must go on growing",
}


def run(now) -> dict[str, int]:
    """What Beat's jobs do, in their order."""
    gone = delivery_retention.run(now=now)
    return gone | clarify_retention.run(now=now) | retention.run(now=now)


def keeping_quiet(days: int | None) -> dict:
    """The setting under which conversations go after so many days of silence; None for never."""
    kept = {"CONVERSATIONS": timedelta(days=days) if days else None}
    gateway = django_settings.GATEWAY
    return gateway | {"RETENTION": gateway["RETENTION"] | kept}


def later(clock: FakeClock, days: float):
    return clock() + timedelta(days=days)


# --- every table ----------------------------------------------------------------------------------


def test_every_table_of_ours_is_bounded() -> None:
    ruled = {table for rule in RULES for table in (rule.model, *rule.along)}
    free = [
        model._meta.label
        for app in apps.get_app_configs()
        if app.name.split(".")[0] in {"delivery", "clarify", "gateway"}
        for model in app.get_models()
        if model not in ruled and model._meta.label not in AS_MANY_AS_THERE_ARE
    ]

    assert free == [], "give its rows a rule in the app's retention.py, or say here what bounds it"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.what)
def test_whatever_hangs_on_a_row_goes_with_it_or_before_it(rule) -> None:
    undecided = {
        table
        for model in (rule.model, *rule.along)
        for table, _ in forgetting.hangers(model)
        if table not in rule.along and table not in rule.after
    }

    assert undecided == set(), f"name it in `along` or `after` of the rule of {rule.what}"


def test_what_is_over_goes_from_every_table(clock, settings) -> None:
    settings.GATEWAY = keeping_quiet(500)
    make_everything_over(clock)

    gone = run(later(clock, 501))
    gone |= run(later(clock, 501))  # what others hung on

    assert set(gone) == {rule.what for rule in OURS}
    for rule in OURS:
        for table in (rule.model, *rule.along):
            assert not table._default_manager.exists(), table


def make_everything_over(clock) -> None:
    """One row at least of everything, all of it over."""
    now = clock()
    conversation = factories.make_conversation(now=now)
    turn = factories.make_turn(conversation, state="finished", now=now)
    factories.make_inbound(turn)
    prompt = factories.make_prompt(turn, now=now)
    factories.make_reply(prompt)
    Prompt.objects.update(state="answered", updated_at=now)
    factories.make_everything_else(turn)
    Permit.objects.update(expires_at=now)
    TranscriptEntry.objects.create(
        session=conversation.session, position=0, turn=turn, message={}, created_at=now
    )
    factories.make_conversation(now=now)
    AuditEvent.objects.create(at=now, actor="a", action="b")
    boss = factories.make_staff()
    LogEntry.objects.create(user=boss, action_flag=1, change_message="", action_time=now)
    LoginSession.objects.create(session_key="k", session_data="", expire_date=now)
    MediaFile.objects.update(state="gone", expires_at=now)
    for model, column in DATED:
        model._default_manager.update(**{column: now})
    ended = Session.objects.create(
        conversation=conversation, number=2, started_at=now, ended_at=now
    )
    assert ended.pk


DATED = (
    (InboundEvent, "received_at"),
    (Preview, "created_at"),
    (DeadDestination, "since"),
    (ProcessBeat, "seen_at"),
    (Upload, "uploaded_at"),
    (Obligation, "settled_at"),
)


# --- one by one -----------------------------------------------------------------------------------


def test_a_live_conversation_keeps_its_history_and_an_ended_session_does_not(clock) -> None:
    conversation = factories.make_conversation(now=clock())
    old = conversation.session
    new = Session.objects.create(conversation=conversation, number=2, started_at=clock())
    for session in (old, new):
        TranscriptEntry.objects.create(
            session=session, position=0, message={"text": "a"}, created_at=clock()
        )
    Conversation.objects.update(session=new)
    Session.objects.filter(pk=old.pk).update(ended_at=clock())

    run(later(clock, 364))
    assert TranscriptEntry.objects.count() == 2
    run(later(clock, 5000))

    assert list(TranscriptEntry.objects.values_list("session", flat=True)) == [new.pk]
    assert list(Session.objects.all()) == [new]


def test_a_quiet_conversation_goes_as_a_whole_where_a_setting_says_so(clock, settings) -> None:
    conversation = factories.make_conversation(now=clock())
    turn = factories.make_turn(conversation, state="finished", now=clock())
    Note.objects.create(conversation=conversation, turn=turn, text="x", created_at=clock())
    run(later(clock, 400))
    assert Note.objects.exists()

    settings.GATEWAY = keeping_quiet(200)
    run(later(clock, 400))

    assert not Conversation.objects.exists()
    assert not Note.objects.exists()


def test_the_message_of_an_open_question_stays_however_old_it_is(clock) -> None:
    prompt = factories.make_prompt(now=clock())

    run(later(clock, 3000))

    prompt.refresh_from_db()
    assert prompt.obligation is not None
    assert prompt.obligation.parts.exists()
    assert Turn.objects.get().tool_calls.exists()


def test_who_gave_an_approval_that_still_counts_is_known(clock) -> None:
    turn = factories.make_turn(state="finished", now=clock())
    prompt = factories.make_approval(turn, now=clock())
    Prompt.objects.update(state="answered")
    permit = factories.make_permit(turn, prompt=prompt, expires_at=later(clock, 300))

    run(later(clock, 299))
    permit.refresh_from_db()
    assert permit.prompt == prompt

    run(later(clock, 301))
    permit.refresh_from_db()
    assert permit.prompt is None


def test_a_message_that_is_being_changed_stays(clock) -> None:
    shown = factories.settle(factories.make_obligation(now=clock()), at=clock())
    change = factories.make_obligation(now=clock(), edits=shown)

    run(later(clock, 30))

    change.refresh_from_db()
    assert change.edits == shown


def test_a_file_of_an_open_turn_stays(clock, place) -> None:
    from gateway.media import shelf

    turn = factories.make_turn(state="waiting", now=clock())
    file = factories.make_file(turn, state="kept", expires_at=clock())

    assert shelf.expire(shelf.store(), now=later(clock, 20)) == 0
    Turn.objects.update(state="finished")
    assert shelf.expire(shelf.store(), now=later(clock, 20)) == 1
    file.refresh_from_db()
    assert file.state == "gone"


def test_a_row_on_which_something_hangs_that_no_rule_names_stays(clock) -> None:
    turn = factories.make_turn(state="finished", now=clock())
    factories.make_tool_call(turn)
    careless = forgetting.Rule(
        what="turns", model=Turn, past=lambda _now: Turn.objects.all(), by="updated_at"
    )

    assert forgetting.forget(careless, now=clock()) == 0
    ToolCall.objects.all().delete()
    assert forgetting.forget(careless, now=clock()) == 1


def test_a_pass_that_is_not_finished_goes_on_next_time(clock) -> None:
    AuditEvent.objects.bulk_create(
        AuditEvent(at=clock() + timedelta(seconds=n), actor=str(n), action="b") for n in range(5000)
    )
    now = later(clock, 400)

    assert retention.run(now=now, batches=2) == {"audit entries": 2000}
    assert AuditEvent.objects.earliest("pk").actor == "2000"  # the oldest go first
    assert retention.run(now=now) == {"audit entries": 3000}
    assert retention.run(now=now) == {}


def test_what_must_stay_does_not_stand_in_the_way_of_what_may_go(clock) -> None:
    for _ in range(5):
        factories.make_inbound(factories.make_turn(state="waiting", now=clock()))
    InboundEvent.objects.update(received_at=clock())
    last = factories.make_inbound()
    InboundEvent.objects.filter(pk=last.pk).update(received_at=later(clock, 1))
    small = replace(retention.EVENTS, batch=2)

    assert forgetting.forget(small, now=later(clock, 200)) == 1
    assert not InboundEvent.objects.filter(pk=last.pk).exists()


# --- any state of affairs -------------------------------------------------------------------------

AGES = st.integers(0, 800)
WORLDS = st.lists(
    st.fixed_dictionaries(
        {
            "turn": st.sampled_from(sorted(TurnState)),
            "turn_age": AGES,
            "event_age": AGES,
            "prompt": st.none() | st.sampled_from(sorted(PromptState)),
            "prompt_age": AGES,
            "owed": st.none() | st.sampled_from(sorted(State)),
            "owed_age": AGES,
            "ended": st.booleans(),
            "ended_age": AGES,
            "permit": st.booleans(),
        }
    ),
    min_size=1,
    max_size=4,
)


@hypothesis_settings(max_examples=40)
@given(facts=WORLDS, quiet_days=st.sampled_from([None, 2, 300]))
def test_nothing_open_is_ever_deleted_nor_what_it_needs(facts, quiet_days) -> None:
    clock = FakeClock()
    with transaction.atomic():
        for fact in facts:
            make_world(fact, clock())
        kept = needed_rows()
        with_quiet(quiet_days, lambda: run(clock()))

        assert [row for row in kept if not still_there(row)] == []
        assert too_old(clock()) == []
        transaction.set_rollback(True)


def with_quiet(days, act) -> None:
    from django.test import override_settings

    with override_settings(GATEWAY=keeping_quiet(days)):
        act()


def make_world(fact, now) -> None:
    """One conversation with one turn and what belongs to it, each of it in any state and age."""

    def at(name):
        return now - timedelta(days=fact[name])

    conversation = factories.make_conversation(now=at("turn_age"))
    turn = factories.make_turn(conversation, state=fact["turn"], now=at("turn_age"))
    factories.make_inbound(turn)
    TranscriptEntry.objects.create(
        session=conversation.session, position=0, turn=turn, message={}, created_at=now
    )
    if fact["prompt"]:
        prompt = factories.make_prompt(turn, now=at("prompt_age"))
        factories.make_reply(prompt)
        Prompt.objects.filter(pk=prompt.pk).update(state=fact["prompt"])
        if fact["permit"]:
            ends = now + timedelta(days=1)
            factories.make_permit(turn, prompt=prompt, expires_at=ends)
    if fact["owed"]:
        settled_at = None if fact["owed"] in OPEN else at("owed_age")
        factories.make_obligation(
            turn=turn, now=at("owed_age"), state=fact["owed"], settled_at=settled_at
        )
    if fact["ended"]:
        other = Session.objects.create(conversation=conversation, number=2, started_at=now)
        Session.objects.filter(pk=turn.session_id).update(ended_at=at("ended_age"))
        Conversation.objects.filter(pk=conversation.pk).update(session=other)
    InboundEvent.objects.filter(turn=turn).update(received_at=at("event_age"))


def needed_rows() -> list:
    """Everything that is open, and whatever it needs."""
    turns = list(Turn.objects.filter(state__in=OPEN_STATES))
    owed = list(Obligation.objects.filter(state__in=OPEN))
    asked = list(Prompt.objects.filter(state=PromptState.PENDING))
    permits = list(Permit.objects.filter(revoked_at=None))
    names = {row.correlation for row in (*owed, *asked)} | {turn.correlation for turn in turns}
    numbers = {int(name) for name in names}
    busy = Turn.objects.filter(pk__in=numbers)
    open_numbers = {turn.pk for turn in turns}
    return [
        *turns,
        *owed,
        *asked,
        *permits,
        *busy,
        *InboundEvent.objects.filter(turn__in=numbers),
        *ToolCall.objects.filter(turn__in=numbers),
        *Conversation.objects.filter(turns__in=numbers),
        *Session.objects.filter(turns__in=numbers),
        *TranscriptEntry.objects.filter(session__turns__in=numbers),
        *Obligation.objects.filter(correlation__in=[str(number) for number in open_numbers]),
        *[prompt.obligation for prompt in asked if prompt.obligation],
        *Prompt.objects.filter(correlation__in=[str(number) for number in open_numbers]),
        *[permit.prompt for permit in permits if permit.prompt],
        *Reply.objects.filter(prompt__state=PromptState.PENDING),
    ]


def still_there(row) -> bool:
    return type(row)._default_manager.filter(pk=row.pk).exists()


def too_old(now) -> list:
    """What should have gone: long over, and needed by nothing."""
    busy = {
        *Turn.objects.filter(state__in=OPEN_STATES).values_list("pk", flat=True),
        *map(int, Obligation.objects.filter(state__in=OPEN).values_list("correlation", flat=True)),
        *map(
            int,
            Prompt.objects.filter(state=PromptState.PENDING).values_list("correlation", flat=True),
        ),
    }
    over = Turn.objects.filter(updated_at__lt=now - timedelta(days=90)).exclude(pk__in=busy)
    events = InboundEvent.objects.filter(received_at__lt=now - timedelta(days=90))
    return [*over, *events.exclude(turn__in=busy).exclude(turn=None)]


# --- plans ----------------------------------------------------------------------------------------

MANY = 2_000
BIG = (InboundEvent, Turn, Session, AuditEvent, MediaFile, Obligation, Prompt)


def plans_of(act) -> Iterator[tuple[str, str]]:
    """The reading statements of `act` with their plans."""
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as seen:
        act()
    for query in seen:
        if query["sql"].startswith(("SELECT", "DELETE", "UPDATE")):
            yield query["sql"], plan_of(query["sql"])


def plan_of(sql: str) -> str:
    explained = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explained} {sql}".replace("%", "%%"), ())
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def is_scan(plan: str, table: str) -> bool:
    if connection.vendor == "postgresql":
        return f"Seq Scan on {table}" in plan
    return f"SCAN {table}" in plan and f"SCAN {table} USING" not in plan


def test_no_pass_reads_a_table_from_end_to_end(clock) -> None:
    """Most of it is young: what is old is found by an index, in each of the large tables."""
    make_many(clock)
    if connection.vendor == "postgresql":  # nobody counts SQLite's rows for it
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    # Of a table with a few rows PostgreSQL rightly reads all.
    big = [model._meta.db_table for model in BIG if model._default_manager.count() >= MANY]
    assert len(big) == len(BIG)

    dear = [
        f"{sql}\n{plan}"
        for sql, plan in plans_of(lambda: run(clock()))
        for table in big
        # What is settled is counted now and then: no more than are kept at most.
        if is_scan(plan, table) and not sql.startswith("SELECT COUNT")
    ]

    assert dear == []


def make_many(clock) -> None:
    conversation = factories.make_conversation(now=clock())
    turn = factories.make_turn(conversation, state="finished", now=clock())
    event, obligation = factories.make_inbound(turn), factories.make_obligation(turn=turn)
    factories.settle(obligation, at=clock())
    prompt = factories.make_prompt(turn, now=clock())
    file = factories.make_file(turn, state="gone")
    for number in range(MANY):
        age = timedelta(days=500 if number < 5 else 0, seconds=number)
        yesterday = clock() - age
        copy(event, number, received_at=yesterday, message_key=f"m{number}")
        copy(turn, number, updated_at=yesterday)
        copy(obligation, number, settled_at=yesterday, correlation=str(number))
        copy(
            prompt, number, updated_at=yesterday, state="answered", correlation=str(10**6 + number)
        )
        copy(file, number, expires_at=yesterday)
        session = Session(
            conversation=conversation, number=number + 5, started_at=yesterday, ended_at=yesterday
        )
        MANY_ROWS.setdefault(Session, []).append(session)
        entry = AuditEvent(at=yesterday, actor="a", action="b")
        MANY_ROWS.setdefault(AuditEvent, []).append(entry)
    for model, rows in MANY_ROWS.items():
        model._default_manager.bulk_create(rows, batch_size=500)
    MANY_ROWS.clear()


MANY_ROWS: dict = {}
UNIQUE = {"event_id", "delivery_id", "token"}


def copy(row, number: int, **changes) -> None:
    """One more row like `row`."""
    columns = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if not field.primary_key
    }
    columns |= {name: f"{name[:1]}{number}" for name in UNIQUE if name in columns}
    MANY_ROWS.setdefault(type(row), []).append(type(row)(**(columns | changes)))
