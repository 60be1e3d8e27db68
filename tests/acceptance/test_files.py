"""Files both ways through a whole installation, and a process that dies with one in its hands."""

import re

import pytest

from tests.peers.model import Reply, ToolCall, by_keyword
from tests.peers.model.replies import last_user_text, tool_results
from tests.peers.telegram import Fault, Gate

pytestmark = pytest.mark.acceptance
PNG = b"\x89PNG\r\n\x1a\n" + bytes(5000)


def send_it_back(request):
    """A model that sends back each file it is told of."""
    told = last_user_text(request)
    places = re.findall(r"inbox/[\w.-]+", told)
    if not told.startswith("send back"):
        return by_keyword(request)
    if tool_results(request):
        return Reply(text=f"Done: {tool_results(request)[-1]}")
    return Reply(
        tool_calls=[
            ToolCall("send_file", {"path": place, "caption": f"**{place}**"}) for place in places
        ]
    )


@pytest.mark.proves("D17", "D18")
def test_a_photo_comes_in_and_goes_back_out_uploaded_once(stack, telegram, model, books, person):
    model.script(send_it_back)
    for times in (1, 2):
        telegram.send_file(
            PNG, "cat.png", kind="document", chat=person.id, user=person.id, caption="send back"
        )
        telegram.wait_for(lambda times=times: len(files_seen(telegram, person)) == times, 60)
    books.wait_until_settled(telegram)
    back = files_seen(telegram, person)

    assert [message["caption"] for message in back] == ["inbox/cat.png", "inbox/cat-2.png"]
    ids = [message["photo"][-1]["file_id"] for message in back]
    assert ids[0] == ids[1]
    assert telegram.world.files[ids[0]][1] == PNG


@pytest.mark.proves("D17")
def test_a_gateway_that_dies_with_a_file_in_its_hands_leaves_it_to_the_next(
    stack, telegram, model, books, person
):
    model.script(send_it_back)
    gate = Gate()
    with telegram.faults.during(Fault(kind="hold", method="download", gate=gate)):
        telegram.send_file(
            PNG, "cat.png", kind="document", chat=person.id, user=person.id, caption="look"
        )
        telegram.wait_for(lambda: [c for c in telegram.calls if c.method == "download"], 60)
        stack.kill9("gateway")
        gate.open()
    said = person.sees("inbox/cat.png").text

    assert "missing" not in said
    books.wait_until_settled(telegram)


def files_seen(telegram, person) -> list[dict]:
    messages = telegram.world.chats[person.id].messages.values()
    return [m for m in messages if m["from"]["id"] == telegram.world.bot["id"] and "photo" in m]
