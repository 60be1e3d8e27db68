import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.agents.briefing import brief
from gateway.agents.requests import TurnContext

LINES = len(brief(TurnContext(sender_name="Ada"), can_ask=True).split("\n"))


@pytest.mark.proves("T10")
def test_the_agent_learns_where_its_answer_goes():
    text = brief(
        TurnContext(
            platform="telegram",
            chat_type="group",
            chat_name="Ops",
            thread_id="77",
            sender_name="Ada",
            session_id="s-1",
            abilities=frozenset({"edit", "buttons"}),
            message_limit=4096,
            targets=("home",),
        ),
        can_ask=True,
    )

    for words in ('"telegram", a group chat', '"Ops"', '"77"', '"Ada"', '"s-1"', '"home"'):
        assert words in text
    assert "can change messages already sent, shows buttons" in text
    assert "4096 characters" in text
    assert "you can ask the person" in text


def test_an_unattended_turn_is_told_that_nobody_can_be_asked():
    text = brief(TurnContext(chat_type="webhook"), can_ask=False)

    assert "nobody can be asked" in text
    assert "cannot send anywhere else" in text
    assert "plain text only" in text


@pytest.mark.proves("T10")
@given(st.text(min_size=1, max_size=300))
def test_a_name_can_never_start_a_line_or_leave_its_quotes(name):
    lines = brief(TurnContext(sender_name=f"x{name}"), can_ask=True).splitlines()

    assert len(lines) == LINES
    assert all(line.startswith(("- ", "Where you are", "Quoted names")) for line in lines)
