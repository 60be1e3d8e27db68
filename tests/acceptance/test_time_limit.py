"""A turn that takes too long is ended inside the worker, which goes on with everything else."""

import pytest

from tests.peers.model import Gate, Reply, by_keyword
from tests.peers.model.replies import last_user_text

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def environment():
    return {"HERMES_TURN_TIME_LIMIT": "8"}


def test_a_turn_over_its_time_is_ended_with_one_line_and_the_next_one_runs(
    stack, telegram, model, books, person
):
    def script(request):
        is_slow = last_user_text(request) == "for ever"
        return Reply(text="never", gate=Gate()) if is_slow else by_keyword(request)

    model.script(script)
    worker = stack.pids["worker"]
    person.says("hello")  # a worker's very first call of a model takes a while by itself
    person.sees("You said: hello")
    person.says("for ever")
    person.says("and now")

    person.sees("You said: and now")
    books.wait_until_settled(telegram)
    assert len(person.texts) == 3
    assert person.texts[1].startswith("⚠️")
    [slow] = [call for call in model.requests if call.last_user_text == "for ever"]
    assert slow.outcome == "client_left"
    assert stack.pids["worker"] == worker
