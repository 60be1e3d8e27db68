"""A turn carried out: the agent on one side, the database on the other, and death in between."""

import threading
from collections.abc import Callable

import pytest
from django.db import connections, transaction
from django.utils import timezone

from clarify import questions
from clarify.models import Prompt
from clarify.questions import Answerer
from delivery.models import Obligation
from gateway import execution, sessions, turns
from gateway.agents import history
from gateway.agents.loop import EdgeLoop
from gateway.agents.requests import ModelConfig
from gateway.agents.runtime import AgentRuntime
from gateway.models import Note, ToolCall, TranscriptEntry, Turn
from gateway.workbench import workbench
from tests.factories import make_answerer, make_conversation, settle
from tests.fakes.clock import FakeClock
from tests.integration.working import say, work
from tests.peers.model import ModelPeer, Reply, in_turn
from tests.peers.model import ToolCall as Call
from tests.services import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
ADA = Answerer(id="7", name="Ada", surface="telegram")


class WorkerDied(BaseException):
    """Raised by a test at the instant its pretended worker is killed."""


@pytest.fixture(scope="module")
def edge():
    loop = EdgeLoop()
    yield loop
    loop.stop()


@pytest.fixture
def runtime(edge) -> AgentRuntime:
    async def never_wait(_seconds: float) -> None:
        """A waiter that does not."""

    return AgentRuntime(ModelConfig(name="demo"), edge=edge, wait=never_wait)


@pytest.fixture
def model(edge):
    """A model that says what a test wants, and the runtime that asks it."""
    with ModelPeer() as peer:
        config = ModelConfig(name="peer", base_url=peer.url, api_key="sk-test")
        runtime = AgentRuntime(config, edge=edge)
        yield peer, runtime
        runtime.disconnect()


@pytest.fixture
def chat(transactional_db):
    return make_conversation(chat_id="7")


def answer(text: str, prompt: Prompt | None = None) -> None:
    prompt = prompt or Prompt.objects.get(state="pending")
    settle(prompt.obligation)
    with transaction.atomic():
        questions.answer_text(prompt, text, ADA, now=timezone.now())


def owed() -> list[tuple[str, str]]:
    return list(Obligation.objects.order_by("pk").values_list("kind", "content"))


