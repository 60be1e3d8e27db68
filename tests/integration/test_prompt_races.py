"""[Q1], case B011: two ends of a prompt at the same instant. One of them wins, and both know it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from clarify import buttons, questions, staff
from clarify.approvals import Ruling
from clarify.errors import ClarifyError, NotPending
from clarify.models import Prompt, Reply
from clarify.questions import Answerer, Effect
from clarify.risks import FULL_AUTHORITY
from delivery.models import Kind, Obligation
from gateway import turns, upkeep
from gateway.models import ToolCall, Turn
from tests.factories import make_answerer, make_approval, make_conversation, make_prompt, make_turn
from tests.factories import several_questions as two_steps
from tests.integration.racing import race

pytestmark = pytest.mark.django_db(transaction=True)
ADA = Answerer(id="7", name="Ada", surface="telegram", authority=FULL_AUTHORITY)
BOSS = Answerer(id="boss", name="Boss", surface="console", is_staff=True)
LATE = timedelta(seconds=601)
Racer = Callable[[], Any]


@pytest.fixture(params=[20, pytest.param(1000, marks=pytest.mark.full)])
def times(request) -> int:
    """How often it is tried: a few times in an ordinary run, a thousand times in a full one."""
    return request.param


@dataclass
class Match:
    """A prompt of a waiting turn, and the ways in which it can end."""

    prompt: Prompt
    turn: Turn
    clock: Any

    def text(self, words: str = "1") -> Racer:
        def say() -> Any:
            with transaction.atomic():
                return questions.answer_text(self.prompt, words, ADA, now=self.clock())

        return say

    def press(self, choice: str = "p0.1") -> Racer:
        data = buttons.button_data(self.prompt.token, choice)

        def press() -> Any:
            with transaction.atomic():
                return questions.press(data, lane=self.prompt.lane, answerer=ADA, now=self.clock())

        return press

    def console(self) -> Racer:
        """The stepper of the Control UI, which read the prompt long before."""
        words = {"answer": ("Production",)}
        return lambda: questions.answer_all(self.prompt, words, BOSS, now=self.clock())

    def skip(self) -> Racer:
        return lambda: questions.skip(self.prompt, BOSS, now=self.clock())

    def rule(self, *, approved: bool) -> Racer:
        ruling = Ruling(approved)
        return lambda: questions.rule(self.prompt, ruling, ADA, now=self.clock())

    def deadline(self) -> Racer:
        return lambda: questions.expire_overdue(now=self.clock() + LATE)

    def restart(self) -> Racer:
        """What a worker does when it comes up again after an hour."""
        return lambda: upkeep.tick(now=self.clock() + timedelta(hours=1))

    def stop(self) -> Racer:
        def stop() -> Any:
            with transaction.atomic():
                return turns.stop(self.turn.conversation, by=make_answerer(), now=self.clock())

        return stop

    def cancel(self) -> Racer:
        def cancel() -> Any:
            try:
                return staff.cancel(self.prompt, actor="boss", surface="admin", now=self.clock())
            except ClarifyError as error:
                return error

        return cancel

    def after(self) -> "After":
        return After(
            Prompt.objects.get(pk=self.prompt.pk),
            Turn.objects.get(pk=self.turn.pk),
            ToolCall.objects.get(turn=self.turn, call_id=self.prompt.call_id),
            list(Reply.objects.filter(prompt=self.prompt)),
        )


@dataclass
class After:
    """What is stored when the race is over."""

    prompt: Prompt
    turn: Turn
    call: ToolCall
    replies: list[Reply]

    def wins(self) -> int:
        return sum(reply.outcome == "resolved" for reply in self.replies)


@pytest.fixture
def match(transactional_db, clock):
    """A function that begins a new match, in a conversation of its own."""
    chat = make_conversation(chat_id="7", now=clock())

    def begin(make: Callable[..., Prompt] = make_prompt, **facts: Any) -> Match:
        Turn.objects.filter(conversation=chat).update(state="finished")
        turn = make_turn(chat, state="waiting", sender_id="7", now=clock())
        return Match(make(turn, now=clock(), **facts), turn, clock)

    return begin


def judge(match: Match, outcomes: list[Any]) -> After:
    """What holds after every race, whoever has won."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert all(isinstance(error, ClarifyError) for error in errors), errors
    after = match.after()
    effects = [getattr(outcome, "effect", None) for outcome in outcomes]
    assert after.prompt.state != "pending"
    assert effects.count(Effect.RESOLVED) == after.wins() <= 1
    assert (after.prompt.state in {"answered", "skipped"}) == (after.wins() == 1)
    for outcome in outcomes:
        if getattr(outcome, "effect", None) is Effect.TOO_LATE:
            assert outcome.say, "whoever lost is told nothing"
    if not match.prompt.is_approval or not after.prompt.permits:
        assert after.call.state == "done"
        assert after.call.result == {"value": after.prompt.tool_result}
    shown = after.prompt.obligation
    closings = Obligation.objects.filter(kind=Kind.RETIRE, edits=shown).count()
    assert shown is not None
    assert closings == (shown.state != "abandoned"), "it is closed where it is shown, once"
    return after


