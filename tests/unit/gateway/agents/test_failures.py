import pytest

from gateway.agents.events import Failed, Finished
from gateway.agents.requests import ModelConfig
from gateway.agents.runtime import AgentRuntime
from gateway.states import FailureKind
from tests.peers.model import Reply, ToolCall, echo, in_turn
from tests.unit.gateway.agents.driving import Caller

GOOD = Reply(text="At last.")


class Waiter:
    def __init__(self):
        self.waits = []

    async def __call__(self, seconds):
        self.waits.append(seconds)


def failing(fault, **fields):
    return in_turn(Reply(text="half of it and more", fault=fault, **fields))


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("fault", "kind", "is_retryable", "tries"),
    [
        ("401", FailureKind.MODEL_REFUSED, False, 1),
        ("400", FailureKind.MODEL_REFUSED, False, 1),
        ("429", FailureKind.RATE_LIMITED, True, 3),
        ("500", FailureKind.MODEL_UNREACHABLE, True, 3),
        ("502html", FailureKind.MODEL_UNREACHABLE, True, 3),
        ("reset", FailureKind.MODEL_UNREACHABLE, True, 3),
        ("cut_mid_stream", FailureKind.MODEL_UNREACHABLE, True, 3),
    ],
)
def test_each_failure_has_its_kind(make_caller, peer, fault, kind, is_retryable, tries, stream):
    peer.script(failing(fault))
    failed = make_caller().say("go", stream=stream)[-1]

    assert (failed.kind, failed.retryable) == (kind, is_retryable)
    assert len(peer.requests) == tries


@pytest.mark.proves("T7")
@pytest.mark.parametrize("fault", ["401", "400", "429", "500", "502html", "reset"])
def test_a_person_reads_one_clear_line(make_caller, peer, fault):
    peer.script(failing(fault))
    failed = make_caller().say("go")[-1]

    assert "\n" not in failed.message
    assert not set('{}<>"') & set(failed.message)
    assert "secret" not in failed.message + failed.detail
    assert "peer" in failed.detail or "onnection" in failed.detail


def test_a_server_that_is_not_there_is_unreachable(make_caller, peer):
    with peer.refuse():
        failed = make_caller().say("go")[-1]

    assert failed.kind is FailureKind.MODEL_UNREACHABLE
    assert failed.retryable


@pytest.mark.proves("T7")
def test_retry_after_is_honoured(make_caller, peer):
    waiter = Waiter()
    peer.script(in_turn(Reply(fault="429", retry_after=7), GOOD))
    done = make_caller(wait=waiter).say("go")[-1]

    assert done.text == "At last."
    assert waiter.waits == [7]


def test_a_wait_that_is_too_long_is_left_to_the_caller(make_caller, peer):
    waiter = Waiter()
    peer.script(in_turn(Reply(fault="429", retry_after=3600), GOOD))
    failed = make_caller(wait=waiter).say("go")[-1]

    assert (failed.kind, failed.retry_after) == (FailureKind.RATE_LIMITED, 3600)
    assert waiter.waits == []


def test_each_wait_is_longer_than_the_one_before(make_caller, peer):
    waiter = Waiter()
    peer.script(failing("500"))
    make_caller(wait=waiter).say("go")

    assert len(waiter.waits) == 2
    assert waiter.waits[0] < waiter.waits[1]


def test_an_answer_that_breaks_off_is_asked_for_again_from_its_beginning(make_caller, peer):
    broken = Reply(text="This will never be whole.", fault="cut_mid_stream")
    peer.script(in_turn(broken, GOOD))
    events = make_caller().say("go")

    assert events[-1].text == "At last."
    assert len(events[-1].messages) == 2


@pytest.mark.proves("T7")
def test_the_fallback_answers_when_the_model_cannot(make_caller, peer):
    def script(request):
        return GOOD if request["model"] == "spare" else Reply(fault="500")

    peer.script(script)
    done = make_caller(fallback="spare").say("go")[-1]

    assert done.text == "At last."
    assert [call.body["model"] for call in peer.requests] == ["peer"] * 3 + ["spare"]


def test_a_refusal_of_our_key_is_not_taken_to_the_fallback(make_caller, peer):
    peer.script(failing("401"))
    failed = make_caller(fallback="spare").say("go")[-1]

    assert failed.kind is FailureKind.MODEL_REFUSED
    assert len(peer.requests) == 1


def test_a_model_that_runs_in_circles_is_stopped(make_caller, peer):
    peer.script(in_turn(Reply(text="")))
    failed = make_caller().say("go")[-1]

    assert isinstance(failed, Failed)
    assert "usable answer" in failed.message


def test_a_failure_leaves_the_checkpoint_and_the_turn_can_be_carried_on(make_caller, peer):
    note = Reply(tool_calls=[ToolCall("note", {"text": "milk"})])
    peer.script(in_turn(note, Reply(fault="401"), GOOD))
    caller = make_caller()
    failed = caller.say("go")[-1]
    done = caller.say(None)[-1]

    assert isinstance(failed, Failed)
    assert done.text == "At last."
    assert caller.effects == [("note", "milk")]


def test_a_provider_whose_package_is_missing_is_named(edge):
    caller = Caller(AgentRuntime(ModelConfig(name="anthropic:claude-x"), edge=edge))
    failed = caller.say("go")[-1]

    assert failed.kind is FailureKind.MODEL_REFUSED
    assert "anthropic" in failed.message
    assert "\n" not in failed.message


def test_the_demo_agent_can_pretend_to_fail(demo):
    assert demo.say("fail 429")[-1].kind is FailureKind.RATE_LIMITED


def test_the_configured_key_is_sent_and_never_told(make_caller, peer):
    peer._api_key = "another-key"
    failed = make_caller().say("go")[-1]
    peer._api_key = "sk-very-secret-key"
    peer.script(echo)
    done = make_caller().say("go")[-1]

    assert failed.kind is FailureKind.MODEL_REFUSED
    assert "sk-very" not in repr(failed)
    assert isinstance(done, Finished)


def test_a_local_name_with_a_colon_goes_to_the_configured_server(make_caller, peer):
    done = make_caller().say("go", model="llama3:8b")[-1]

    assert isinstance(done, Finished)
    assert peer.requests[-1].body["model"] == "llama3:8b"


def test_an_unknown_provider_is_named_when_no_server_is_configured(edge):
    failed = Caller(AgentRuntime(ModelConfig(name="nowhere:x"), edge=edge)).say("go")[-1]

    assert failed.kind is FailureKind.MODEL_REFUSED
    assert "nowhere:x" in failed.message
