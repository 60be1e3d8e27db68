import threading

from gateway.agents.events import Defer, Execute, Finished, Refuse, ToolFinished, ToolStarting
from gateway.agents.requests import TurnContext
from gateway.agents.tools import AgentTool, Risk, ToolError
from tests.peers.model import Reply, ToolCall, in_turn
from tests.unit.gateway.agents.driving import kinds, registry


def calling(peer, *arguments, name="clarify"):
    replies = [Reply(tool_calls=[ToolCall(name, given)]) for given in arguments]
    peer.script(in_turn(*replies, Reply(text="done")))


def refuse_empty(call):
    return Defer() if call.args.get("question") else Refuse("`question` must not be empty.")


def test_a_refused_question_can_be_corrected_by_the_model(make_caller, peer):
    calling(peer, {"question": ""}, {"question": "Which one?"})
    caller = make_caller()
    caller.decide_freshly = refuse_empty
    events = caller.say("go")

    assert [e.args["question"] for e in events if isinstance(e, ToolStarting)] == ["", "Which one?"]
    assert [call.args for call in events[-1].calls] == [{"question": "Which one?"}]
    assert "`question` must not be empty." in peer.requests[-1].tool_results[0]


def test_a_model_that_never_learns_does_not_end_the_turn(make_caller, peer):
    calling(peer, *[{"question": ""}] * 6)
    caller = make_caller()
    caller.decide_freshly = refuse_empty
    events = caller.say("go")

    assert isinstance(events[-1], Finished)
    assert "must not be empty" in peer.requests[-1].tool_results[-1]


def test_arguments_of_a_question_reach_the_caller_as_the_model_gave_them(make_caller, peer):
    calling(peer, {"question": 3, "choices": [{"label": "a"}, "b", 7], "extra": None})
    caller = make_caller()
    asked = caller.say("go")[-1]

    assert asked.calls[0].args == {
        "question": 3,
        "choices": [{"label": "a"}, "b", 7],
        "extra": None,
    }


def test_arguments_that_are_not_json_go_back_to_the_model(make_caller, peer):
    calling(peer, '{"question": ', {"question": "Which?"})
    events = make_caller().say("go")

    assert kinds(events) == ["ModelAnswered", "ModelAnswered", "ToolStarting", "Asked"]


def test_the_model_is_told_of_the_allowed_tools_only(make_caller, peer):
    make_caller().say("hello", tools=frozenset({"note"}))
    make_caller().say("hello", tools=frozenset())

    assert [call.tools for call in peer.requests] == [["note"], []]


def test_the_model_reads_a_tools_docstring_and_its_arguments(make_caller, peer):
    make_caller().say("hello", tools=frozenset({"note"}))
    told = peer.requests[-1].body["tools"][0]["function"]

    assert told["description"].startswith("Write a short note down")
    assert list(told["parameters"]["properties"]) == ["text"]


def test_an_unknown_tool_fails_the_run_without_an_exception(demo):
    last = demo.say("hello", tools=frozenset({"nonsense"}))[-1]

    assert last.kind == "internal"
    assert "nonsense" in last.detail


def test_a_tool_that_fails_is_the_models_to_deal_with(make_caller, peer, caplog):
    async def broken(context):
        """Break."""
        raise OSError("disk /dev/sda1 is gone")

    calling(peer, {}, name="broken")
    caller = make_caller(tools=registry(AgentTool(name="broken", risk=Risk.SAFE, function=broken)))
    caller.decide_freshly = lambda call: Execute()
    events = caller.say("go", tools=frozenset({"broken"}))

    assert isinstance(events[-1], Finished)
    assert "The tool failed (OSError)." in peer.requests[-1].tool_results[0]
    assert "A tool failed." in caplog.text


def test_a_tool_can_say_why_it_could_not(make_caller, peer):
    async def shy(context, word: str):
        """Refuse."""
        raise ToolError(f"I do not like {word!r}.")

    calling(peer, {"word": "why"}, name="shy")
    caller = make_caller(tools=registry(AgentTool(name="shy", risk=Risk.SAFE, function=shy)))
    caller.decide_freshly = lambda call: Execute()
    events = caller.say("go", tools=frozenset({"shy"}))
    finished = [event for event in events if isinstance(event, ToolFinished)]

    assert finished[0].result == {"error": "I do not like 'why'."}


def test_effects_happen_in_the_callers_thread(demo):
    threads = []

    def effects(name, payload):
        threads.append(threading.current_thread())
        return "stored"

    demo.say("note milk", context=TurnContext(effects=effects))

    assert threads == [threading.current_thread()]


def test_an_effect_that_fails_fails_the_tool_alone(demo, caplog):
    def effects(name, payload):
        raise ValueError("no such table")

    last = demo.say("note milk", context=TurnContext(effects=effects))[-1]

    assert isinstance(last, Finished)
    assert "ValueError" in last.text


def test_a_turn_without_effects_cannot_change_anything(demo):
    last = demo.say("note milk", context=TurnContext())[-1]

    assert "may not change anything" in last.text


def test_a_question_is_never_executed_here(make_caller, peer):
    calling(peer, {"question": "Which?"})
    caller = make_caller()
    caller.decide_freshly = lambda call: Execute()
    finished = [e for e in caller.say("go") if isinstance(e, ToolFinished)]

    assert finished[0].result == {"error": "Only a person can answer this."}


def test_the_time_is_told_in_a_zone_that_exists(demo):
    wrong = demo.say("time Middle/Earth")[-1]
    right = demo.say("time Europe/Berlin")[-1]

    assert "no time zone called 'Middle/Earth'" in wrong.text
    assert "+0" in right.text
