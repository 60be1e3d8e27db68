"""A real Chromium for the browser tests: found, or installed where that is possible."""

import os
import shutil
import subprocess
from collections.abc import Callable

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ADVICE = """
!! NO CHROMIUM: THE BROWSER TESTS ARE SKIPPED.
!!   Debian:  sudo apt-get install chromium
!!   Fedora:  sudo dnf install chromium
!!   macOS:   brew install --cask google-chrome, then put it on the PATH as google-chrome
"""


def find_or_install(say: Callable[[str], None]) -> bool:
    """Whether there is a browser, installing one as root on a machine with apt.

    Args:
        say: Tells the person at the terminal what happens.
    """
    if installed():
        return True
    if os.getuid() == 0 and shutil.which("apt-get"):
        say("== Installing Chromium for the browser tests (a minute or so)")
        if not apt("install", "--yes", "--no-install-recommends", "chromium"):
            apt("update")
            apt("install", "--yes", "--no-install-recommends", "chromium")
    if not installed():
        say(ADVICE)
        return False
    return True


def installed() -> str | None:
    """The path of the browser, if there is one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def apt(*arguments: str) -> bool:
    """Run apt-get without questions; whether it worked."""
    command = ["apt-get", "--quiet=2", *arguments]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return (
        subprocess.run(command, env=environment, check=False, capture_output=True).returncode == 0
    )
