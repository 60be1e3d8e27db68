"""Makes the virtual environment, and installs the pinned requirements when they have changed.

    python bin/setup/environment.py VENV REQUIREMENTS

Standard library only: it runs before anything is installed. Two runs at once take turns.
"""

import fcntl
import hashlib
import re
import subprocess
import sys
import time
import venv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

PROJECT = Path(__file__).resolve().parent.parent.parent
SHOWN_LINES = 15
PROGRESS_EVERY = 20
# The first sign in pip's output -> what to do about it.
REMEDIES = {
    "No space left": "The disk is full: make about 1 GB of room and run this again.",
    "No matching distribution": (
        "A package has no version for this Python or machine. Try another Python (3.11 to 3.13):"
        " HERMES_PYTHON=/path/to/python bin/up"
    ),
    "Permission denied": "This user may not write there: run as the owner of this clone.",
    "CERTIFICATE_VERIFY_FAILED": (
        "The network's certificate is not trusted: set PIP_CERT to your organisation's bundle."
    ),
}
NETWORK_REMEDY = (
    "Is the network there? Behind a proxy set HTTPS_PROXY; with a mirror set PIP_INDEX_URL."
    " Then run this again: what was downloaded is kept."
)


def main(place: str, requirements: str) -> int:
    """Make the environment at `place` hold `requirements`; the exit code."""
    environment, wanted = Path(place).absolute(), PROJECT / requirements
    if is_current(environment, wanted):
        return 0
    with taking_turns(environment):
        if is_current(environment, wanted):
            return 0
        began = time.monotonic()
        if not works(environment):
            if not may_be_replaced(environment):
                say(f"{environment} holds something else than an environment; nothing is touched.")
                return 1
            say(f"Making a Python environment in {environment}")
            venv.create(environment, with_pip=True, clear=True, symlinks=True)
        if not install(environment, wanted):
            return 1
        for path in {wanted, PROJECT / "requirements.txt"}:  # every set includes the run-time one
            stamp(environment, path).write_text(digest(path), encoding="ascii")
        say(f"The environment is ready after {time.monotonic() - began:.0f} s")
    return 0


def is_current(environment: Path, requirements: Path) -> bool:
    """Whether these very requirements are installed already."""
    seal = stamp(environment, requirements)
    return works(environment) and seal.exists() and seal.read_text() == digest(requirements)


def works(environment: Path) -> bool:
    """Whether the environment's Python is still there; false for a link to one that is gone."""
    return (environment / "bin" / "python").exists()


def may_be_replaced(environment: Path) -> bool:
    """Whether there is nothing at that place, or what is left of an environment."""
    if not environment.exists():
        return True
    return (environment / "pyvenv.cfg").exists() or not any(environment.iterdir())


def stamp(environment: Path, requirements: Path) -> Path:
    """Where it is noted which requirements were installed; written last."""
    return environment / f".{requirements.name}.sha256"


def digest(requirements: Path) -> str:
    """What the requirements are, with the Python they are installed for."""
    version = ".".join(str(part) for part in sys.version_info[:2])
    return hashlib.sha256(requirements.read_bytes() + version.encode()).hexdigest()


@contextmanager
def taking_turns(environment: Path) -> Iterator[None]:
    """Let one run work on the environment at a time, and the others wait."""
    environment.parent.mkdir(parents=True, exist_ok=True)
    with environment.with_name(f"{environment.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another run is preparing the environment; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(environment: Path, requirements: Path) -> bool:
    """Run pip, showing how far it is; whether it worked."""
    total = sum(
        1 for line in requirements.read_text().splitlines() if re.match(r"[\w.\[\]-]+==", line)
    )
    log_path = environment / "install.log"
    command = [
        *(str(environment / "bin" / "python"), "-m", "pip", "install", "--no-input"),
        *("--disable-pip-version-check", "--progress-bar", "off", "-r", str(requirements)),
    ]
    say(f"Installing {requirements.name} ({total} packages; a minute or two the first time)")
    pip = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with log_path.open("w", encoding="utf-8") as log:
        lines = list(show_progress(recorded(pip.stdout or (), log), total))
    if pip.wait() == 0:
        return True
    text = "".join(lines)
    say("Installing failed. The last lines of pip:")
    for line in lines[-SHOWN_LINES:]:
        say(f"    {line.rstrip()}")
    say(next((cure for sign, cure in REMEDIES.items() if sign in text), NETWORK_REMEDY))
    say(f"All of pip's output: {log_path}")
    return False


def recorded(lines: Iterable[str], log: TextIO) -> Iterator[str]:
    """The lines, each written to the log on its way."""
    for line in lines:
        log.write(line)
        log.flush()
        yield line


def show_progress(lines: Iterable[str], total: int) -> Iterator[str]:
    """The lines, with a word to the terminal at each phase."""
    fetched = 0
    for line in lines:
        if line.startswith(("Collecting ", "Processing ")):
            fetched += 1
            if fetched % PROGRESS_EVERY == 0:
                say(f"  fetched {min(fetched, total)} of {total}")
        elif line.startswith("Installing collected packages"):
            say("  all fetched; unpacking")
        yield line


def say(text: str) -> None:
    """Tell the person at the terminal; standard output stays free for the command."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        say("Stopped; run it again to go on.")
        sys.exit(130)
