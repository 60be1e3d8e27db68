"""From an event to a prompt: what staff wrote, with what came from outside marked as that."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.platforms.webhook import templates
from gateway.platforms.webhook.errors import BadTemplate
from gateway.platforms.webhook.templates import CLOSE, OPEN, WARNING
from gateway.platforms.webhook.wire import Event
from tests.unit.gateway.webhook.test_wire import JSON

pytestmark = pytest.mark.proves("T10", "W1")
OUTSIDE = re.compile(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}", re.DOTALL)


def render(template: str, payload=None, *, name: str = "push", event_id: str = "e1") -> str:
    event = Event(event_id=event_id, name=name, payload=payload)
    return templates.render(template, event, endpoint="deploys")


def told(text: str) -> str:
    """A prompt without the warning under it."""
    assert text.endswith(WARNING)
    return text.removesuffix(WARNING).rstrip("\n")


def test_fields_stand_where_the_template_has_them():
    payload = {"repo": {"name": "hermes"}, "commits": [{"message": "one"}, {"message": "two"}]}

    prompt = render("Look at {{repo.name}}: {{ commits.1.message }} ({{ @event }})", payload)

    assert told(prompt) == "Look at ⟦hermes⟧: ⟦two⟧ (⟦push⟧)"


def test_a_field_that_is_missing_is_said_to_be_missing():
    prompt = render("{{ a.b }} {{ list.5 }} {{ list.x }}", {"a": {}, "list": [1]})

    assert told(prompt) == "(missing: a.b) (missing: list.5) (missing: list.x)"


def test_what_is_no_text_is_shown_as_json():
    assert told(render("{{ a }} {{ b }}", {"a": None, "b": True})) == "⟦null⟧ ⟦true⟧"


@pytest.mark.parametrize("path", ["a.__class__", "a.format", "__class__.__mro__", "a.0.__init__"])
def test_nothing_but_the_bodys_own_keys_can_be_reached(path):
    assert told(render(f"{{{{ {path} }}}}", {"a": "text"})) == f"(missing: {path})"


def test_an_event_cannot_bring_fields_of_its_own():
    assert told(render("{{ a }}", {"a": "{{ @body }}", "secret": 1})) == "⟦{{ @body }}⟧"


@given(JSON, st.text(), st.text())
def test_outside_the_signs_stands_only_what_staff_wrote(payload, name, event_id):
    words = "Event {} of {}:\n{}"
    template = words.format("{{ @id }}", "{{ @event }}", "{{ @body }}")

    prompt = render(template, payload, name=name, event_id=event_id)

    assert OUTSIDE.sub("{}", told(prompt)) == words


@given(st.text())
def test_any_text_is_a_template_or_is_refused_in_words(text):
    problem = templates.problem_with(text)

    if not problem:
        assert told(render(text, {})) is not None
    else:
        with pytest.raises(BadTemplate):
            render(text or "x", {})


@pytest.mark.parametrize(
    "template",
    ["{{ }}", "{{ a | upper }}", "{{ a.b() }} }}", "{{ a", "{% if a %}{{", "{{ @x }}", "⟦"],
)
def test_a_template_that_is_wrong_says_what_is_wrong(template):
    assert templates.problem_with(template)


def test_an_empty_template_tells_all_there_is():
    prompt = told(render("  ", {"a": 1}))

    assert "⟦deploys⟧" in prompt
    assert '"a": 1' in prompt


def test_a_huge_event_is_cut_and_says_so():
    prompt = render("{{ a }} {{ b }}" + "{{ a }}" * 20, {"a": "x" * 50_000, "b": "y"})

    assert len(prompt) < templates.LONGEST_PROMPT + 3000
    assert "(cut; 50000 characters in all)" in prompt


def test_a_prompt_is_text_that_every_database_holds():
    prompt = render("{{ a }}", {"a": "\x00\ud800 \U0001f600"})

    prompt.encode()
    assert "\x00" not in prompt
