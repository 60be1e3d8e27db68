"""`manage.py up`: from a command line to a running installation and an exit code."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence

from hermes_site.supervisor.checks import claim_port, refuse_a_full_disk
from hermes_site.supervisor.errors import CannotStart
from hermes_site.supervisor.home import PRIVATE, Home
from hermes_site.supervisor.journal import Terminal
from hermes_site.supervisor.options import Options, parse
from hermes_site.supervisor.plan import (
    data_directory,
    directory_mode,
    make_plan,
    uses_embedded_postgres,
)
from hermes_site.supervisor.services import Plan
from hermes_site.supervisor.supervisor import Supervisor

PLANNER = Callable[..., Plan]


def main(
    arguments: Sequence[str],
    *,
    planner: PLANNER = make_plan,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run an installation until it is told to stop.

    Args:
        arguments: The command line, without the program.
        planner: Decides what to run; as `make_plan`.
        environment: The environment to hand on; our own by default.

    Returns:
        The exit code: 0 after a clean stop, else that of the error.
    """
    terminal = Terminal()
    options = parse(arguments)
    try:
        run(options, terminal, planner=planner, environment=environment or dict(os.environ))
    except CannotStart as error:
        terminal.say(f"Cannot start: {error}")
        return error.exit_code
    terminal.say("Stopped.")
    return 0


def run(
    options: Options, terminal: Terminal, *, planner: PLANNER, environment: Mapping[str, str]
) -> None:
    """Check, lock, plan, and supervise until told to stop.

    Raises:
        CannotStart: It did not start, or did not become ready.
    """
    root = data_directory(options, environment)
    with_postgres = uses_embedded_postgres(options, root, environment)
    mode = directory_mode(with_postgres=with_postgres)
    if mode != PRIVATE:
        os.umask(0o077)  # others may pass through: every file must guard itself
    home = Home(root, mode=mode)
    home.lock()
    try:
        refuse_a_full_disk(root)
        port = claim_port(options.host, options.port)
        terminal.say(f"Hermes Gateway; everything is kept in {root}, logs in {home.logs}")
        plan = planner(options, home, environment, port=port)
        asyncio.run(supervise(plan, home, terminal, options.ready_within_seconds))
    finally:
        home.unlock()


async def supervise(plan: Plan, home: Home, terminal: Terminal, seconds: float) -> None:
    """Run one plan on this event loop."""
    await Supervisor(plan, home, terminal, ready_within_seconds=seconds).run()
