"""What the machine of `test_prompt_machine` found, each as the shortest story that shows it."""

from datetime import timedelta

import pytest
from django.db import transaction

from clarify import questions, stepping
from clarify.approvals import Ruling
from clarify.models import Prompt
from clarify.questions import Answerer, Effect, closing
from clarify.risks import FULL_AUTHORITY
from clarify.states import Event
from delivery import ledger
from delivery.errors import OutcomeUnknown
from delivery.models import Kind, Obligation
from gateway.models import ToolCall
from tests.factories import make_approval, make_prompt, make_turn, settle, several_questions
from tests.integration.door import PHOTO, Door, fresh, said

pytestmark = pytest.mark.django_db
ADA = Answerer(id="7", name="Ada", surface="telegram", authority=FULL_AUTHORITY)
BOSS = Answerer(id="boss", name="Boss", surface="console", is_staff=True)


@pytest.fixture
def door(db, clock) -> Door:
    return Door(clock)


def answer(prompt: Prompt, text: str, door: Door, who: Answerer = ADA):
    with transaction.atomic():
        return questions.answer_text(prompt, text, who, now=door.clock())


def message_of(prompt: Prompt) -> str:
    return ledger.message_ids(prompt.obligation_id)[0]


def asked_to_approve(door: Door) -> Prompt:
    turn = door.say("Clean up, please").turn
    type(turn).objects.filter(pk=turn.pk).update(state="waiting")
    turn.refresh_from_db()
    return make_approval(turn, now=door.clock())


@pytest.mark.proves("Q25")
def test_a_photo_that_quotes_an_approval_is_queued_and_the_person_is_reminded(door) -> None:
    prompt = asked_to_approve(door)

    row = door.say("like this", attachments=(PHOTO,), reply_to=message_of(prompt))

    assert row.decision == "turn"
    assert "Delete something" in said()[-1]
    assert fresh(prompt).state == "pending"


@pytest.fixture
def overtaken(door, monkeypatch) -> Prompt:
    """A question that somebody else answers just after the next message was found to be for it."""
    prompt = door.asked()
    look = questions.open_to

    def open_to(*args, **facts):
        found = look(*args, **facts)
        for one in found:
            answer(one, "1", door, BOSS)
        return found

    monkeypatch.setattr(questions, "open_to", open_to)
    return prompt


@pytest.mark.proves("Q1", "Q4")
def test_own_words_that_came_too_late_are_told_so_and_become_a_message(door, overtaken) -> None:
    row = door.say("on a cluster of our own")

    assert (row.decision, row.turn.prompt) == ("turn", "on a cluster of our own")
    assert any("Staging" in words for words in said())


@pytest.mark.proves("Q1", "Q20")
def test_a_number_that_came_too_late_is_told_so_and_begins_nothing(door, overtaken) -> None:
    assert door.say("2").decision == "closed"
    assert "Staging" in said()[-1]


@pytest.mark.proves("Q1")
def test_a_skip_that_came_too_late_is_told_so(door, overtaken) -> None:
    door.say("/skip")

    assert fresh(overtaken).state == "answered"
    assert "Staging" in said()[-1]


@pytest.mark.proves("Q5")
def test_a_prompt_is_closed_as_it_is_now_and_not_as_it_was_read(door) -> None:
    prompt = door.asked(question_set=several_questions())
    read_before = Prompt.objects.select_related("obligation").get(pk=prompt.pk)
    answer(prompt, "2", door)
    settle(fresh(prompt).obligation)

    with transaction.atomic():
        assert questions.resolve(read_before, Event.EXPIRE, now=door.clock(), reason="expired")

    assert Obligation.objects.filter(kind=Kind.RETIRE, edits=prompt.obligation).count() == 1
    result = ToolCall.objects.get(call_id=prompt.call_id).result["value"]
    assert result["answers"] == {"answers": {"place": ["Production"]}}


def test_a_deadline_that_is_moved_while_it_passes_holds(door, monkeypatch) -> None:
    prompt = door.asked()
    hold, now = closing.hold, door.clock.advance(601)

    def hold_too_late(conversation_key: str) -> None:
        hold(conversation_key)
        Prompt.objects.update(expires_at=now + timedelta(hours=1))

    monkeypatch.setattr(closing, "hold", hold_too_late)

    assert questions.expire_overdue(now=now) == 0
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q13", "Q14")
def test_half_an_answer_with_a_hint_still_moves_the_buttons_on(door) -> None:
    prompt = door.asked(question_set=several_questions())

    outcome = answer(prompt, "1b 2: 9", door)

    assert outcome.effect is Effect.KEPT
    assert outcome.say
    shown = fresh(prompt).obligation.native_controls
    assert shown == stepping.controls(prompt.question_set, prompt.so_far, prompt.token)


@pytest.mark.proves("Q22")
def test_half_an_answer_by_staff_arms_no_question_that_nobody_saw(door) -> None:
    prompt = door.asked(question_set=several_questions(), delivered=False)
    first = prompt.obligation

    assert answer(prompt, "2", door, BOSS).effect is Effect.KEPT

    assert fresh(first).state == "abandoned"
    assert fresh(prompt).obligation.state == "pending"
    assert questions.pending_for(prompt.conversation_key) == []


@pytest.mark.proves("Q5")
def test_a_message_that_may_have_arrived_keeps_no_buttons_when_it_is_sent_again(door) -> None:
    prompt = door.asked(delivered=False)
    first = prompt.obligation
    (work,) = ledger.claim_due(door.fence, "telegram", now=door.clock())
    facts = {"operation": "send", "now": door.clock()}
    ledger.abandon(work, work.parts[0], OutcomeUnknown(), reason="unknown", **facts)

    questions.resend(prompt, now=door.clock())

    assert Obligation.objects.filter(kind=Kind.RETIRE, edits=first).exists()


@pytest.mark.proves("Q19b", "Q2")
@pytest.mark.parametrize("approved", [True, False])
def test_an_approval_past_its_deadline_counts_not_though_nobody_has_swept(door, approved) -> None:
    prompt = asked_to_approve(door)
    door.clock.advance(600)

    outcome = questions.rule(prompt, Ruling(approved), ADA, now=door.clock())

    assert outcome.effect is Effect.TOO_LATE
    assert fresh(prompt).state == "expired"
    assert ToolCall.objects.get(call_id=prompt.call_id).state == "done"


@pytest.mark.proves("Q23")
def test_a_question_that_was_passed_over_is_shown_when_it_gets_more_time(door) -> None:
    turn = make_turn(state="waiting", sender_id="7", now=door.clock())
    one = make_prompt(turn, now=door.clock())
    two = make_prompt(turn, now=door.clock(), expires_at=door.clock() + timedelta(seconds=60))
    door.clock.advance(61)
    with transaction.atomic():
        questions.resolve(one, Event.EXPIRE, now=door.clock())
    assert fresh(two).obligation is None

    questions.extend(two, by=timedelta(minutes=5), now=door.clock())

    assert fresh(two).obligation is not None
