"""[T2] with the agent: what steers a turn is in what the model reads next, once, and is kept."""

import threading

import pytest
from django.db import connections, transaction
from django.utils import timezone

from clarify import questions
from clarify.models import Prompt
from clarify.questions import Answerer
from gateway import execution, sessions, turns
from gateway.agents import history
from gateway.agents.loop import EdgeLoop
from gateway.agents.requests import ModelConfig
from gateway.agents.runtime import AgentRuntime
from gateway.models import AllowEntry, ChatPolicy, Turn
from tests.factories import make_allow_entry, make_conversation, settle
from tests.integration.working import say, work
from tests.peers.model import ModelPeer, Reply
from tests.peers.model import ToolCall as Call

pytestmark = pytest.mark.django_db(transaction=True)
ADA = Answerer(id="7", name="Ada", surface="telegram")
NOTE = Reply(tool_calls=(Call("note", {"text": "begun"}),))


class WorkerDied(BaseException):
    """Raised by a test at the instant its pretended worker is killed."""


class Talk:
    """A model that is told, at each question it is asked, what happens meanwhile."""

    def __init__(self) -> None:
        self.asked: list[list[dict]] = []
        self.meanwhile: list = []
        self.replies: list[Reply] = []

    def __call__(self, request) -> Reply:
        number = len(self.asked)
        self.asked.append(request["messages"])
        if number < len(self.meanwhile):  # the peer serves on a loop, where no database is used
            elsewhere = threading.Thread(target=self._happens, args=(self.meanwhile[number],))
            elsewhere.start()
            elsewhere.join()
        return self.replies[number]

    @staticmethod
    def _happens(what) -> None:
        try:
            what()
        finally:
            connections.close_all()

    def words(self, number: int) -> list[str]:
        """What people said, as the model read it at that question."""
        return [m["content"] for m in self.asked[number] if m["role"] == "user"]


@pytest.fixture
def talk():
    return Talk()


@pytest.fixture
def runtime(talk):
    edge = EdgeLoop()
    with ModelPeer(script=talk) as peer:
        config = ModelConfig(name="peer", base_url=peer.url, api_key="sk-test")
        made = AgentRuntime(config, edge=edge)
        yield made
        made.disconnect()
    edge.stop()


@pytest.fixture
def chat(transactional_db):
    make_allow_entry(user_id="7")
    return make_conversation(chat_id="7")


def steer(chat, words):
    new = turns.NewTurn(
        conversation=chat,
        prompt=words,
        sender_id="7",
        sender_name="Ada",
        reply_to="42",
        may_join=True,
    )
    with transaction.atomic():
        return turns.enqueue(new, now=timezone.now())


