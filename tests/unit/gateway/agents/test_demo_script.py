import pytest

from clarify.schema import normalise_ask_user, normalise_clarify
from gateway.agents.demo_script import Heard, ToolResult, help_text, respond
from tests.unit.gateway.agents.driving import EVERY_TOOL

EVERYTHING = EVERY_TOOL | {"shell"}


def hear(prompt, *results, tools=EVERY_TOOL):
    return respond(Heard(prompt=prompt, results=results, tools=tools))


@pytest.mark.parametrize("words", ["help", "Help!", "`help`", "[Ada]: help", "@hermes help", ""])
def test_help_is_given_however_it_is_asked_for(words):
    assert hear(words).text == help_text(EVERY_TOOL)


@pytest.mark.parametrize(
    ("tool", "word"),
    [
        ("clarify", "`open`"),
        ("ask_user", "`multi`"),
        ("note", "`note buy milk`"),
        ("current_time", "`time`"),
        ("pretend_delete", "`approve`"),
        ("pretend_delete", "`both`"),
        ("shell", "`run ls -l`"),
    ],
)
def test_help_offers_only_what_the_tools_of_this_run_can_do(tool, word):
    with_it, without = (
        respond(Heard(prompt="help", tools=tools)).text
        for tools in (EVERYTHING, EVERYTHING - {tool})
    )

    assert word in with_it
    assert word not in without
    assert "`markdown`" in without


def test_a_denial_is_told_with_its_reason():
    denied = ToolResult("shell", {"status": "denied", "reason": "wrong server", "note": "…"})

    assert "wrong server" in hear("run ls", denied).text


def test_the_output_of_a_command_is_told():
    gave = ToolResult("shell", {"exit_code": 0, "timed_out": False, "output": "one\ntwo"})

    assert "    one\n    two" in hear("run ls", gave).text


def test_anything_else_is_repeated():
    assert hear("good morning").text.startswith("You said: good morning")


def test_the_pieces_of_an_answer_are_the_answer():
    script = hear("markdown")

    assert len(script.pieces) > 10
    assert "| Telegram | 4096 |" in script.text


def test_the_long_answer_is_longer_than_any_message():
    assert len(hear("long").text) > 10_000


def test_slowness_lasts_as_long_as_was_asked_for():
    script = hear("slow 8")

    assert script.pause_seconds * (len(script.pieces) - 1) == pytest.approx(8)


@pytest.mark.parametrize(("words", "count"), [("ask 3", 3), ("ask", 3), ("ask 1", 1), ("ask 9", 3)])
def test_the_questions_it_asks_are_valid(words, count):
    (call,) = hear(words).calls

    assert len(normalise_ask_user(**call.args).questions) == count


@pytest.mark.parametrize("words", ["clarify", "open"])
def test_the_choices_it_offers_are_valid(words):
    (call,) = hear(words).calls

    assert normalise_clarify(**call.args).questions[0].text


def test_the_multi_select_is_one():
    (call,) = hear("multi").calls

    assert normalise_ask_user(**call.args).questions[0].multi_select


def test_it_can_ask_for_two_things_at_once():
    assert [call.name for call in hear("both").calls] == ["clarify", "pretend_delete"]


def test_without_the_tool_it_says_so():
    script = respond(Heard(prompt="clarify"))

    assert script.calls == ()
    assert "do not have that tool" in script.text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"user_response": "Staging"}, "**Staging**"),
        ({"user_response": "[question was cancelled]"}, "Instead of an answer I got `[question"),
        ({"status": "answered", "answers": {"answers": {"when": ["Now"]}}}, "when: **Now**"),
        ({"status": "no_answer", "reason": "expired"}, "(expired)"),
        ({"status": "no_answer"}, "best judgement"),
        ({"error": "too bad"}, "too bad"),
        ({"stored": 3}, "stored 3"),
        ("plain", "plain"),
    ],
)
def test_results_are_quoted(content, words):
    assert words in hear("anything", ToolResult("tool", content)).text


def test_a_failure_is_pretended_with_its_status():
    assert (hear("fail").failure, hear("fail 429").failure) == (500, 429)
