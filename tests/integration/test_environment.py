"""bin/setup/environment.py with a stand-in for pip: what is installed, when, and what is said."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent.parent / "bin" / "setup" / "environment.py"
PIP = """#!/bin/sh
echo run >> "{calls}"
sleep 0.3
{body}
"""


@pytest.fixture
def environment(tmp_path):
    place = tmp_path / "venv"
    (place / "bin").mkdir(parents=True)
    (place / "pyvenv.cfg").touch()
    (tmp_path / "wanted.txt").write_text("one==1\ntwo==2\n")
    use_pip(tmp_path, "echo Successfully installed")
    return tmp_path


def use_pip(directory: Path, body: str) -> None:
    python = directory / "venv" / "bin" / "python"
    python.write_text(PIP.format(calls=directory / "calls", body=body))
    python.chmod(0o755)


def begin(directory: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), str(directory / "venv"), str(directory / "wanted.txt")]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def prepare(directory: Path) -> tuple[int, str]:
    process = begin(directory)
    said = process.communicate()[1]
    return process.returncode, said


def calls(directory: Path) -> int:
    return (directory / "calls").read_text().count("run")


def test_requirements_are_installed_once_and_again_only_when_they_change(environment):
    assert prepare(environment)[0] == 0
    assert prepare(environment) == (0, "")
    assert calls(environment) == 1

    (environment / "wanted.txt").write_text("one==1\ntwo==3\n")

    assert prepare(environment)[0] == 0
    assert calls(environment) == 2


def test_two_at_once_install_once(environment):
    both = [begin(environment), begin(environment)]

    ends = [(process.communicate()[1], process.returncode) for process in both]

    assert [code for _, code in ends] == [0, 0]
    assert calls(environment) == 1
    assert any("waiting for it" in said for said, _ in ends)


@pytest.mark.parametrize(
    ("pip_says", "cure"),
    [
        ("ERROR: No space left on device", "The disk is full"),
        ("ERROR: No matching distribution found for one==1", "Try another Python"),
        ("ERROR: Connection refused", "Is the network there?"),
    ],
)
def test_a_failure_says_what_to_do_and_is_not_taken_for_done(environment, pip_says, cure):
    use_pip(environment, f"echo '{pip_says}'; exit 1")

    code, said = prepare(environment)

    assert code == 1
    assert pip_says in said
    assert cure in said
    assert prepare(environment)[0] == 1


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path):
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "thesis.txt").write_text("years of work")
    (tmp_path / "wanted.txt").write_text("one==1\n")

    code, said = prepare(tmp_path)

    assert code == 1
    assert "nothing is touched" in said
    assert (tmp_path / "venv" / "thesis.txt").exists()