def is_valid(turn) -> bool:
    stored, _ = sessions.history(turn)
    kinds = [message["kind"] for message in stored]
    return kinds == ["request", "response"] * (len(kinds) // 2)


@pytest.mark.proves("T2")
def test_the_running_turn_is_given_what_steers_it_at_its_next_model_call(chat, talk, runtime):
    talk.replies = [NOTE, Reply(text="As you like.")]
    talk.meanwhile = [lambda: [steer(chat, "not that one"), steer(chat, "the other")]]
    say(chat, "begin")
    turn = work(chat, runtime)
    assert talk.words(1) == ["begin", "not that one", "the other"]
    joined = Turn.objects.exclude(pk=turn.pk)
    assert {(one.state, one.joined_id) for one in joined} == {("joined", turn.pk)}
    assert is_valid(turn)


@pytest.mark.proves("T2")
def test_what_comes_during_the_last_model_call_is_the_next_turn(chat, talk, runtime):
    talk.replies = [Reply(text="Done."), Reply(text="And that.")]
    talk.meanwhile = [lambda: steer(chat, "too late")]
    say(chat, "begin")
    first = work(chat, runtime)
    second = work(chat, runtime)
    assert (first.state, second.prompt, second.state) == ("finished", "too late", "finished")


@pytest.mark.proves("T2")
def test_whatever_a_death_leaves_unstored_is_given_again(chat, talk, runtime, monkeypatch):
    talk.replies = [NOTE, Reply(text="Lost."), Reply(text="Found.")]
    talk.meanwhile = [lambda: steer(chat, "the other")]
    say(chat, "begin")
    real = turns.finish
    monkeypatch.setattr(turns, "finish", _die)
    turn = turns.claim(chat.pk, "host/dead/1", now=timezone.now(), capacity=9)
    with pytest.raises(WorkerDied):
        execution.run(turn, runtime)
    monkeypatch.setattr(turns, "finish", real)
    turns.reclaim(Turn.objects.get(pk=turn.pk), now=timezone.now())
    turn = work(chat, runtime)
    assert talk.words(2) == ["begin", "the other"]
    assert turn.state == "finished"
    assert Turn.objects.get(prompt="the other").joined_id == turn.pk
    stored, _ = sessions.history(turn)
    assert str(stored).count("the other") == 1
    assert turns.claim(chat.pk, "host/1/1", now=timezone.now(), capacity=9) is None


def _die(*_args, **_kwargs):
    raise WorkerDied


@pytest.mark.proves("T2", "A8")
def test_whoever_was_shut_out_meanwhile_steers_nothing(chat, talk, runtime):
    talk.replies = [NOTE, Reply(text="Done.")]
    talk.meanwhile = [lambda: [steer(chat, "the other"), AllowEntry.objects.all().delete()]]
    say(chat, "begin")
    work(chat, runtime)
    assert talk.words(1) == ["begin"]


def test_stopping_takes_what_was_to_steer_along(chat, talk, runtime):

    def stop():
        steer(chat, "the other")
        with transaction.atomic():
            turns.stop(chat, by=ADA, now=timezone.now())

    talk.replies = [NOTE, Reply(text="Never.")]
    talk.meanwhile = [stop]
    say(chat, "begin")
    work(chat, runtime)
    assert set(Turn.objects.values_list("state", flat=True)) == {"stopped"}


# --- what else a turn is begun with


@pytest.mark.proves("S5")
def test_a_long_history_is_cut_to_the_budget_around_what_is_pending(chat, talk, runtime, settings):
    settings.GATEWAY = settings.GATEWAY | {"HISTORY_BUDGET": 400}
    talk.replies = [Reply(text="x" * 90)] * 6
    for number in range(6):
        say(chat, f"question {number} " + "y" * 60)
        turn = work(chat, runtime)
    said = talk.words(5)
    assert "left out" in said[0]
    assert "question 0" in said[0]
    assert said[-1].startswith("question 5")
    assert history.size(sessions.history(turn)[0]) > 900


@pytest.mark.proves("S5")
def test_a_call_that_waits_stays_whole_however_small_the_budget_is(chat, talk, runtime, settings):

    settings.GATEWAY = settings.GATEWAY | {"HISTORY_BUDGET": 50}
    asks = Reply(tool_calls=(Call("clarify", {"question": "Which?", "choices": ["a", "b"]}),))
    talk.replies = [Reply(text="x" * 90), asks, Reply(text="b it is.")]
    say(chat, "question " + "y" * 60)
    work(chat, runtime)
    say(chat, "ask me")
    work(chat, runtime)
    prompt = Prompt.objects.get()
    settle(prompt.obligation)
    with transaction.atomic():
        questions.answer_text(prompt, "b", ADA, now=timezone.now())
    turn = work(chat, runtime)
    assert turn.state == "finished"
    roles = [message["role"] for message in talk.asked[-1] if message["role"] != "system"]
    assert roles == ["user", "user", "assistant", "tool"] or roles[-3:] == [
        "user",
        "assistant",
        "tool",
    ]


@pytest.mark.proves("S3")
def test_a_chat_has_its_own_model_and_instructions(chat, talk, runtime):
    ChatPolicy.objects.create(account=chat.account, system_prompt="Speak like a pirate.")
    talk.replies = [Reply(text="Arr.")]
    say(chat, "Hello")
    turn = work(chat, runtime)
    assert "pirate" in talk.asked[0][0]["content"]
    assert turn.usage["model"] == "demo"


@pytest.mark.proves("S4")
def test_what_a_turn_costs_is_kept_from_call_to_call(chat, talk, runtime):
    talk.replies = [NOTE, Reply(text="Done.")]
    say(chat, "begin")
    turn = work(chat, runtime)
    assert turn.usage["requests"] == 2
    assert turn.usage["input_tokens"] > 0
