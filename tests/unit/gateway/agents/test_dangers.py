"""What a dangerous tool says about a call, and what is said of one that says nothing."""

import json

from hypothesis import given
from hypothesis import strategies as st

from clarify.risks import RiskLevel
from gateway.agents.dangers import EXACTLY_THIS_CALL, Danger, exact_call, lasting_key
from gateway.agents.tools import AgentTool, Risk, standard_tools

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(), JSON, max_size=4)


def test_a_tool_that_says_nothing_is_shown_as_it_would_be_called():
    danger = standard_tools().get("pretend_delete").danger_of({"target": "büild/"})

    assert danger.level is RiskLevel.HIGH
    assert danger.summary == "Call pretend_delete"
    assert danger.detail == 'pretend_delete {\n  "target": "büild/"\n}'
    assert danger.covers == EXACTLY_THIS_CALL
    assert len(danger.lasting_key) == 64


def test_a_tool_that_says_what_it_does_is_taken_at_its_word():
    word = Danger(RiskLevel.LOW, "Look", "look here", "", "")
    looks = standard_tools().get("note").function
    tool = AgentTool(name="look", risk=Risk.DANGEROUS, function=looks, danger=lambda _: word)

    assert tool.danger_of({}) is word


@given(ARGUMENTS)
def test_the_order_of_arguments_changes_nothing(arguments):
    turned = dict(reversed(list(arguments.items())))

    assert exact_call("tool", arguments) == exact_call("tool", turned)


@given(ARGUMENTS, ARGUMENTS)
def test_another_call_has_another_key(one, other):
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)

    assert (lasting_key("tool", one) == lasting_key("tool", other)) is same
    assert lasting_key("tool", one) != lasting_key("another", one)


@given(ARGUMENTS)
def test_the_detail_holds_the_whole_call(arguments):
    shown = exact_call("tool", arguments).detail

    assert json.loads(shown.removeprefix("tool ")) == arguments
