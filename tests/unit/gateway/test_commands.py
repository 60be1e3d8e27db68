"""Text that is a command, and text that only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.commands import COMMANDS, Command, UnknownCommand, help_text, parse

NAMES = [name for spec in COMMANDS for name in (spec.name, *spec.aliases)]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_and_alias_is_understood(name: str) -> None:
    for text in (f"/{name}", f"/{name.upper()}", f"  /{name}\n", f"/{name}@some_bot"):
        found = parse(text)
        assert isinstance(found, Command)
        assert name in {found.spec.name, *found.spec.aliases}


def test_no_two_commands_share_a_name() -> None:
    assert len(NAMES) == len(set(NAMES))


def test_the_rest_of_a_command_keeps_its_lines() -> None:
    found = parse("/stop  everything\nat once ")
    assert isinstance(found, Command)
    assert found.rest == "everything\nat once"


@pytest.mark.proves("T5")
@pytest.mark.parametrize(
    "text",
    [
        *("/etc/hosts", "/usr/bin/env python", "/ home", "//", "/", "", "stop", "1/2"),
        *("/home/ada is full", "what does /stop do?", "/2", "/söp", "/" + "a" * 40),
    ],
)
def test_a_path_or_a_sentence_is_no_command(text: str) -> None:
    assert parse(text) is None


@pytest.mark.proves("T5")
@pytest.mark.parametrize(
    ("text", "nearest"), [("/stpo", "stop"), ("/hlep me", "help"), ("/xyzzy", "")]
)
def test_a_mistyped_command_gets_the_nearest_one(text: str, nearest: str) -> None:
    found = parse(text)
    assert found == UnknownCommand(text.split(maxsplit=1)[0][1:], nearest)


def test_help_lists_every_command() -> None:
    assert all(f"`/{spec.name}`" in help_text() for spec in COMMANDS)


@given(st.text(max_size=40))
def test_any_text_at_all_can_be_asked_about(text: str) -> None:
    found = parse(text)
    assert found is None or text.strip().startswith("/")
