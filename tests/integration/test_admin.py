"""The pages for staff over a logged-in client: escaping, queries, permissions."""

import re

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import NoReverseMatch, reverse
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from clarify.models import Prompt
from delivery.models import Obligation
from gateway.models import (
    Account,
    AccountState,
    AllowEntry,
    AuditEvent,
    ChatPolicy,
    HomeChannel,
    TranscriptEntry,
)
from tests import factories
from tests.integration.paging import confirm, page

pytestmark = pytest.mark.django_db
OURS = [
    model
    for app in ("delivery", "clarify", "gateway")
    for model in apps.get_app_config(app).get_models()
]
NASTY = "<script>alert('x')</script>"


@pytest.fixture
def staff_client(client):
    client.force_login(factories.make_staff())
    return client


@pytest.fixture
def prompt():
    prompt = factories.make_prompt(now=factories.ago(minutes=5))
    factories.make_allow_entry(user_id=prompt.asker_id)
    return prompt


@pytest.fixture
def everything():
    """One row of every kind, with text that must be escaped."""
    conversation = factories.make_conversation(title=NASTY)
    turn = factories.make_turn(
        conversation, state="waiting", prompt=NASTY, sender_name=NASTY, error=NASTY, spoken=NASTY
    )
    factories.make_inbound(turn, text=NASTY, sender_name=NASTY)
    prompt = factories.make_prompt(turn, question_set=factories.choice_question(f"{NASTY}?"))
    factories.make_reply(prompt, text=NASTY, detail=NASTY)
    owed = factories.make_obligation(turn=turn, content=NASTY, last_error=NASTY)
    factories.make_attempt(owed.parts.get(), detail=NASTY)
    factories.make_account("telegram", last_error=NASTY, bot_name=NASTY, state="degraded")
    factories.make_allow_entry(note=NASTY)
    TranscriptEntry.objects.create(
        session=conversation.session,
        position=0,
        turn=turn,
        message={"text": NASTY},
        created_at=turn.created_at,
    )
    AuditEvent.objects.create(
        at=turn.created_at, actor=NASTY, action="test", subject=NASTY, detail={NASTY: NASTY}
    )
    ChatPolicy.objects.create(account="telegram", chat_id="-5", note=NASTY, system_prompt=NASTY)
    home = conversation.address.as_dict() | {"chat_id": NASTY}
    HomeChannel.objects.create(
        account="telegram", address=home, set_by=NASTY, set_at=turn.created_at
    )
    factories.make_everything_else(turn)
    return turn


# --- Every page -----------------------------------------------------------------------------------


@pytest.mark.proves("U2")
@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_every_model_has_a_list_and_a_page_that_escape_what_people_wrote(
    model, staff_client, everything
):
    row = model.objects.last()
    assert row is not None

    listed = staff_client.get(page(model, "changelist"))
    shown = staff_client.get(page(model, "change", row.pk))

    assert (listed.status_code, shown.status_code) == (200, 200)
    assert "<script>alert" not in listed.content.decode() + shown.content.decode()


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_every_search_and_filter_answers(model, staff_client, everything):
    for query in ("?q=41", "?q=x%27y", "?p=0"):
        assert staff_client.get(page(model, "changelist") + query).status_code == 200


def test_no_page_carries_inline_script_or_style(staff_client, everything):
    prompt = Prompt.objects.get()
    pages = [
        reverse("admin:index"),
        page(Prompt, "changelist"),
        page(Prompt, "change", prompt.pk),
        page(Obligation, "change", Obligation.objects.last().pk),
    ]
    for path in pages:
        html = staff_client.get(path).content.decode()

        assert not re.search(r"<script(?![^>]*(src=|type=\"application/json\"|json))[^>]*>", html)
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=", html)


EDITED_BY_HAND = {Account, AllowEntry, ChatPolicy}


