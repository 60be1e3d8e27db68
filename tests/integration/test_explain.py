"""`manage.py explain`: any id of a message tells its whole life."""

import json

import pytest
from django.core.management import CommandError
from django.utils import timezone

from delivery.models import Kind, Preview
from gateway import intake
from gateway.messages import ChatType, InboundMessage, Source
from gateway.models import AccountState, Turn
from tests import factories
from tests.integration.commanding import run

pytestmark = pytest.mark.django_db


def explain(name: str) -> dict:
    return json.loads(run("explain", name, "--json"))


def says(explanation: dict) -> str:
    return "\n".join(entry["says"] for entry in explanation["entries"])


@pytest.fixture
def waiting():
    return factories.make_stuck_question()


@pytest.mark.proves("Q21")
@pytest.mark.parametrize(
    "name",
    [
        "{event.event_id}",
        "event:{event.pk}",
        "message:41",
        "41",
        "turn:{turn.pk}",
        "prompt:{prompt.pk}",
        "{prompt.obligation.delivery_id}",
        "preview:t{turn.pk}.0",
    ],
)
def test_any_id_of_a_message_tells_the_same_life(waiting, name):
    event, turn, prompt = waiting

    explanation = explain(name.format(event=event, turn=turn, prompt=prompt))

    assert explanation["held_by"]["layer"] == "question"
    assert "“7” from [77] on telegram was not taken as an answer" in says(explanation)


def test_the_life_is_told_in_order_of_time(waiting):
    times = [entry["at"] for entry in explain(f"turn:{waiting[1].pk}")["entries"]]

    assert times == sorted(times)
    assert len(times) >= 8


def test_our_own_message_is_found_by_its_platform_id(waiting):
    prompt = waiting[2]
    ours = prompt.obligation.parts.get().message_id

    assert explain(ours)["held_by"]["layer"] == "question"


def test_a_question_is_found_by_its_platform_id_also_when_its_message_was_closed(waiting):
    _, turn, prompt = waiting
    ours = prompt.obligation.parts.get().message_id
    closing = factories.make_obligation(turn.conversation, kind=Kind.RETIRE)
    closing.parts.update(message_id=ours)

    assert prompt.obligation.delivery_id[:12] in explain(ours)["subject"]


def test_a_preview_is_found_by_its_platform_id():
    turn = factories.make_turn(state="running")
    address = turn.conversation.address.as_dict()
    Preview.objects.create(
        key=turn.preview_key,
        account="telegram",
        address=address,
        message_ids=["5150"],
        created_at=turn.created_at,
    )

    assert f"turn {turn.pk}" in explain("5150")["subject"]


def test_a_platform_id_found_in_two_chats_lists_both():
    first, second = (factories.make_inbound(message_id="9") for _ in range(2))

    with pytest.raises(CommandError, match="names 2 things") as refusal:
        run("explain", "9")

    assert f"event:{first.pk}" in str(refusal.value)
    assert f"event:{second.pk}" in str(refusal.value)


def test_an_unknown_id_says_what_ids_there_are():
    with pytest.raises(CommandError, match=r"Nothing here is called 'nonsense'.*prompt:3"):
        run("explain", "nonsense")


def test_a_denied_person_is_held_by_access():
    factories.make_inbound(message_id="55", decision="denied", reason="not on the allowlist")

    held = explain("55")["held_by"]

    assert held["layer"] == "access"
    assert "manage.py allow add telegram" in held["todo"]


def test_a_turn_without_a_worker_is_held_by_the_turn_layer():
    turn = factories.make_turn()

    held = explain(f"turn:{turn.pk}")["held_by"]

    assert (held["layer"], "No worker" in held["says"]) == ("turn", True)


def test_a_queued_turn_names_the_one_before_it(waiting):
    behind = factories.make_turn(waiting[1].conversation)

    held = explain(f"turn:{behind.pk}")["held_by"]

    assert held["says"] == f"It waits behind turn:{waiting[1].pk}; turns go in order."


def test_an_answer_that_cannot_leave_is_held_by_the_platform():
    from delivery.models import Lease

    turn = factories.make_turn(state="finished", finished_at=factories.ago(seconds=9))
    account = factories.make_account("telegram", state="degraded", last_error="no route to host")
    Lease.objects.create(
        name=account.lease_name,
        owner="elsewhere/1/1",
        epoch=1,
        expires_at=factories.ago(minutes=-1),
    )
    factories.make_obligation(turn=turn)

    held = explain(f"turn:{turn.pk}")["held_by"]

    assert (held["layer"], "no route to host" in held["says"]) == ("platform", True)


def test_an_answer_given_up_is_held_by_delivery_and_says_how_to_send_it_again():
    turn = factories.make_turn(state="finished", finished_at=factories.ago(seconds=9))
    owed = factories.make_obligation(turn=turn, state="abandoned", reason="too often unknown")

    held = explain(f"turn:{turn.pk}")["held_by"]

    assert held["layer"] == "delivery"
    assert held["todo"].endswith(f"manage.py ledger retry {owed.delivery_id[:12]}")


def test_somebody_elses_message_says_that_another_person_was_asked(waiting):
    prompt = waiting[2]
    factories.make_inbound(
        chat_id="77",
        sender_id="99",
        text="Staging",
        decision="turn",
        received_at=factories.ago(minutes=1),
    )

    assert "only Ada was asked" in says(explain(f"prompt:{prompt.pk}"))


def test_explain_reads_well_at_a_terminal(waiting):
    text = run("explain", "41")

    assert "Held by: question" in text
    assert f"What to do: Answer for them: manage.py prompts answer {waiting[2].pk}" in text


def message(text: str, number: int, conversation, **changes) -> InboundMessage:
    source = Source(
        platform="telegram",
        account="telegram",
        chat_type=ChatType.DM,
        chat_id=conversation.chat_id,
        user_id=conversation.chat_id,
        user_name="Ada",
        message_id=str(number),
    )
    return InboundMessage(
        source=source, event_id=f"e{number}", text=text, sent_at=timezone.now(), **changes
    )


@pytest.mark.proves("Q21")
def test_what_really_came_in_is_told_with_what_became_of_it():
    conversation = factories.make_conversation(chat_id="77")
    factories.make_allow_entry(user_id="77")
    factories.make_account("telegram", state=AccountState.READY)
    intake.take("telegram", message("Deploy it", 41, conversation), now=factories.ago(minutes=3))
    Turn.objects.update(state="waiting")
    prompt = factories.make_prompt(Turn.objects.get(), now=factories.ago(minutes=2))

    intake.take("telegram", message("9", 43, conversation), now=factories.ago(minutes=1))

    told = explain("43")
    assert told["held_by"]["layer"] == "question"
    assert "There is no option 9" in told["held_by"]["says"]
    assert f"it was about a question, but did not answer it, question {prompt.pk}" in says(told)
    assert "the sender may speak at present: on the allowlist" in says(told)
    assert "message 41 (event e41) from Ada [77] in telegram dm 77: “Deploy it”" in says(told)


def test_a_refused_stranger_is_told_with_the_notice_they_were_sent():
    conversation = factories.make_conversation(chat_id="666")

    intake.take("telegram", message("Let me in", 44, conversation), now=timezone.now())

    told = explain("44")
    assert told["held_by"]["todo"] == "To allow them: manage.py allow add telegram 666"
    assert "the notice message" in says(told)
