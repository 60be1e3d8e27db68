"""How each kind of process is started: the one place for `bin/up`, advice to staff and docs. Pure.

A command begins with the word `python`; whoever runs or shows it puts the right Python there.
"""

import shlex
from pathlib import Path

# Threads of one worker process. A turn mostly waits for a model, so they are cheap; the number
# stands a little above the default of HERMES_MAX_CONCURRENT_SESSIONS to leave room for upkeep.
WORKER_THREADS = 140

GATEWAY = "python manage.py run_gateway"
# The pool must be one of threads: limits and stops of turns are made for it. Workers need not know
# each other; asking around costs a second at every start.
WORKER = (
    "python -m celery -A hermes_site worker"
    f" --pool threads --concurrency {WORKER_THREADS} -Q turns,upkeep"
    " --without-mingle --without-gossip --without-heartbeat"
)
BEAT = "python -m celery -A hermes_site beat --pidfile="

# By the kind that a process gives itself when it says that it is alive.
COMMANDS = {"gateway": GATEWAY, "worker": WORKER, "beat": BEAT}


def arguments(command: str) -> tuple[str, ...]:
    """What `command` gives to Python."""
    return tuple(shlex.split(command)[1:])


def typed(command: str, *, python: Path, project: Path, data_dir: Path) -> str:
    """`command` as it can be pasted into a shell that stands in the project's directory.

    Args:
        command: It begins with `python`.
        python: The Python of this installation.
        project: Where the code is.
        data_dir: The data directory of this installation.
    """
    if python.is_relative_to(project):
        python = python.relative_to(project)
    is_usual = data_dir == project / "data"
    where = "" if is_usual else f"HERMES_DATA_DIR={shlex.quote(str(data_dir))} "
    return f"{where}{shlex.quote(str(python))} {command.removeprefix('python ')}"
