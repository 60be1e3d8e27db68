"""[T1], [T2], [A8] at once: whatever happens to turns, in whatever order, these laws hold."""

from collections import Counter

import pytest
from django.db.models import Count
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from clarify.models import Prompt
from delivery.models import Kind
from gateway import queue
from gateway.models import InboundEvent, TranscriptEntry
from gateway.models.turns import ACTIVE_STATES, OPEN_STATES
from tests.fakes.clock import FakeClock
from tests.integration.turn_world import CAPACITY, TurnWorld

pytestmark = pytest.mark.django_db(transaction=True)
clock = FakeClock()
WHO = st.sampled_from(["ada", "ada", "ada", "mel"])
WHERE = st.sampled_from(["dm", "dm", "dm", "thread"])
MODES = st.sampled_from(["queue", "collect", "steer", "steer", "interrupt"])
COMMANDS = st.sampled_from(["/stop", "/new", "/status", "/resume 1"])
PICK = st.integers(0, 9)
ACTS = {
    "say": st.tuples(
        st.just("say"),
        WHO,
        WHERE,
        st.sampled_from(["", "", "/queue ", "/steer ", "/steer "]),
        st.sampled_from([False] * 7 + [True]),
    ),
    "command": st.tuples(st.just("command"), WHO, WHERE, COMMANDS),
    "mode": st.tuples(st.just("wants"), MODES),
    "come": st.tuples(st.just("come"), PICK),
    "work": st.tuples(
        st.just("work"),
        PICK,
        st.sampled_from(["step", "step", "step", "step", "finish", "ask", "die"]),
    ),
    "answer": st.tuples(st.just("answer"), PICK),
    "out": st.tuples(st.just("shut_out"), WHO),
    "in": st.tuples(st.just("let_in"), WHO),
    "time": st.tuples(st.just("time"), st.sampled_from([0.5, 2, 60, 400])),
}


def any_of(**weights: int) -> st.SearchStrategy:
    """One of the acts above, each as often as its weight says (`one_of` knows no weights)."""
    names = [name for name, weight in weights.items() for _ in range(weight)]
    return st.sampled_from(names).flatmap(lambda name: ACTS[name])


acts = any_of(say=10, come=8, work=10, answer=3, time=3, mode=2, **{"in": 2}, command=1, out=1)


class TurnMachine(RuleBasedStateMachine):
    """The life of turns in one account."""

    def __init__(self) -> None:
        super().__init__()
        self.world = TurnWorld(clock)

    @initialize(mode=MODES)
    def begin(self, mode) -> None:
        self.world.wants(mode)

    # One rule: Hypothesis leaves some rules out of each example, and here all depend on the others.
    @rule(act=acts)
    def happens(self, act) -> None:
        world, (name, *facts) = self.world, act
        match name, *facts:
            case "come", pick:
                here = world.conversations()
                if here:
                    world.come(here[pick % len(here)])
            case "work", pick, verb:
                if world.workers:
                    getattr(world, verb)(world.workers[pick % len(world.workers)])
            case "answer", pick:
                pending = [one for one in world.prompts() if one.state == "pending"]
                if pending:
                    world.answer(pending[pick % len(pending)])
            case "time", seconds:
                clock.advance(seconds)
                world.keep()
            case _:
                getattr(world, name)(*facts)

    # --- laws

    @invariant()
    def one_turn_of_a_conversation_is_active(self) -> None:
        active = self.world.turns().filter(state__in=ACTIVE_STATES)
        most = active.values("conversation").annotate(n=Count("pk")).order_by("-n").first()
        assert most is None or most["n"] == 1
        assert active.filter(state="running").count() <= CAPACITY

    @invariant()
    def turns_begin_in_order(self) -> None:
        assert self.world.claimed_late == []

    def nothing_is_done_twice(self) -> None:
        assert all(times == 1 for times in self.world.ended.values())
        finals = self.world.owed().filter(kind=Kind.FINAL, content="Done.")
        assert all(times == 1 for times in Counter(finals.values_list("correlation")).values())
        said = "\n".join(self._transcripts())
        assert [word for word in self.world.said if said.count(word) > 1] == []

    def whoever_waits_for_room_is_told_once(self) -> None:
        told = self.world.owed().filter(content__startswith="⏳ All")
        assert all(times == 1 for times in Counter(told.values_list("correlation")).values())

    def nothing_that_was_taken_in_is_lost(self) -> None:
        """Each word stands in the prompt of exactly one turn, the one that its event names."""
        events = InboundEvent.objects.filter(account=self.world.account, turn__isnull=False)
        named = list(events.values_list("text", "turn_id"))
        prompts = dict(self.world.turns().values_list("pk", "prompt"))
        for word in self.world.said:
            turns = [turn_id for text, turn_id in named if word in text]
            assert [pk for pk, prompt in prompts.items() if word in prompt] == turns

    def what_joined_another_turn_stands_in_its_history(self) -> None:
        for turn in self.world.turns().filter(state="joined"):
            entries = TranscriptEntry.objects.filter(turn=turn.joined_id)
            assert turn.prompt[:20] in str(list(entries.values_list("message", flat=True)))

    def _transcripts(self) -> list[str]:
        rows = TranscriptEntry.objects.filter(turn__in=self.world.turns())
        return [str(message) for message in rows.values_list("message", flat=True)]

    def teardown(self) -> None:
        """Left to itself, everything comes to an end."""
        for _ in range(200):
            clock.advance(5)
            self.world.keep()
            for worker in list(self.world.workers):
                self.world.finish(worker)
            for prompt in Prompt.objects.filter(state="pending"):
                if prompt in self.world.prompts():
                    self.world.answer(prompt)
            if not self.world.turns().filter(state__in=OPEN_STATES).exists():
                break
            for here in self.world.conversations():
                self.world.come(here)
        assert not self.world.turns().filter(state__in=OPEN_STATES).exists()
        self.nothing_is_done_twice()
        self.whoever_waits_for_room_is_told_once()
        self.nothing_that_was_taken_in_is_lost()
        self.what_joined_another_turn_stands_in_its_history()
        finished = self.world.turns().filter(state="finished")
        stored = "\n".join(self._transcripts())
        assert [turn.pk for turn in finished if turn.prompt[:20] not in stored] == []


@pytest.fixture
def quiet(monkeypatch) -> None:
    """No worker is woken: the machine says when one comes."""
    monkeypatch.setattr(queue, "send_run_turns", lambda _conversation: None)
    monkeypatch.setattr(queue, "send_run_turns_later", lambda _conversation, _after: None)


@pytest.mark.proves("T1", "T2", "T9", "A8", "S6")
def test_whatever_happens_to_turns_the_laws_hold(quiet, request) -> None:
    is_full = request.config.getoption("--full")
    chosen = settings(max_examples=300 if is_full else 10, stateful_step_count=50)
    run_state_machine_as_test(TurnMachine, settings=chosen)
