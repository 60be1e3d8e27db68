"""`manage.py up`: from a command line to a running installation and an exit code."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence

from hermes_site.supervisor import postgres
from hermes_site.supervisor.checks import (
    claim_port,
    refuse_a_full_disk,
    refuse_an_unfit_environment,
)
from hermes_site.supervisor.errors import CannotStart
from hermes_site.supervisor.home import PRIVATE, Home
from hermes_site.supervisor.journal import Terminal
from hermes_site.supervisor.options import Options, parse
from hermes_site.supervisor.plan import (
    basic_environment,
    data_directory,
    directory_mode,
    is_named,
    make_plan,
    uses_embedded_postgres,
)
from hermes_site.supervisor.services import Plan
from hermes_site.supervisor.supervisor import Supervisor

PLANNER = Callable[..., Plan]
EXAMINER = Callable[..., None]


def main(
    arguments: Sequence[str],
    *,
    planner: PLANNER = make_plan,
    examiner: EXAMINER = refuse_an_unfit_environment,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run an installation until it is told to stop.

    Args:
        arguments: The command line, without the program.
        planner: Decides what to run; as `make_plan`.
        examiner: Looks at the environment first; as `refuse_an_unfit_environment`.
        environment: The environment to hand on; our own by default.

    Returns:
        The exit code: 0 after a clean stop, else that of the error.
    """
    terminal = Terminal()
    options = parse(arguments)
    try:
        run(options, terminal, environment or dict(os.environ), planner, examiner)
    except CannotStart as error:
        terminal.say(f"Cannot start: {error}")
        return error.exit_code
    terminal.say("Stopped.")
    return 0


def run(
    options: Options,
    terminal: Terminal,
    environment: Mapping[str, str],
    planner: PLANNER,
    examiner: EXAMINER,
) -> None:
    """Check, lock, plan, and supervise until told to stop.

    What can be refused is refused before anything is made: a wrong word in the command line or
    the environment leaves no trace.

    Raises:
        CannotStart: It did not start, or did not become ready.
    """
    root = data_directory(options, environment)
    with_postgres = uses_embedded_postgres(options, root, environment)
    mode = directory_mode(with_postgres=with_postgres)
    if mode != PRIVATE:
        os.umask(0o077)  # others may pass through: every file must guard itself
    home = Home(root, mode=mode)
    if not home.is_new:
        home.lock()
    try:
        refuse_a_full_disk(root)
        port = claim_port(options.host, options.port)
        if with_postgres:
            postgres.programs()
        examiner(
            basic_environment(root, environment),
            with_database=is_named("DATABASE_URL", environment),
            with_broker=is_named("REDIS_URL", environment),
        )
        home.make()
        home.lock()
        terminal.say(f"Hermes Gateway; everything is kept in {root}, logs in {home.logs}")
        plan = planner(options, home, environment, port=port)
        asyncio.run(supervise(plan, home, terminal, options.ready_within_seconds))
    finally:
        home.unlock()


async def supervise(plan: Plan, home: Home, terminal: Terminal, seconds: float) -> None:
    """Run one plan on this event loop."""
    await Supervisor(plan, home, terminal, ready_within_seconds=seconds).run()
