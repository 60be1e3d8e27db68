"""What `bin/test` runs, and that continuous integration runs the same."""

import importlib.util
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SETUP = PROJECT / "bin" / "setup"


@pytest.fixture
def checks(monkeypatch):
    monkeypatch.syspath_prepend(str(SETUP))
    spec = importlib.util.spec_from_file_location("checks_of_bin_test", SETUP / "checks.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.proves("I2")
def test_style_types_contracts_and_migrations_are_checked(checks) -> None:
    tools = {Path(command[0]).name for command in checks.STATIC.values()}

    assert {"ruff", "mypy", "lint-imports"} <= tools
    assert any("makemigrations" in command for command in checks.STATIC.values())


@pytest.mark.proves("I2")
def test_an_ordinary_run_leaves_nothing_out_and_uses_both_databases(checks, monkeypatch) -> None:
    monkeypatch.delenv("TEST_DATABASE", raising=False)

    part, everything = checks.pytest_runs([], fast=False, browser=True)

    assert (part.database, everything.database) == ("sqlite", "postgres")
    assert "tests/integration" in part.arguments
    assert not {"-m", "-k"} & set(everything.arguments)


def test_a_fast_run_starts_no_process_and_no_browser(checks, monkeypatch) -> None:
    monkeypatch.delenv("TEST_DATABASE", raising=False)

    (run,) = checks.pytest_runs([], fast=True, browser=False)

    assert (run.database, "not acceptance and not browser" in run.arguments) == ("sqlite", True)


@pytest.mark.proves("I2")
def test_continuous_integration_runs_the_same_command() -> None:
    assert "bin/test" in (PROJECT / ".ci" / "run").read_text()