def is_valid(turn) -> bool:
    """Whether the next turn of the session has a history that any model takes."""
    stored, _ = sessions.history(turn)
    closed = history.close_off(stored, "")
    kinds = [message["kind"] for message in closed]
    return kinds == ["request", "response"] * (len(kinds) // 2)


@pytest.mark.proves("S4")
def test_an_answer_is_stored_and_owed(chat, runtime) -> None:
    say(chat, "hello there")
    turn = work(chat, runtime)
    ((kind, content),) = owed()
    assert (turn.state, kind) == ("finished", "final")
    assert content.startswith("You said: hello there")
    assert turn.usage["requests"] == 1
    assert is_valid(turn)


def test_the_next_turn_knows_what_was_said(chat, model) -> None:
    peer, runtime = model
    say(chat, "My name is Ada")
    say(chat, "Who am I?")
    work(chat, runtime)
    work(chat, runtime)
    assert "My name is Ada" in str(peer.requests[-1].body)
    assert is_valid(Turn.objects.last())


@pytest.mark.proves("Q0")
def test_a_question_suspends_the_turn_and_its_answer_goes_to_the_same_run(chat, runtime) -> None:
    say(chat, "clarify")
    turn = work(chat, runtime)
    assert turn.state == "waiting"
    assert [kind for kind, _ in owed()] == ["final", "prompt"]
    answer("2")
    turn = work(chat, runtime, "host/2/2")
    assert turn.state == "finished"
    assert "Production" in owed()[-1][1]
    assert turn.usage["requests"] == 2
    assert ToolCall.objects.get().result["value"]["user_response"] == "Production"
    assert is_valid(turn)


def test_three_questions_are_answered_at_once(chat, runtime) -> None:
    say(chat, "ask 3")
    work(chat, runtime)
    answer("1: staging\n2: 1, 3\n3: tonight")
    work(chat, runtime)
    final = owed()[-1][1]
    assert "Staging" in final
    assert "Unit tests, Load test" in final
    assert "Tonight" in final


def test_nobody_answers_and_the_agent_goes_on(chat, runtime) -> None:
    say(chat, "ask 1")
    work(chat, runtime)
    questions.expire_overdue(now=FakeClock(now=timezone.now()).advance(4000))
    work(chat, runtime)
    assert "best judgement" in owed()[-1][1]


@pytest.mark.proves("Q11")
def test_a_bad_question_is_handed_back_and_shown_to_nobody(chat, model) -> None:
    peer, runtime = model
    bad, good = {"question": " "}, {"question": "Which one?", "choices": ["A", "B"]}
    peer.script(
        in_turn(
            Reply(tool_calls=[Call("clarify", bad)]),
            Reply(tool_calls=[Call("clarify", good)]),
            Reply(text="You chose B."),
        )
    )
    say(chat, "go")
    work(chat, runtime)
    assert Prompt.objects.get().question_set.questions[0].text == "Which one?"
    assert "question" in peer.requests[1].tool_results[0]
    answer("B")
    assert work(chat, runtime).state == "finished"
    assert owed()[-1][1] == "You chose B."


@pytest.mark.proves("Q23")
def test_two_questions_of_one_answer_are_both_waited_for(chat, model) -> None:
    peer, runtime = model
    calls = [Call("clarify", {"question": f"Number {n}?", "choices": ["A", "B"]}) for n in (1, 2)]
    peer.script(in_turn(Reply(tool_calls=calls), Reply(text="Thanks.")))
    say(chat, "go")
    work(chat, runtime)
    one, two = Prompt.objects.order_by("pk")
    answer("A", one)
    two.refresh_from_db()
    assert Turn.objects.get().state == "waiting"
    answer("B", two)
    assert work(chat, runtime).state == "finished"
    results = " ".join(peer.requests[-1].tool_results)
    assert "A" in results
    assert "B" in results


def test_a_question_beside_a_tool_runs_the_tool_once(chat, model) -> None:
    peer, runtime = model
    calls = [Call("note", {"text": "milk"}), Call("clarify", {"question": "Which?"})]
    peer.script(in_turn(Reply(tool_calls=calls), Reply(text="Noted.")))
    say(chat, "go")
    work(chat, runtime)
    assert Note.objects.count() == 1
    answer("that one")
    assert work(chat, runtime).state == "finished"
    assert Note.objects.count() == 1
    assert owed()[-1][1] == "Noted."


@pytest.mark.proves("T7")
@pytest.mark.parametrize("status", ["500", "429", "400"])
def test_a_model_that_fails_ends_in_one_clear_line(chat, runtime, status) -> None:
    say(chat, f"fail {status}")
    turn = work(chat, runtime)
    ((kind, content),) = owed()
    assert (turn.state, kind) == ("failed", "error")
    assert len(content.splitlines()) == 1
    assert "Traceback" not in content
    assert str(turn.pk) in content
    assert turn.detail
    assert is_valid(turn)


def test_after_a_failure_the_next_message_is_answered(chat, runtime) -> None:
    say(chat, "fail 500")
    say(chat, "hello")
    work(chat, runtime)
    assert work(chat, runtime).state == "finished"
    assert is_valid(Turn.objects.last())


# --- death


def die_at(monkeypatch, name: str, *, after: bool) -> Callable[[], None]:
    """The next call of `turns.<name>` kills the worker, before or after it is stored."""
    real = getattr(turns, name)

    def dying(*args, **kwargs):
        if after:
            real(*args, **kwargs)
        raise WorkerDied

    monkeypatch.setattr(turns, name, dying)
    return lambda: monkeypatch.setattr(turns, name, real)


def die_and_go_on(chat, runtime, monkeypatch, name: str, *, after: bool) -> Turn:
    back_to_life = die_at(monkeypatch, name, after=after)
    with pytest.raises(WorkerDied):
        work(chat, runtime)
    back_to_life()
    dead = turns.running()
    if dead:
        assert turns.reclaim(dead[0], now=timezone.now())
    if Turn.objects.get().state == "ready":
        work(chat, runtime, "host/2/2")
    return Turn.objects.get()


@pytest.mark.parametrize("after", [False, True])
def test_a_model_call_under_way_is_made_again(chat, runtime, monkeypatch, after) -> None:
    say(chat, "note buy milk")
    turn = die_and_go_on(chat, runtime, monkeypatch, "checkpoint", after=after)
    assert turn.state == "finished"
    assert Note.objects.count() == 1
    assert is_valid(turn)


@pytest.mark.proves("T3")
def test_a_tool_that_had_begun_is_not_run_again(chat, model, monkeypatch) -> None:
    peer, runtime = model
    peer.script(in_turn(Reply(tool_calls=[Call("note", {"text": "milk"})]), Reply(text="Hm.")))
    say(chat, "go")
    turn = die_and_go_on(chat, runtime, monkeypatch, "finish_tool", after=False)
    assert turn.state == "finished"
    assert Note.objects.count() == 1
    assert "unknown" in peer.requests[-1].tool_results[0]


def test_a_stored_result_is_used_again(chat, model, monkeypatch) -> None:
    peer, runtime = model
    peer.script(in_turn(Reply(tool_calls=[Call("note", {"text": "milk"})]), Reply(text="Hm.")))
    say(chat, "go")
    turn = die_and_go_on(chat, runtime, monkeypatch, "finish_tool", after=True)
    assert turn.state == "finished"
    assert Note.objects.count() == 1
    assert "Noted as number" in peer.requests[-1].tool_results[0]
    assert len(peer.requests) == 2


@pytest.mark.parametrize("after", [False, True])
def test_a_death_while_asking_asks_once(chat, runtime, monkeypatch, after) -> None:
    say(chat, "clarify")
    turn = die_and_go_on(chat, runtime, monkeypatch, "wait", after=after)
    assert turn.state == "waiting"
    assert Prompt.objects.count() == 1
    kinds = [kind for kind, _ in owed() if kind != "notice"]
    assert kinds == ["final", "prompt"]
    answer("1")
    assert work(chat, runtime).state == "finished"


@pytest.mark.proves("D7", "T3")
def test_a_death_after_the_end_runs_nothing_again(chat, runtime, monkeypatch) -> None:
    say(chat, "hello")
    turn = die_and_go_on(chat, runtime, monkeypatch, "finish", after=True)
    assert turn.state == "finished"
    assert [kind for kind, _ in owed()] == ["final"]


def test_a_death_before_the_end_was_stored_loses_nothing(chat, runtime, monkeypatch) -> None:
    say(chat, "hello")
    turn = die_and_go_on(chat, runtime, monkeypatch, "finish", after=False)
    assert turn.state == "finished"
    assert [kind for kind, _ in owed()] == ["notice", "final"]


def test_a_resumed_answer_is_whole(chat, runtime, monkeypatch) -> None:
    """What was said before the crash is part of the final, as it was of the preview."""
    say(chat, "note buy milk")
    turn = die_and_go_on(chat, runtime, monkeypatch, "finish_tool", after=True)
    assert turn.state == "finished"
    final = owed()[-1][1]
    assert final.startswith("One moment.")
    assert "Noted" in final
    assert final.count("One moment.") == 1


# --- stopping


class Aside:
    """A turn that runs in a thread, so that something can be done to it meanwhile."""

    def __init__(self, chat, runtime) -> None:
        self.turn = turns.claim(chat.pk, "host/1/1", now=timezone.now(), capacity=9)
        self.thread = threading.Thread(target=self._run, args=(runtime,), daemon=True)
        self.thread.start()
        wait_until(lambda: self.turn.pk in workbench._runs, "the turn runs")

    def _run(self, runtime) -> None:
        try:
            execution.run(self.turn, runtime)
        finally:
            connections.close_all()

    def end(self) -> Turn:
        self.thread.join(20)
        assert not self.thread.is_alive()
        return Turn.objects.get(pk=self.turn.pk)


@pytest.mark.proves("T4")
def test_a_stop_reaches_a_turn_that_runs(chat, runtime) -> None:
    say(chat, "slow 60")
    aside = Aside(chat, runtime)
    with transaction.atomic():
        turns.stop(chat, by=make_answerer(), now=timezone.now())
    workbench.stop(aside.turn.pk)
    assert aside.end().state == "stopped"
    assert owed() == []
    say(chat, "hello")
    turn = work(chat, runtime)
    assert turn.state == "finished"
    assert is_valid(turn)


def test_a_worker_that_ends_lays_its_turn_down(chat, runtime) -> None:
    say(chat, "slow 60")
    aside = Aside(chat, runtime)
    workbench.stop(aside.turn.pk)
    turn = aside.end()
    assert (turn.state, turn.deaths) == ("ready", 0)
    assert owed() == []


def test_a_turn_that_was_taken_over_ends_in_silence(chat, runtime) -> None:
    say(chat, "note buy milk")
    turn = turns.claim(chat.pk, "host/1/1", now=timezone.now(), capacity=9)
    turns.reclaim(Turn.objects.select_related("conversation").get(), now=timezone.now())
    turns.claim(chat.pk, "host/2/2", now=timezone.now(), capacity=9)
    execution.run(turn, runtime)
    assert Turn.objects.get().owner == "host/2/2"
    assert not Note.objects.exists()
    assert not TranscriptEntry.objects.exists()


def test_staff_stopping_a_queued_turn_do_not_disturb_the_one_that_waits(chat, runtime) -> None:
    say(chat, "clarify")
    work(chat, runtime)
    queued = say(chat, "and another thing")
    with transaction.atomic():
        turns.stop_one(queued, by=make_answerer(), now=timezone.now())
    answer("2")
    assert work(chat, runtime).state == "finished"
    final = Obligation.objects.filter(kind="final").last()
    assert "Production" in final.content
    say(chat, "hello")
    assert work(chat, runtime).state == "finished"
    assert is_valid(Turn.objects.last())


@pytest.mark.parametrize(
    "arguments",
    [
        '{"question": "Which\\u0000?", "choices": ["a\\u0000", "b\\ud83d"]}',
        '{"question": "Which?", "choices": [NaN, Infinity, "a"]}',
    ],
)
def test_arguments_that_no_database_holds_end_nothing(arguments, chat, model) -> None:
    peer, runtime = model
    call = Call("clarify", arguments, id="c\x00\ud83d")
    peer.script(in_turn(Reply(tool_calls=[call]), Reply(text="Thanks.")))
    say(chat, "go")
    if work(chat, runtime).state == "waiting":
        answer("1")
        work(chat, runtime)
    assert owed()[-1] == ("final", "Thanks.")


def test_words_that_no_database_holds_are_cleaned_and_not_lost(chat, model) -> None:
    peer, runtime = model
    noted = Call("note", '{"text": "milk\\u0000 and eggs"}')
    said = Reply(text="a\x00b \ud83d\ude00 \ud83d", tool_calls=[noted])
    peer.script(in_turn(said, Reply(text="c\x00d", chunks=["c", "\x00d"])))
    say(chat, "go")
    assert work(chat, runtime).state == "finished"
    assert owed() == [("final", "ab \U0001f600 \ufffd\n\ncd")]
    assert Note.objects.get().text == "milk and eggs"
    assert is_valid(Turn.objects.last())


@pytest.mark.proves("Q15")
@pytest.mark.parametrize(
    ("chat_type", "setting", "anyone"),
    [("group", False, False), ("group", True, True), ("dm", True, False)],
)
def test_who_may_answer_is_a_setting_for_groups(
    transactional_db, runtime, settings, chat_type, setting, anyone
) -> None:
    settings.GATEWAY = {**settings.GATEWAY, "ANYONE_MAY_ANSWER": setting}
    place = make_conversation(chat_type=chat_type, chat_id="-5")
    say(place, "clarify")
    work(place, runtime)

    prompt = Prompt.objects.get()

    assert prompt.anyone_may_answer is anyone
    eve = Answerer(id="666", name="Eve", surface="telegram")
    assert questions.may_answer(prompt, eve) is anyone
