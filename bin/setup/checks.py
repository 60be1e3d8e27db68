"""Every check of this project, one after the other; pytest last. See bin/test."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from chromium import find_or_install

PROJECT = Path(__file__).resolve().parent.parent.parent
TOOLS = Path(sys.executable).parent
NOTHING_COLLECTED = (
    5  # pytest's exit code, https://docs.pytest.org/en/stable/reference/exit-codes.html
)
AUDITOR = "pip-audit==2.10.1"
SLOW = "not acceptance and not browser"
# Stories with real processes mostly wait, so there is room for one more than the two cores that
# are the least. They stand first, all in one process's share: whoever is done takes from it.
SIDE_BY_SIDE = ("-n", "3", "--dist", "worksteal")
STATIC = {
    "ruff check": (str(TOOLS / "ruff"), "check", "--quiet", "."),
    "ruff format": (str(TOOLS / "ruff"), "format", "--quiet", "--check", "."),
    "mypy": (
        str(TOOLS / "mypy"),
        "--no-error-summary",
        "delivery",
        "clarify",
        "gateway",
        "hermes_site",
    ),
    "import contracts": (str(TOOLS / "lint-imports"),),
    "migrations are complete": (
        *(sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"),
        *("--settings", "hermes_site.settings.test"),
    ),
}


@dataclass(frozen=True)
class Run:
    """One run of pytest."""

    title: str
    database: str
    arguments: tuple[str, ...]


def main(arguments: list[str]) -> int:
    """Run all checks; 0 if all hold, else the exit code of the last one that does not."""
    fast = "--fast" in arguments
    chosen = [argument for argument in arguments if argument not in {"--fast", "--audit"}]
    failed: dict[str, int] = {}
    if fast or find_or_install(say):
        browser = True
    else:
        browser = False
        if os.environ.get("CI", "").lower() in {"1", "true", "yes"}:
            failed["a browser for the browser tests"] = 1
    with tempfile.TemporaryDirectory() as scratch:  # a fresh clone has no data directory yet
        for title, command in STATIC.items():
            note(failed, title, run(title, command, HERMES_DATA_DIR=scratch))
        if "--audit" in arguments:
            note(failed, "audit of the pins", audit(Path(scratch)))
    for step in pytest_runs(chosen, fast=fast, browser=browser):
        command = (sys.executable, "-m", "pytest", *step.arguments)
        if failed:
            say(f"Failed so far: {', '.join(failed)}")
        code = run(step.title, command, TEST_DATABASE=step.database)
        note(failed, step.title, 0 if code == NOTHING_COLLECTED else code)
    return list(failed.values())[-1] if failed else 0


def audit(scratch: Path) -> int:
    """Compare the pins with the weaknesses that are known of them; it asks PyPI.

    The tool has an environment of its own, for the time of the check: it is no part of ours.
    """
    home = scratch / "audit"
    steps = [
        (sys.executable, "-m", "venv", str(home)),
        (str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", AUDITOR),
        (
            *(str(home / "bin" / "python"), "-m", "pip_audit", "--disable-pip", "--no-deps"),
            *("--requirement", str(PROJECT / "requirements.txt")),
        ),
    ]
    return next((code for step in steps if (code := run("audit of the pins", step))), 0)


def pytest_runs(chosen: list[str], *, fast: bool, browser: bool) -> list[Run]:
    """The runs of pytest, the most complete one last."""
    marks = SLOW if fast else "" if browser else "not browser"
    everything = ("-q", *SIDE_BY_SIDE, *(("-m", marks) if marks else ()), *chosen)
    named = os.environ.get("TEST_DATABASE")
    on_sqlite = Run("pytest on SQLite", "sqlite", everything)
    on_postgres = Run("pytest on PostgreSQL", "postgres", everything)
    if fast or named:
        return [on_postgres if named == "postgres" else on_sqlite]
    names_places = any(not argument.startswith("-") for argument in chosen)
    if not names_places:
        # The rest needs no database, or starts its own of both kinds: once is enough.
        on_sqlite = replace(on_sqlite, arguments=(*everything, "tests/integration"))
    return [on_sqlite, on_postgres]


def run(title: str, command: tuple[str, ...], **environment: str) -> int:
    """Run one check, its output as it comes; its exit code."""
    say(f"== {title}")
    began = time.monotonic()
    code = subprocess.run(
        command, cwd=PROJECT, env={**os.environ, **environment}, check=False
    ).returncode
    if "pytest" not in title:
        say(f"   {'ok' if code == 0 else 'FAILED'} ({time.monotonic() - began:.0f} s)")
    return code


def note(failed: dict[str, int], title: str, code: int) -> None:
    """Remember a failure."""
    if code != 0:
        failed[title] = code


def say(text: str) -> None:
    """Tell the person at the terminal, in order with what the checks print."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
