"""Who closed a question: named to staff and in the audit log, not in the chat."""

import pytest
from django.utils import timezone

from clarify import questions, staff
from clarify.models import Prompt
from delivery.models import Obligation
from gateway import staff as desk
from gateway.console import actions, entries
from gateway.console.viewers import viewer_of
from gateway.models import AuditEvent
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss():
    return viewer_of(factories.make_staff())


def in_the_chat(prompt: Prompt) -> str:
    """What became of the message that shows the question."""
    return Obligation.objects.get(edits=prompt.obligation, kind="retire").content


def test_who_expired_a_question_is_staff_in_the_chat_and_a_name_in_the_audit_log():
    prompt = factories.make_prompt()

    staff.expire(prompt, actor="root (command line)", surface="command line", now=timezone.now())

    assert in_the_chat(prompt).endswith("*Expired by staff*")
    assert AuditEvent.objects.get().actor == "root (command line)"
    assert Prompt.objects.get().resolved_by == "root (command line)"


def test_an_answer_on_behalf_is_one_of_staff_to_whoever_comes_late():
    prompt = factories.make_prompt()

    staff.answer(prompt, "1", actor="boss", surface="admin", now=timezone.now())

    assert in_the_chat(prompt).endswith("*Answered by staff*")
    closed = Prompt.objects.get()
    assert questions.closed_words(closed) == "Already answered: Staging by staff"


def test_a_turn_that_staff_stop_names_nobody_in_the_chat():
    prompt = factories.make_prompt()
    turn = factories.Turn.objects.get()

    desk.stop_turn(turn, actor="boss", now=timezone.now())

    assert in_the_chat(prompt).endswith("*Cancelled by staff*")
    assert AuditEvent.objects.get().actor == "boss"


def test_what_a_person_does_in_their_own_chat_carries_their_name():
    prompt = factories.make_prompt()
    person = factories.make_answerer(id=prompt.asker_id, name="Ada")

    questions.answer_text(prompt, "1", person, now=timezone.now())

    assert in_the_chat(prompt).endswith("*Answered by Ada*")


def test_ones_own_stop_in_the_control_ui_carries_ones_own_name(boss):
    chat = actions.first_chat(boss, now=timezone.now())
    turn = factories.make_turn(chat, state="waiting", sender_id=boss.person_id)
    prompt = factories.make_prompt(turn)

    actions.say(boss, chat.pk, "client-0001", "/stop", now=timezone.now())

    prompt.refresh_from_db()
    assert (prompt.state, prompt.closed_by) == ("cancelled", "boss")
    assert entries.prompt(prompt, boss)["by"] == "boss"


def test_staff_read_each_others_names_in_the_control_ui_and_others_do_not(boss):
    prompt = factories.make_prompt()
    actions.skip(boss, prompt.pk, now=timezone.now())
    prompt.refresh_from_db()
    guest = viewer_of(factories.make_staff("guest", is_staff=False, is_superuser=False))

    assert entries.prompt(prompt, boss)["by"] == "boss"
    assert (entries.prompt(prompt, guest)["by"], entries.prompt(prompt, guest)["on"]) == (
        "staff",
        "",
    )