def resumes(match: Match) -> int:
    """How often the turn is taken up again, by workers who all reach for it at once."""
    reach = [
        lambda n=n: turns.claim(
            match.turn.conversation_id, f"host/{n}/1", now=match.clock(), capacity=99
        )
        for n in range(2)
    ]
    return sum(turn is not None for turn in race(*reach))


NO_WIN: dict[str, Callable[[Any], bool]] = {
    "deadline": lambda closed: closed == 0,
    "cancel": lambda refused: isinstance(refused, NotPending),
}


@pytest.mark.proves("Q1", "Q2")
@pytest.mark.parametrize("other", NO_WIN)
def test_an_answer_and_another_end_at_the_same_instant(match, times, other) -> None:
    for _ in range(times):
        one = match()
        outcomes = race(one.text(), getattr(one, other)())
        after = judge(one, outcomes)
        told = after.call.result["value"]["user_response"]
        has_won = outcomes[0].effect is Effect.RESOLVED
        assert (told == "Staging") == has_won
        assert has_won == NO_WIN[other](outcomes[1]), "both or neither think that they closed it"
        assert resumes(one) == 1


@pytest.mark.proves("Q1", "Q2")
def test_an_answer_and_the_sweep_after_a_restart_at_the_same_instant(match, times) -> None:
    for _ in range(times):
        one = match()
        outcomes = race(one.text(), one.restart())
        after = judge(one, outcomes)
        assert (after.prompt.state == "answered") == (outcomes[0].effect is Effect.RESOLVED)
        assert resumes(one) == 1


@pytest.mark.proves("Q1", "Q4")
def test_an_answer_and_a_stop_at_the_same_instant(match, times) -> None:
    for _ in range(times):
        one = match()
        outcomes = race(one.text(), one.stop())
        after = judge(one, outcomes)
        assert [turn.pk for turn in outcomes[1]] == [one.turn.pk]
        assert after.turn.state == "stopped"
        assert resumes(one) == 0


@pytest.mark.proves("Q1")
@pytest.mark.parametrize("other", ["text", "console", "skip"])
def test_two_answers_at_the_same_instant(match, times, other) -> None:
    for _ in range(times):
        one = match()
        second = one.text("2") if other == "text" else getattr(one, other)()
        outcomes = race(one.text("1"), second)
        after = judge(one, outcomes)
        assert {outcome.effect for outcome in outcomes} == {Effect.RESOLVED, Effect.TOO_LATE}
        won = outcomes[0].effect is Effect.RESOLVED
        assert (after.prompt.answers == {"answer": ["Staging"]}) == won
        assert resumes(one) == 1


@pytest.mark.proves("Q1", "Q14")
def test_a_press_and_words_at_the_same_instant(match, times) -> None:
    for _ in range(times):
        one = match()
        outcomes = race(one.press("p0.1"), one.text("1"))
        judge(one, outcomes)
        assert {outcome.effect for outcome in outcomes} == {Effect.RESOLVED, Effect.TOO_LATE}
        assert resumes(one) == 1


@pytest.mark.proves("Q1", "Q19b")
def test_approving_and_denying_at_the_same_instant(match, times) -> None:
    for _ in range(times):
        one = match(make_approval)
        outcomes = race(one.rule(approved=True), one.rule(approved=False))
        after = judge(one, outcomes)
        assert after.prompt.permits == (outcomes[0].effect is Effect.RESOLVED)
        assert after.call.state == ("permitted" if after.prompt.permits else "done")
        assert resumes(one) == 1


@pytest.mark.proves("Q1", "Q13")
def test_half_an_answer_and_the_deadline_at_the_same_instant(match, times) -> None:
    """What was kept is told to the agent, and what was shown meanwhile is closed as well."""
    for _ in range(times):
        one = match(question_set=two_steps())
        outcomes = race(
            one.text("2"), lambda c=one.clock: questions.expire_overdue(now=c() + 2 * LATE)
        )
        after = judge(one, outcomes)
        assert after.prompt.state == "expired"
        kept = outcomes[0].effect is Effect.KEPT
        assert after.prompt.answers == ({"place": ["Production"]} if kept else {})
        assert ("answers" in after.call.result["value"]) == kept
        assert resumes(one) == 1
