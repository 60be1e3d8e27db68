"""The commands that start the processes, as they are run and as they are shown."""

import shlex
from pathlib import Path

import pytest

from gateway import launching

PROJECT = Path("/opt/hermes")


def typed(command, python="/opt/hermes/.venv/bin/python", data="/opt/hermes/data"):
    return launching.typed(command, python=Path(python), project=PROJECT, data_dir=Path(data))


def test_a_worker_takes_turns_and_upkeep_in_threads() -> None:
    words = launching.arguments(launching.WORKER)

    assert words[words.index("-Q") + 1] == "turns,upkeep"
    assert words[words.index("--pool") + 1] == "threads"


def test_a_command_is_shown_with_the_python_of_the_installation() -> None:
    assert typed("python manage.py migrate") == ".venv/bin/python manage.py migrate"
    elsewhere = typed("python manage.py migrate", python="/usr/bin/python3")
    assert elsewhere == "/usr/bin/python3 manage.py migrate"


def test_a_command_for_another_data_directory_names_it() -> None:
    line = typed("python manage.py migrate", data="/srv/my data")

    assert line.startswith("HERMES_DATA_DIR='/srv/my data' .venv/bin/python ")


@pytest.mark.parametrize("command", launching.COMMANDS.values())
def test_what_is_shown_is_what_is_run(command) -> None:
    assert shlex.split(typed(command))[1:] == list(launching.arguments(command))
