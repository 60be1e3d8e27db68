import json
import subprocess
import sys
from dataclasses import asdict

import pytest

from gateway.agents.events import (
    Asked,
    Execute,
    Finished,
    ModelAnswered,
    ToolFinished,
    ToolStarting,
)
from gateway.agents.history import last_text, tool_calls
from gateway.agents.toolset import OUTCOME_UNKNOWN
from tests.peers.model import Reply, ToolCall, by_keyword, in_turn
from tests.unit.gateway.agents.driving import WorkerDied, kinds

ANSWER = {"status": "answered", "answers": {"answers": {"toppings": ["Olives", "Chili"]}}}

RESUME = """
import json, sys
from gateway.agents.events import Finished, Replay, ToolStarting
from gateway.agents.requests import ModelConfig, RunRequest
from gateway.agents.runtime import AgentRuntime

row = json.load(sys.stdin)
runtime = AgentRuntime(ModelConfig())
run = runtime.start(RunRequest(history=row["history"], tools=frozenset({"ask_user"})))
for event in run:
    if isinstance(event, ToolStarting):
        run.decide(event, Replay(row["results"][event.call_id]))
    if isinstance(event, Finished):
        print(event.text)
runtime.close()
"""


def two_calls(peer):
    calls = [ToolCall("note", {"text": "milk"}), ToolCall("clarify", {"question": "Which?"})]
    peer.script(in_turn(Reply(text="Both.", tool_calls=calls), Reply(text="All done.")))


def test_a_plain_turn_is_one_finished_event(demo):
    events = demo.say("hello there")

    assert kinds(events) == ["Finished"]
    assert events[-1].text.startswith("You said: hello there")
    assert [message["kind"] for message in demo.history] == ["request", "response"]


def test_the_next_turn_goes_on_from_the_stored_history(make_caller, peer):
    caller = make_caller()
    caller.say("one", instructions="Be kind.")
    caller.say("two", instructions="Be kind.")

    sent = [(m["role"], m["content"]) for m in peer.requests[-1].body["messages"]]
    assert sent[0] == ("system", "Be kind.")
    assert [role for role, _ in sent[1:]] == ["user", "assistant", "user"]
    assert len(caller.history) == 4


def test_instructions_are_not_stored(make_caller):
    caller = make_caller()
    caller.say("one", instructions="Be kind.")

    assert "Be kind." not in json.dumps(caller.history)


def test_the_answer_is_stored_before_any_tool_runs(demo):
    events = demo.say("note milk")

    assert kinds(events) == ["ModelAnswered", "ToolStarting", "ToolFinished", "Finished"]
    assert demo.effects == [("note", "milk")]
    assert "note number 1" in events[-1].text


def test_no_tool_runs_while_the_answer_is_not_acknowledged(demo):
    run = demo.start("note milk", tick_seconds=0.05)
    following = iter(run)
    seen = [type(next(following)).__name__ for _ in range(5)]

    assert "ToolStarting" not in seen
    assert seen[-1] == "Tick"


def test_a_question_ends_the_run_until_it_is_answered(demo):
    events = demo.say("multi")

    assert kinds(events) == ["ModelAnswered", "ToolStarting", "Asked"]
    assert [(call.name, call.kind) for call in events[-1].calls] == [("ask_user", "question")]
    assert demo.history[-1]["kind"] == "response"


def test_an_approval_is_asked_for_as_one(demo):
    asked = demo.say("approve old.tar")[-1]

    assert [(call.name, call.kind) for call in asked.calls] == [("pretend_delete", "approval")]
    assert asked.calls[0].args == {"target": "old.tar"}


def test_an_approved_call_runs_and_a_denied_one_does_not(demo):
    call = demo.say("approve old.tar")[-1].calls[0]
    demo.decide_freshly = lambda _: Execute()
    history = list(demo.history)
    approved = demo.say(None)
    demo.history = history
    demo.results[call.call_id] = "The user denied this."
    denied = demo.say(None)

    assert kinds(approved) == ["ToolStarting", "ToolFinished", "Finished"]
    assert kinds(denied) == ["ToolStarting", "Finished"]
    assert "denied" in denied[-1].text


