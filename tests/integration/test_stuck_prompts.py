"""[Q21]: which questions are stuck, and why: the list for staff, however long it is."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from clarify import listing
from clarify.listing import Trouble
from clarify.models import Prompt, Reply
from tests import factories
from tests.integration.paging import page

pytestmark = [pytest.mark.django_db, pytest.mark.proves("Q21")]


@pytest.fixture
def staff_client(client):
    client.force_login(factories.make_staff())
    return client


def stuck(trouble: Trouble) -> list[Prompt]:
    return list(listing.in_trouble(Prompt.objects.all(), trouble, now=timezone.now()))


def shown(client, query: str = "") -> list[Prompt]:
    response = client.get(page(Prompt, "changelist") + query)
    assert response.status_code == 200
    return list(response.context["cl"].result_list)


def listed(client, query: str = "") -> str:
    return client.get(page(Prompt, "changelist") + query).content.decode()


def open_prompt(**changes) -> Prompt:
    """A question put to somebody who may speak."""
    prompt = factories.make_prompt(**changes)
    factories.make_allow_entry(user_id=prompt.asker_id)
    return prompt


# --- Each reason is said, and found by its filter ---------------------------------------------


def silent() -> Prompt:
    return open_prompt()


def overdue() -> Prompt:
    return open_prompt(expires_at=factories.ago(minutes=3))


def given_up() -> Prompt:
    prompt = open_prompt(delivered=False)
    type(prompt.obligation).objects.filter(pk=prompt.obligation_id).update(
        state="abandoned", reason="the bot was blocked"
    )
    return prompt


def not_sent() -> Prompt:
    prompt = open_prompt(delivered=False)
    type(prompt.obligation).objects.filter(pk=prompt.obligation_id).update(
        state="failed", last_error="no route to host"
    )
    return prompt


def misread() -> Prompt:
    prompt = open_prompt()
    for _ in range(3):
        factories.make_reply(prompt, detail="There is no option 7.")
    return prompt


def behind() -> Prompt:
    first = open_prompt()
    turn = factories.make_turn(conversation_of(first), state="queued")
    return factories.make_prompt(turn, delivered=False)


def conversation_of(prompt: Prompt):
    from gateway.models import Conversation

    return Conversation.objects.get(key=prompt.conversation_key)


REASONS = [
    (silent, "Nobody has replied since", {Trouble.SILENT}),
    (overdue, "deadline has passed and nothing closed it", {Trouble.OVERDUE, Trouble.SILENT}),
    (given_up, "Its message was given up: the bot was blocked", {Trouble.UNSENT}),
    (not_sent, "has not reached the platform: no route to host", {Trouble.UNSENT}),
    (misread, "The last 3 replies were not taken as answers, lastly: There", {Trouble.REFUSED}),
    (behind, "an earlier question of the conversation is open (question", {Trouble.BEHIND}),
]


@pytest.mark.parametrize(("make", "why", "troubles"), REASONS)
def test_why_a_question_is_open_is_said_and_found_by_its_filter(staff_client, make, why, troubles):
    prompt = make()

    assert why in listed(staff_client)
    found = {
        trouble
        for trouble in set(Trouble) - {Trouble.STUCK}
        if prompt in shown(staff_client, f"?why={trouble.value}")
    }
    assert found == troubles


@pytest.mark.parametrize("make", [overdue, given_up, not_sent, misread])
def test_what_is_in_trouble_is_stuck_at_once(make):
    assert make() in stuck(Trouble.STUCK)


def test_what_was_just_asked_is_not_stuck_and_after_minutes_it_is():
    fresh, old = open_prompt(), open_prompt(created_at=factories.ago(minutes=3))

    assert stuck(Trouble.STUCK) == [old]
    assert fresh in stuck(Trouble.SILENT)


def test_somebody_who_may_not_speak_any_more_is_named_as_the_reason(staff_client):
    factories.make_prompt()

    assert "Ada, who was asked, may not speak any more: not on the allowlist." in listed(
        staff_client
    )


def test_an_approval_says_its_operation_and_its_risk(staff_client):
    factories.make_approval(factories.make_turn(state="waiting"), summary="Delete the old build")

    html = listed(staff_client, "?kind__exact=approval")

    assert "high risk: Delete the old build" in html


# --- Which are shown, and in what order -------------------------------------------------------


def test_the_list_shows_open_ones_and_those_first_that_end_first(staff_client):
    later = open_prompt(expires_at=factories.ago(minutes=-30))
    sooner = open_prompt(expires_at=factories.ago(minutes=-1))
    open_prompt(state="answered")

    assert shown(staff_client) == [sooner, later]


def test_a_search_finds_closed_ones_as_well(staff_client):
    closed = open_prompt(state="answered")

    assert shown(staff_client, f"?q={closed.correlation}") == [closed]
    assert shown(staff_client, "?state=answered") == [closed]
    assert closed in shown(staff_client, "?state=all")


def test_the_list_is_narrowed_by_kind_platform_and_age(staff_client):
    old = open_prompt(created_at=factories.ago(minutes=11))
    approval = factories.make_approval(factories.make_turn(state="waiting"))

    assert shown(staff_client, "?kind__exact=approval") == [approval]
    assert shown(staff_client, "?age=10") == [old]
    assert len(shown(staff_client, "?platform=telegram")) == 2
    assert shown(staff_client, "?platform=console") == []


# --- Ten thousand -----------------------------------------------------------------------------


def copies(prompt: Prompt, count: int) -> None:
    """The same question many times over, each with a reply that was not taken."""
    fields = {f.attname: getattr(prompt, f.attname) for f in Prompt._meta.concrete_fields}
    rows = [
        Prompt(**fields | {"id": None, "token": f"copy{number}", "call_id": f"copy{number}"})
        for number in range(count)
    ]
    now = timezone.now()
    said = {"by": "7", "surface": "telegram", "outcome": "hinted", "detail": "no", "at": now}
    with transaction.atomic():
        made = Prompt.objects.bulk_create(rows, batch_size=500)
        Reply.objects.bulk_create([Reply(prompt=row, **said) for row in made], batch_size=500)


def queries(client, look: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        shown(client, look)
    return len(captured)


@pytest.mark.proves("U2")
@pytest.mark.parametrize(
    "look", ["", "?why=stuck", "?why=refused", "?platform=telegram&kind__exact=clarify&age=2"]
)
def test_ten_thousand_open_questions_cost_no_more_queries_than_one(staff_client, look):
    prompt = open_prompt(created_at=factories.ago(minutes=5))
    factories.make_reply(prompt)
    queries(staff_client, look)  # what is looked up once a process
    few = queries(staff_client, look)
    copies(prompt, 10_000)

    assert queries(staff_client, look) == few
    assert len(shown(staff_client, look)) == 100
