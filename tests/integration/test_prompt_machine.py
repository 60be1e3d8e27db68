"""[Q1] to [Q28] at once: whatever happens to prompts, in whatever order, these laws hold."""

import pytest
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
from gateway import execution, queue
from tests.fakes.clock import FakeClock
from tests.integration.prompt_acts import (
    Again,
    Ask,
    AtOnce,
    Deliver,
    Press,
    Restart,
    Say,
    Staff,
    TimeGoesOn,
    Upkeep,
    Work,
)
from tests.integration.prompt_laws import LAWS, Books
from tests.integration.prompt_world import PEOPLE, PLACES, World

pytestmark = pytest.mark.django_db(transaction=True)
PLANS = ["c", "o", "s", "m", "a", "x", "s", "ca", "cs", "ax", "csa", "cc", "ab", "q", "r"]
PLANS += ["x", "x", "c|a", "a|a", "r|s", "sa", "oc"]
OPTIONS = ["1", "2", "staging", "Production!", "9", "1b 2a", "1b 2: 9", "1, 2", "1: staging", "all"]
WORDS = ["on our own cluster", "", "\u200b", "skip", "yes", "no, wrong server", "what is A?"]
COMMANDS = ["/skip", "/approve", "/approve #", "/approve # session", "/deny", "/deny # wrong"]
FATES = st.sampled_from(["accepted"] * 4 + ["refused", "unknown", "lost", "later"])
clock = FakeClock()

asks = st.builds(
    Ask,
    st.sampled_from(["ada", "ada", "mel"]),
    st.sampled_from(PLACES),
    st.sampled_from(PLANS),
    FATES,
)
WHO = st.sampled_from([*["them"] * 6, *PEOPLE])
says = st.builds(
    Say,
    WHO,
    st.sampled_from([*["there"] * 6, *PLACES]),
    st.sampled_from([*OPTIONS * 2, *WORDS * 2, *COMMANDS * 2, "/stop", "/new", "please c"]),
    quotes=st.sampled_from([None, None, None, 0, 1, 2]),
    photo=st.sampled_from([False] * 7 + [True]),
    mentions=st.booleans(),
    prompt=st.integers(0, 3),
)
presses = st.builds(
    Press,
    WHO,
    st.integers(0, 6),
    view=st.integers(0, 4),
    forged=st.sampled_from([""] * 9 + ["p7.7", "elsewhere", "aa"]),
    is_open=st.sampled_from([True] * 3 + [False]),
)
agains = st.builds(Again, st.integers(0, 5), st.booleans())
delivers = st.builds(Deliver, FATES)
works = st.builds(Work, st.integers(0, 3), st.sampled_from([None] * 4 + [0, 1, 2, 3, 4]))
staffs = st.builds(
    Staff,
    st.sampled_from(["answer", "answer", "cancel", "expire", "extend", "resend", "stop"]),
    st.integers(0, 4),
    st.sampled_from(OPTIONS),
)


def any_of(**weights: int) -> st.SearchStrategy:
    """One of the acts below, each as often as its weight says (`one_of` knows no weights)."""
    names = [name for name, weight in weights.items() for _ in range(weight)]
    return st.sampled_from(names).flatmap(lambda name: ACTS[name])


ACTS = {
    "say": says,
    "press": presses,
    "ask": asks,
    "work": works,
    "deliver": delivers,
    "staff": staffs,
    "again": agains,
    "upkeep": st.builds(Upkeep),
    "restart": st.builds(Restart),
    "time": st.builds(TimeGoesOn, st.sampled_from([1, 5, 30, 60, 301, 901])),
}
racers = any_of(say=4, press=4, work=2, staff=2, again=1, upkeep=1)
ACTS["race"] = st.builds(
    AtOnce,
    st.lists(racers, min_size=2, max_size=4),
    overdue=st.sampled_from([0] * 5 + [601, 901]),
)
acts = any_of(
    say=6, press=6, ask=5, work=4, race=4, deliver=2, staff=2, again=1, upkeep=1, restart=1, time=1
)


class PromptMachine(RuleBasedStateMachine):
    """The life of prompts in one account."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(clock)

    @initialize(act=asks)
    def begin(self, act) -> None:
        self.happens(act)

    # One rule: Hypothesis leaves some rules out of each example, and here all depend on the others.
    @rule(act=acts)
    def happens(self, act) -> None:
        self.world.was_kept = isinstance(act, Upkeep)
        act.prepare(self.world)()

    @invariant()
    def laws_hold(self) -> None:
        books = Books(self.world)
        for law in LAWS:
            law(books)

    def teardown(self) -> None:
        """Left to itself, everything comes to an end: nothing is stuck, nothing is lost."""
        clock.advance(7200)
        for _ in range(60):
            self.world.deliver("accepted")
            self.world.upkeep()
            if not sum(self.world.work(here) for here in self.world.conversations()):
                break
            clock.advance(3601)
        self.laws_hold()
        assert not self.world.turns().exclude(state__in=["finished", "failed", "stopped"]).exists()
        assert not [prompt for prompt in self.world.prompts() if prompt.state == "pending"]


@pytest.fixture
def quiet(monkeypatch) -> None:
    """No worker is woken: the machine says when one works; and all live by its clock."""
    monkeypatch.setattr(queue, "send_run_turns", lambda _conversation: None)
    monkeypatch.setattr(execution, "_now", clock)


@pytest.mark.proves("Q1", "Q2", "Q4", "Q9", "Q19", "Q19b", "Q22", "Q23", "T1", "T3")
def test_whatever_happens_to_prompts_the_laws_hold(quiet, request) -> None:
    is_full = request.config.getoption("--full")
    chosen = settings(max_examples=600 if is_full else 12, stateful_step_count=40)
    run_state_machine_as_test(PromptMachine, settings=chosen)
    assert not Prompt.objects.filter(state="pending").exists()
