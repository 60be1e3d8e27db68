"""The loop around the models: what is asked again, and what ends a run."""

import pytest

from gateway.agents.events import Asked, Failed, Finished, ToolStarting
from gateway.agents.toolset import ARGUMENT_TRIES
from gateway.agents.turn import EMPTY_ANSWERS
from gateway.states import FailureKind
from tests.peers.model import Reply, ToolCall, in_turn
from tests.unit.gateway.agents.driving import kinds

NOTE = ToolCall("note", {"text": "milk"})
QUESTION = ToolCall("clarify", {"question": "Which?"})
DONE = Reply(text="done")


def test_an_unknown_tool_is_told_to_the_model_with_the_ones_there_are(make_caller, peer):
    peer.script(in_turn(Reply(tool_calls=[ToolCall("dig", {})]), DONE))
    events = make_caller().say("go", tools=frozenset({"note", "clarify"}))

    assert isinstance(events[-1], Finished)
    assert "no tool called 'dig'" in peer.requests[-1].tool_results[0]
    assert "clarify, note" in peer.requests[-1].tool_results[0]


def test_wrong_arguments_are_told_to_the_model_by_name(make_caller, peer):
    peer.script(in_turn(Reply(tool_calls=[ToolCall("note", {"words": "milk"})]), DONE))
    make_caller().say("go")

    assert '"text"' in peer.requests[-1].tool_results[0]
    assert '"words"' in peer.requests[-1].tool_results[0]


@pytest.mark.parametrize("call", [ToolCall("note", {"text": 5}), ToolCall("dig", {})])
def test_a_tool_called_wrongly_again_and_again_ends_the_run(make_caller, peer, call):
    peer.script(in_turn(Reply(tool_calls=[call])))
    failed = make_caller().say("go")[-1]

    assert failed.kind is FailureKind.INTERNAL
    assert "usable answer" in failed.message
    assert len(peer.requests) == ARGUMENT_TRIES + 1


def test_a_good_call_wipes_out_the_wrong_ones_before_it(make_caller, peer):
    wrong = [Reply(tool_calls=[ToolCall("note", {"text": 5})])] * ARGUMENT_TRIES
    peer.script(in_turn(*wrong, Reply(tool_calls=[NOTE]), *wrong, DONE))

    assert isinstance(make_caller().say("go")[-1], Finished)


def test_a_call_that_the_limit_cut_off_is_told_as_that_limit(make_caller, peer):
    cut_off = Reply(tool_calls=[ToolCall("note", '{"text": "mi')], finish_reason="length")
    peer.script(in_turn(cut_off))

    assert make_caller().say("go")[-1].kind is FailureKind.LIMIT


def test_an_empty_answer_is_asked_for_again_and_kept_out_of_sight(make_caller, peer):
    peer.script(in_turn(*[Reply(text="")] * EMPTY_ANSWERS, DONE))
    finished = make_caller().say("go")[-1]

    assert finished.text == "done"
    assert "return text or call a tool" in str(peer.requests[-1].body["messages"][-1])


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("length", FailureKind.LIMIT), ("content_filter", FailureKind.MODEL_REFUSED)],
)
def test_an_empty_answer_with_a_reason_is_not_asked_for_again(make_caller, peer, reason, kind):
    peer.script(in_turn(Reply(text="", finish_reason=reason)))
    failed = make_caller().say("go")[-1]

    assert failed.kind is kind
    assert len(peer.requests) == 1


def test_a_model_that_only_calls_tools_is_stopped_at_some_point(make_caller, peer):
    peer.script(in_turn(Reply(tool_calls=[NOTE])))
    caller = make_caller(max_requests=3)
    failed = caller.say("go")[-1]

    assert failed.kind is FailureKind.LIMIT
    assert len(peer.requests) == 3
    assert len(caller.effects) == 3


def test_what_ran_beside_a_question_is_replayed_when_it_is_answered(make_caller, peer):
    peer.script(in_turn(Reply(text="Both.", tool_calls=[NOTE, QUESTION]), DONE))
    caller = make_caller()
    asked = caller.say("go")[-1]
    assert isinstance(asked, Asked)
    caller.results[asked.calls[0].call_id] = "the left one"
    events = caller.say(None)

    assert kinds(events) == ["ToolStarting", "ToolStarting", "Finished"]
    assert peer.requests[-1].tool_results == ["note number 1", "the left one"]
    assert caller.effects == [("note", "milk")]


def test_calls_of_one_answer_start_together_and_are_answered_in_their_order(make_caller, peer):
    calls = [ToolCall("note", {"text": word}) for word in ("one", "two", "three")]
    peer.script(in_turn(Reply(tool_calls=calls), DONE))
    events = make_caller().say("go")

    assert [type(event) is ToolStarting for event in events[1:4]] == [True] * 3
    assert [f"note number {n}" for n in (1, 2, 3)] == peer.requests[-1].tool_results


def test_a_history_that_broke_off_is_made_whole_for_the_model_only(make_caller, peer):
    peer.script(in_turn(Reply(tool_calls=[QUESTION]), DONE))
    caller = make_caller()
    caller.say("go")
    before = len(caller.history)
    caller.say("something else")

    roles = [message["role"] for message in peer.requests[-1].body["messages"]]
    assert roles == ["user", "assistant", "tool", "user"]
    assert len(caller.history) == before + 2


def test_a_run_without_prompt_and_history_is_a_failure_and_no_error(make_caller):
    failed = make_caller().say(None)[-1]

    assert isinstance(failed, Failed)
    assert failed.kind is FailureKind.INTERNAL
