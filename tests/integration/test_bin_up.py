"""bin/up on a fresh clone: what it answers before anything is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def clone(tmp_path):
    """As much of a clone as is read before the environment is made."""
    shutil.copytree(PROJECT / "bin", tmp_path / "bin")
    options = Path("hermes_site/supervisor/options.py")
    (tmp_path / options.parent).mkdir(parents=True)
    shutil.copy(PROJECT / options, tmp_path / options)
    return tmp_path


def up(clone, *arguments, program="up", **environment):
    return subprocess.run(
        ["sh", str(clone / "bin" / program), *arguments],
        env={"PATH": os.environ["PATH"], "HERMES_PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def is_untouched(clone) -> bool:
    return not (clone / ".venv").exists() and not (clone / "data").exists()


@pytest.mark.parametrize("flag", ["--help", "-h", "--hel"])
def test_help_needs_nothing_installed(clone, flag):
    result = up(clone, flag)

    assert (result.returncode, result.stderr) == (0, "")
    assert "--data-dir" in result.stdout
    assert is_untouched(clone)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--prot", "1"], "unrecognized arguments: --prot 1"),
        (["--port", "99999"], "'99999' is not a port: it must be a whole number from 0 to 65535"),
        (["--port", "web"], "'web' is not a port"),
        (["--workers", "0"], "'0' is not a number of processes"),
        (["--ready-within", "soon"], "'soon' is not a time"),
        (["--ready-within", "nan"], "'nan' is not a time"),
    ],
)
def test_a_wrong_word_is_refused_before_anything_is_installed(clone, arguments, said):
    result = up(clone, *arguments)

    assert result.returncode == 2
    assert said in result.stderr
    assert is_untouched(clone)


@pytest.mark.parametrize("program", ["up", "test"])
def test_a_python_that_is_named_and_does_not_fit_is_not_replaced_by_another(clone, program):
    result = up(clone, program=program, HERMES_PYTHON="/nonexistent/python")

    assert result.returncode == 1
    assert "HERMES_PYTHON is /nonexistent/python" in result.stderr
    assert is_untouched(clone)


def test_an_environment_of_another_python_than_the_named_one_is_left_alone(clone):
    other = clone / ".venv" / "bin" / "python"
    other.parent.mkdir(parents=True)
    other.write_text('#!/bin/sh\ncase "$3" in *print*) echo 3.9 ;; esac\n')
    other.chmod(0o755)

    result = up(clone)

    assert result.returncode == 1
    assert "was made with Python 3.9" in result.stderr
    assert not (clone / ".venv" / "install.log").exists()


def test_the_help_of_the_checks_needs_nothing_installed(clone):
    result = up(clone, "--help", program="test")

    assert (result.returncode, result.stderr) == (0, "")
    assert "bin/test --fast" in result.stdout
    assert is_untouched(clone)
