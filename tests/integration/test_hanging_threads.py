"""Threads that hang on messages: who is meant there, and where an answer counts ([Q27])."""

import pytest

from clarify.models import Prompt
from clarify.schema import QuestionSet, normalise_ask_user
from clarify.states import State
from delivery.models import Kind, Obligation
from gateway.deeds import AckPress
from gateway.inbound import Verdict
from gateway.messages import ButtonPress, ChatType, InboundMessage, Source
from gateway.models import Decision
from gateway.routing import decide
from tests.factories import make_account, make_allow_entry, make_prompt, make_turn

pytestmark = pytest.mark.django_db
ADA, DM, CHANNEL, ROOT = "U0ADA0001", "D0ADA0001", "C0GENERAL", "1700.000100"


class Workspace:
    """A workspace in which Ada talks to the bot."""

    def __init__(self, clock) -> None:
        self.clock, self.number = clock, 0
        make_account("slack", platform="slack")
        make_allow_entry(platform="slack", user_id=ADA)

    def source(self, thread: str, chat: str) -> Source:
        return Source(
            platform="slack",
            account="slack",
            scope_id="T1",
            chat_type=ChatType.DM if chat == DM else ChatType.GROUP,
            chat_id=chat,
            thread_id=thread,
            user_id=ADA,
            user_name="Ada",
            message_id=f"1800.{self.number:06d}",
        )

    def says(self, text: str, *, thread: str = "", chat: str = DM, **fields) -> Verdict:
        self.number += 1
        event = InboundMessage(
            source=self.source(thread, chat),
            event_id=f"e{self.number}",
            text=text,
            sent_at=self.clock(),
            **fields,
        )
        return decide(event, self.clock())

    def presses(self, prompt: Prompt, choice: str, chosen: tuple[str, ...] | None = None):
        self.number += 1
        place = prompt.destination
        event = ButtonPress(
            source=self.source(place.thread_id, place.chat_id),
            event_id=f"e{self.number}",
            interaction_id="1.2.3 ",
            data=f"q:{prompt.token}:{choice}",
            chosen=chosen,
        )
        return decide(event, self.clock())

    def asks(self, thread: str, chat: str = DM, **fields) -> Prompt:
        """A question put to Ada below one of her messages, as the agent puts it."""
        verdict = self.says("go", thread=thread, chat=chat, mentions_bot=True)
        turn = make_turn(verdict.conversation, state="waiting", sender_id=ADA, now=self.clock())
        return make_prompt(turn, now=self.clock(), **fields)


def several() -> QuestionSet:
    """One question of which any number of options may be chosen."""
    options = [{"label": label} for label in ("Cheese", "Olives", "Chili")]
    asked = {"id": "on", "header": "On it", "question": "What?", "options": options}
    return normalise_ask_user([asked | {"multiSelect": True}])


@pytest.fixture
def workspace(clock) -> Workspace:
    return Workspace(clock)


@pytest.mark.proves("Q27")
def test_a_word_at_the_top_of_a_direct_message_answers_what_was_asked_in_a_thread_of_it(workspace):
    prompt = workspace.asks(ROOT)
    verdict = workspace.says("2")

    assert (verdict.decision, verdict.prompt.pk) == (Decision.ANSWER, prompt.pk)


@pytest.mark.proves("Q27")
def test_a_word_below_a_question_answers_it(workspace):
    prompt = workspace.asks("")
    prompt.obligation.parts.update(message_id="1750.000001")
    verdict = workspace.says("2", thread="1750.000001", reply_to="1750.000001")

    assert (verdict.decision, verdict.prompt.pk) == (Decision.ANSWER, prompt.pk)


@pytest.mark.proves("Q27")
def test_a_word_elsewhere_in_a_channel_answers_nothing(workspace):
    workspace.asks(ROOT, CHANNEL)

    assert workspace.says("2", chat=CHANNEL).decision is Decision.IGNORED
    assert Prompt.objects.get().state == State.PENDING


def test_another_persons_question_in_the_same_chat_is_not_theirs(workspace):
    prompt = workspace.asks(ROOT)
    Prompt.objects.filter(pk=prompt.pk).update(asker_id="U0BOB0001")

    assert workspace.says("2").decision is Decision.TURN


def test_in_a_thread_where_we_were_asked_no_mention_is_needed(workspace):
    begun = workspace.says("hello", thread=ROOT, chat=CHANNEL, mentions_bot=True)
    further = workspace.says("and then?", thread=ROOT, chat=CHANNEL)
    elsewhere = workspace.says("and then?", thread="1700.000999", chat=CHANNEL)

    assert (begun.decision, further.decision) == (Decision.TURN, Decision.TURN)
    assert elsewhere.decision is Decision.IGNORED


@pytest.mark.proves("Q14")
def test_boxes_that_are_ticked_are_submitted_at_once(workspace):
    prompt = workspace.asks("", question_set=several())
    token = prompt.token
    chosen = (f"q:{token}:p0.0", f"q:{token}:p0.1", "q:fedcba9876543210:p0.0", "nonsense")
    verdict = workspace.presses(prompt, "k0.0", chosen)

    prompt.refresh_from_db()
    assert verdict.decision is Decision.ANSWER
    assert prompt.state == State.ANSWERED
    (values,) = prompt.given.values()
    assert list(values) == list(prompt.question_set.questions[0].labels[:2])


@pytest.mark.proves("Q14")
def test_submitting_no_box_is_told_and_changes_nothing(workspace):
    prompt = workspace.asks("", question_set=several())
    verdict = workspace.presses(prompt, "k0.0", ())

    (ack,) = [deed for deed in verdict.deeds if isinstance(deed, AckPress)]
    assert ack.text
    assert not ack.is_echo
    assert Prompt.objects.get().state == State.PENDING


@pytest.mark.proves("Q14")
def test_other_opens_a_form_that_asks_the_question_and_owes_no_message(workspace):
    prompt = workspace.asks("")
    owed = prompt.destination.lane
    verdict = workspace.presses(prompt, "o0.0")

    (ack,) = [deed for deed in verdict.deeds if isinstance(deed, AckPress)]
    assert ack.form is not None
    assert ack.form.label == prompt.question_set.questions[0].text
    assert not Obligation.objects.filter(lane=owed, kind=Kind.CONTROL).exists()
