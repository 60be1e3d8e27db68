import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from gateway.agents.events import Cancelled, Execute, Failed, TextSoFar, ToolStarting
from gateway.agents.loop import EdgeLoop
from gateway.agents.requests import ModelConfig
from gateway.agents.runtime import AgentRuntime
from gateway.agents.tools import AgentTool, Risk
from gateway.states import FailureKind
from tests.peers.model import Gate, Reply, ToolCall, by_keyword, in_turn
from tests.unit.gateway.agents.driving import Caller, WorkerDied, registry


class Endless:
    """A tool that runs until it is cancelled."""

    def __init__(self):
        self.is_running = threading.Event()
        self.was_cancelled = threading.Event()

    async def __call__(self, context):
        self.is_running.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.was_cancelled.set()


@pytest.fixture
def endless():
    return Endless()


@pytest.fixture
def working(make_caller, peer, endless):
    async def endless_work(context):
        """Work for ever."""
        await endless(context)

    tool = AgentTool(name="endless_work", risk=Risk.SAFE, function=endless_work)
    peer.script(in_turn(Reply(tool_calls=[ToolCall("endless_work", {})]), Reply(text="done")))
    caller = make_caller(tools=registry(tool))
    caller.tools = frozenset({"endless_work"})
    caller.decide_freshly = lambda call: Execute()
    return caller


def half_said(peer):
    peer.script(in_turn(Reply(text="one two three four five six", chunks=6, gate_after=Gate())))


def left(peer):
    return peer.requests and peer.requests[-1].outcome == "client_left"


def test_stopping_in_the_middle_of_a_stream_closes_the_connection(make_caller, peer):
    half_said(peer)
    caller = make_caller()
    run = caller.start("go")
    for event in run:
        if isinstance(event, TextSoFar):
            run.cancel()
        last = event

    assert isinstance(last, Cancelled)
    assert last.text.startswith("one")
    assert peer.wait_for(lambda: left(peer))


def test_stopping_works_while_the_model_has_not_said_anything(make_caller, peer):
    peer.script(in_turn(Reply(text="never", gate=Gate())))
    run = make_caller().start("go", stream=False)
    peer.wait_for(lambda: peer.in_flight == 1)
    run.cancel()

    assert list(run) == [Cancelled("")]
    assert peer.wait_for(lambda: left(peer))


@pytest.mark.proves("T4")
def test_stopping_from_another_thread_kills_a_running_tool(working, endless):
    run = working.start("go")
    stopper = threading.Thread(target=lambda: endless.is_running.wait(10) and run.cancel())
    stopper.start()
    last = list(working.follow(run))[-1]
    stopper.join()

    assert isinstance(last, Cancelled)
    assert endless.was_cancelled.wait(10)


def test_a_stopped_run_shows_no_more_text_and_starts_no_tool(make_caller, peer):
    peer.script(in_turn(Reply(tool_calls=[ToolCall("note", {"text": "x"})]), Reply(text="done")))
    caller = make_caller()
    run = caller.start("go")
    events = []
    for event in caller.follow(run):
        events.append(event)
        run.cancel()

    assert [type(event).__name__ for event in events] == ["ModelAnswered", "Cancelled"]
    assert caller.effects == []


def test_a_run_that_is_stopped_at_once_ends_as_cancelled(demo):
    run = demo.start("slow 60")
    run.cancel()
    run.cancel()

    assert [type(event) for event in run if not isinstance(event, TextSoFar)] == [Cancelled]


def test_stopping_a_finished_run_changes_nothing(demo):
    run = demo.start("hello")
    events = list(demo.follow(run))
    run.cancel()

    assert type(events[-1]).__name__ == "Finished"


def test_leaving_the_iteration_stops_the_run(make_caller, peer):
    half_said(peer)
    for event in make_caller().start("go"):
        if isinstance(event, TextSoFar):
            break

    assert peer.wait_for(lambda: left(peer))


def test_a_consumer_that_raises_stops_the_run(make_caller, peer):
    half_said(peer)

    def consume():
        for _ in make_caller().start("go"):
            raise WorkerDied

    with pytest.raises(WorkerDied):
        consume()
    assert peer.wait_for(lambda: left(peer))


def test_a_forgotten_run_is_stopped(make_caller, peer):
    half_said(peer)
    make_caller().start("go")
    gc.collect()

    assert peer.wait_for(lambda: not peer.requests or left(peer))


def test_a_run_ends_at_its_time_limit_with_a_clear_line(working, endless):
    last = working.say("go", time_limit_seconds=0.3)[-1]

    assert isinstance(last, Failed)
    assert last.kind is FailureKind.LIMIT
    assert "0.3 seconds" in last.message
    assert endless.was_cancelled.wait(10)


def test_a_quiet_run_ticks(make_caller, peer):
    gate = Gate()
    peer.script(in_turn(Reply(text="at last", gate=gate)))
    names = []
    for event in make_caller().start("go", tick_seconds=0.02):
        names.append(type(event).__name__)
        if len(names) == 2:
            gate.open()

    assert names[:2] == ["Tick", "Tick"]
    assert names[-1] == "Finished"


def test_previews_are_cumulative_and_few(make_caller, peer):
    peer.script(by_keyword)
    texts = [e.text for e in make_caller().say("stream 60") if isinstance(e, TextSoFar)]

    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert 1 < len(texts) < 40


def test_nobody_listening_means_no_streaming(make_caller, peer):
    events = make_caller().say("hello", stream=False)

    assert [type(event).__name__ for event in events] == ["Finished"]
    assert not peer.requests[-1].body.get("stream")


def test_a_hundred_slow_runs_share_one_thread(demo):
    def one(number):
        caller = Caller(demo.runtime)
        return caller.say(f"slow 0.{number % 10}", stream=bool(number % 2))[-1].text

    before = threading.active_count()
    with ThreadPoolExecutor(100) as pool:
        texts = list(pool.map(one, range(100)))

    assert all(text.endswith("Done.") for text in texts)
    assert threading.active_count() <= before + 1


def test_closing_the_runtime_ends_its_runs_and_it_can_start_again():
    runtime = AgentRuntime(ModelConfig(), edge=EdgeLoop())
    caller = Caller(runtime)
    run = caller.start("slow 60")
    following = iter(run)
    next(following)
    runtime.close()

    assert isinstance(list(following)[-1], Cancelled)
    assert type(caller.say("hello")[-1]).__name__ == "Finished"
    runtime.close()


def test_a_decision_after_the_end_is_ignored(demo):
    run = demo.start("note milk")
    late = None
    for event in run:
        if isinstance(event, ToolStarting):
            late = event
            run.cancel()
        elif hasattr(event, "ack"):
            event.ack()
    run.decide(late, Execute())

    assert demo.effects == []