@pytest.mark.parametrize(
    "model", [m for m in OURS if m not in EDITED_BY_HAND], ids=lambda model: model.__name__
)
def test_records_are_not_edited_by_hand(model, staff_client, everything):
    row = model.objects.last()

    assert staff_client.post(page(model, "change", row.pk), {}).status_code == 403
    assert staff_client.get(page(model, "add")).status_code == 403
    assert staff_client.post(page(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_the_schedule_is_read_and_not_edited(staff_client):
    every = IntervalSchedule.objects.create(every=2, period=IntervalSchedule.SECONDS)
    task = PeriodicTask.objects.create(name="upkeep", task="gateway.upkeep", interval=every)

    assert "gateway.upkeep" in staff_client.get(page(PeriodicTask, "changelist")).content.decode()
    assert staff_client.get(page(PeriodicTask, "change", task.pk)).status_code == 200
    assert staff_client.post(page(PeriodicTask, "change", task.pk), {}).status_code == 403
    with pytest.raises(NoReverseMatch):
        page(IntervalSchedule, "changelist")


# --- Queries --------------------------------------------------------------------------------------


def queries_of(client, path: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


@pytest.fixture
def many():
    for number in range(200):
        turn = factories.make_turn(state="waiting")
        factories.make_inbound(turn)
        prompt = factories.make_prompt(turn)
        if number % 2:
            factories.make_reply(prompt)
        factories.make_obligation(turn=turn)
        TranscriptEntry.objects.create(
            session=turn.session, position=0, turn=turn, message={}, created_at=turn.created_at
        )


@pytest.mark.proves("U2")
def test_two_hundred_rows_cost_no_more_queries_than_a_few(staff_client, many):
    for model in OURS:
        few = queries_of(staff_client, page(model, "changelist") + "?q=no-such-thing")
        most = queries_of(staff_client, page(model, "changelist"))

        assert most <= few + 6, model.__name__
        assert most <= 22, model.__name__


def test_the_first_page_costs_a_fixed_number_of_queries(staff_client, many):
    assert queries_of(staff_client, reverse("admin:index")) <= 25


def test_a_message_of_many_parts_is_one_page_with_few_queries(staff_client):
    owed = factories.make_obligation(content="\n\n".join(["A paragraph. " * 200] * 20))
    for part in owed.parts.all():
        for _ in range(3):
            factories.make_attempt(part)
    assert owed.parts.count() > 10

    assert queries_of(staff_client, page(Obligation, "change", owed.pk)) <= 16


# --- Permissions ----------------------------------------------------------------------------------


def log_in(client, *permissions: str):
    person = factories.make_staff("viewer", is_superuser=False)
    person.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(person)


@pytest.mark.proves("U2")
def test_a_viewer_reads_and_is_offered_no_verb(client, prompt):
    log_in(client, "view_prompt")

    html = client.get(page(Prompt, "change", prompt.pk)).content.decode()
    confirm(client, Prompt, "cancel", prompt)

    assert factories.QUESTION in html
    assert "Cancel…" not in html
    assert Prompt.objects.get().state == "pending"


def test_an_operator_acts_without_being_a_superuser(client, prompt):
    log_in(client, "view_prompt", "change_prompt")

    confirm(client, Prompt, "cancel", prompt)

    assert Prompt.objects.get().state == "cancelled"


def test_without_permission_a_page_is_closed_and_the_board_is_empty(client, prompt):
    log_in(client, "view_allowentry")

    assert client.get(page(Prompt, "changelist")).status_code == 403
    assert "staff-board" not in client.get(reverse("admin:index")).content.decode()


def test_a_stranger_is_sent_to_log_in(client, prompt):
    assert client.get(page(Prompt, "changelist")).status_code == 302


# --- The first page -------------------------------------------------------------------------------


def test_the_first_page_shows_what_needs_somebody(staff_client, prompt):
    factories.make_account("mybot", state=AccountState.AUTH_FAILED, last_error="token is wrong")
    factories.make_obligation()

    html = staff_client.get(reverse("admin:index")).content.decode()

    assert factories.QUESTION in html
    assert "token is wrong" in html
    assert "telegram: 1" in html
    assert f"turn {prompt.correlation}" in html
    assert "Not seen lately: gateway, worker, beat" in html


def test_a_fresh_installation_has_a_quiet_first_page(staff_client):
    assert staff_client.get(reverse("admin:index")).status_code == 200