@pytest.mark.proves("Q0")
def test_an_answered_turn_resumes_in_another_process_from_json_alone(demo):
    asked = demo.say("multi")[-1]
    row = {"history": demo.history, "results": {asked.calls[0].call_id: ANSWER}}
    done = subprocess.run(
        [sys.executable, "-c", RESUME],
        input=json.dumps(row),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert "toppings: **Olives, Chili**" in done.stdout


def test_a_call_beside_a_question_runs_once_however_long_the_question_waits(make_caller, peer):
    two_calls(peer)
    caller = make_caller()
    first = caller.say("go")
    caller.results[first[-1].calls[0].call_id] = {"user_response": "the left one"}
    second = caller.say(None)

    assert isinstance(first[-1], Asked)
    assert tool_calls(caller.history[1]) != []
    assert caller.effects == [("note", "milk")]
    assert "ToolFinished" not in kinds(second)
    results = [m for m in peer.requests[-1].body["messages"] if m["role"] == "tool"]
    assert [m["content"] for m in results] == ["note number 1", '{"user_response":"the left one"}']


def test_results_left_behind_the_response_are_cut_and_replayed(make_caller, peer):
    two_calls(peer)
    caller = make_caller()
    first = caller.say("go")
    caller.results[first[-1].calls[0].call_id] = {"user_response": "left"}
    note = tool_calls(caller.history[1])[0]
    partial = {
        "part_kind": "tool-return",
        "tool_name": "note",
        "tool_call_id": note["tool_call_id"],
        "content": "note number 1",
    }
    caller.history.append({"kind": "request", "parts": [partial]})
    second = caller.say(None)

    assert kinds(second) == ["ToolStarting", "ToolStarting", "Finished"]


@pytest.mark.parametrize("instant", [ModelAnswered, ToolStarting, ToolFinished, Finished])
def test_a_worker_that_dies_before_storing_an_event_repeats_no_side_effect(demo, instant):
    def die(event):
        if isinstance(event, instant):
            raise WorkerDied

    demo.on_event = die
    with pytest.raises(WorkerDied):
        demo.say("note milk")
    demo.on_event = lambda event: None
    last = demo.say(None if demo.history else "note milk")[-1]

    assert isinstance(last, Finished)
    assert demo.effects == [("note", "milk")]
    assert last_text(demo.history) == last.text


def test_a_finished_tool_is_replayed_after_a_crash(demo):
    demo.say("note milk")
    demo.history = demo.history[:2]
    events = demo.say(None)

    assert kinds(events) == ["ToolStarting", "Finished"]
    assert demo.effects == [("note", "milk")]
    assert "note number 1" in events[-1].text


@pytest.mark.proves("T3")
def test_a_tool_whose_outcome_is_unknown_is_not_run_again_and_the_model_is_told(make_caller, peer):
    peer.script(by_keyword)
    caller = make_caller()
    caller.say('tool note {"text": "milk"}')
    caller.history = caller.history[:2]
    caller.results.clear()
    caller.say(None)

    assert caller.effects == [("note", "milk")]
    assert peer.requests[-1].tool_results == [OUTCOME_UNKNOWN]


def test_a_prompt_already_in_the_history_is_answered_once(make_caller, peer):
    caller = make_caller()
    caller.history = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hello"}]}
    ]
    done = caller.say(None)[-1]

    assert done.text == "You said: hello"
    assert [m["kind"] for m in done.messages] == ["response"]


def test_a_server_that_repeats_call_ids_cannot_mix_up_results(make_caller, peer):
    first, second = (ToolCall("note", {"text": text}, id="call_0") for text in ("a", "b"))
    replies = [Reply(tool_calls=[first]), Reply(tool_calls=[second]), Reply(text="done")]
    peer.script(in_turn(*replies))
    caller = make_caller()
    caller.say("go")

    assert caller.effects == [("note", "a"), ("note", "b")]


def test_usage_over_all_events_is_the_usage_of_all_model_calls(demo):
    events = demo.say("note milk")
    used = [event.usage for event in events if isinstance(event, ModelAnswered | Finished)]

    assert [usage.requests for usage in used] == [1, 1]
    assert asdict(used[0] + used[1])["requests"] == 2
