from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessagesTypeAdapter

from gateway.agents.history import (
    LEFT_OUT,
    NO_RESULT,
    STOPPED,
    assistant_message,
    close_off,
    compact,
    cut_to_response,
    last_text,
    size,
    tool_calls,
    user_message,
)

call_ids = st.sampled_from(["c1", "c2", "c3"])


def call(call_id="c1", name="note"):
    return {"part_kind": "tool-call", "tool_name": name, "args": "{}", "tool_call_id": call_id}


def returned(call_id="c1", content="done", kind="tool-return"):
    return {
        "part_kind": kind,
        "tool_name": "note",
        "tool_call_id": call_id,
        "content": content,
    }


def request(*parts):
    return {"kind": "request", "parts": list(parts)}


def response(*parts):
    return {"kind": "response", "parts": list(parts)}


def text(words):
    return {"part_kind": "text", "content": words}


user_parts = st.text(max_size=5).map(lambda t: {"part_kind": "user-prompt", "content": t})
request_parts = st.one_of(user_parts, call_ids.map(returned))
calls = st.lists(call_ids, max_size=3, unique=True).map(lambda ids: [call(i) for i in ids])
responses = st.tuples(st.lists(st.text(max_size=5).map(text), max_size=2), calls).map(
    lambda parts: response(*parts[0], *parts[1])
)
requests = st.lists(request_parts, max_size=4).map(lambda parts: request(*parts))
histories = st.lists(st.one_of(requests, responses), max_size=8)


def said(messages):
    kinds = {"user-prompt", "text"}
    return [p["content"] for m in messages for p in m["parts"] if p["part_kind"] in kinds]


@pytest.mark.proves("S5")
@given(histories)
@settings(max_examples=300)
def test_a_closed_history_is_one_any_model_accepts(messages):
    closed = close_off(messages, "Stopped.")
    kinds = [message["kind"] for message in closed]

    assert all(one != two for one, two in pairwise(kinds))
    assert not closed or (kinds[-1] == "response" and not tool_calls(closed[-1]))
    for index, message in enumerate(closed):
        before = tool_calls(closed[index - 1]) if index else []
        results = [p["tool_call_id"] for p in message["parts"] if p["part_kind"] == "tool-return"]
        if message["kind"] == "request":
            assert sorted(results) == sorted(c["tool_call_id"] for c in before)
    assert len(ModelMessagesTypeAdapter.validate_python(closed)) == len(closed)


@given(histories)
def test_closing_twice_changes_nothing(messages):
    closed = close_off(messages, "Stopped.")

    assert close_off(closed, "Stopped again.") == closed


@given(histories)
def test_closing_loses_nothing_that_was_said_and_leaves_its_argument_alone(messages):
    before = repr(messages)
    closed = close_off(messages, "Stopped.")

    assert [words for words in said(closed) if words != "Stopped."] == said(messages)
    assert repr(messages) == before


def test_a_call_in_the_air_is_told_to_have_no_result():
    closed = close_off([user_message("go"), response(text("I will."), call())], "Stopped by you.")

    assert closed[2]["parts"][0]["content"] == NO_RESULT
    assert last_text(closed) == "Stopped by you."


def test_results_that_exist_are_kept_beside_those_that_do_not():
    messages = [user_message("go"), response(call("c1"), call("c2")), request(returned("c2"))]
    closed = close_off(messages, "")

    contents = {part["tool_call_id"]: part["content"] for part in closed[2]["parts"]}
    assert contents == {"c1": NO_RESULT, "c2": "done"}


def test_results_stand_before_what_a_person_said():
    said_too_soon = {"part_kind": "user-prompt", "content": "stop!"}
    closed = close_off([user_message("go"), response(call()), request(said_too_soon)], "")

    assert [part["part_kind"] for part in closed[2]["parts"]] == ["tool-return", "user-prompt"]


def test_a_prompt_without_an_answer_gets_a_closing_word():
    assert last_text(close_off([user_message("go")], "")) == STOPPED


def test_two_prompts_in_a_row_become_one_message():
    closed = close_off([user_message("one"), user_message("two"), assistant_message("ok")], "")

    assert said(closed) == ["one", "two", "ok"]
    assert len(closed) == 2


def test_a_finished_history_is_left_as_it_is():
    messages = [user_message("one"), assistant_message("ok")]

    assert close_off(messages, "never said") == messages
    assert close_off([], "never said") == []


def test_cutting_ends_at_the_response_that_called():
    messages = [user_message("go"), response(call("c1"), call("c2")), request(returned("c2"))]

    assert cut_to_response(messages) == messages[:2]
    assert cut_to_response(messages[:2]) == messages[:2]
    assert cut_to_response(messages[:1]) == messages[:1]


def test_the_last_text_is_the_agents():
    messages = [user_message("a"), assistant_message("b"), user_message("c"), response(call())]

    assert last_text(messages) == "b"
    assert last_text([]) == ""


def exchange(number):
    return [
        user_message(f"question {number}"),
        response(call(f"c{number}")),
        request(returned(f"c{number}")),
        assistant_message(f"answer {number}"),
    ]


def test_a_history_that_fits_is_not_compacted():
    messages = exchange(1)

    assert compact(messages, size(messages)) == messages


@given(st.integers(0, 400), st.integers(1, 12))
def test_a_compacted_history_fits_and_is_whole(budget, count):
    messages = [message for number in range(count) for message in exchange(number)]
    left = compact(messages, budget)

    assert close_off(left, "") == left
    assert left[-1] == messages[-1]
    summary = left[0]["parts"][0]["content"]
    assert size(left) <= max(budget, size(exchange(count)) + len(summary))
    assert len(left) == len(messages) or summary.startswith(LEFT_OUT)
    assert len(left) == len(messages) or "'question 0'" in summary


@pytest.mark.proves("S5")
def test_compacting_keeps_what_is_pending():
    messages = [*exchange(1), user_message("and now?"), response(call("c9"))]
    left = compact(messages, 10)

    assert tool_calls(left[-1]) == [call("c9")]
    assert said(left)[0].startswith(f"{LEFT_OUT} They were 4")
    assert said(left)[1:] == ["and now?"]
