"""What people are told to do is what the code does."""

import textwrap
from pathlib import Path

from gateway.platforms.webhook import samples
from gateway.platforms.webhook.schemes import Kind, Rule
from gateway.platforms.webhook.wire import Sources

PAGE = Path(__file__).resolve().parents[4] / "docs" / "webhooks.md"
URL = "http://127.0.0.1:8000/hooks/deploys"


def test_the_script_of_the_documentation_is_the_one_that_staff_are_shown():
    script = samples.script(Rule(kind=Kind.STANDARD), Sources(), URL)

    assert textwrap.indent(script, "   ") in PAGE.read_text()


def test_the_documentation_names_every_scheme():
    page = PAGE.read_text()

    assert [kind for kind in Kind if f"| `{kind.value}` |" not in page] == []
