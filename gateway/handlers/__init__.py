"""What each command does, in the transaction of the message that gave it.

Each module holds the commands about one thing; `HANDLERS` names them all. Whoever adds a command
writes a function from `Given` to `Done`, a line here, and a line in `gateway.commands`.
"""

from collections.abc import Callable

from gateway.handlers import about, choosing, identity, ruling, saying, scheduling, working
from gateway.handlers.given import Done, Given

__all__ = ["HANDLERS", "Done", "Given", "run"]

HANDLERS: dict[str, Callable[[Given], Done]] = {
    "help": about.show_help,
    "status": working.status,
    "new": working.new,
    "stop": working.stop,
    "queue": saying.queue,
    "steer": saying.steer,
    "retry": saying.retry,
    "undo": saying.undo,
    "title": choosing.title,
    "resume": choosing.resume,
    "model": choosing.model,
    "usage": choosing.usage,
    "sethome": choosing.sethome,
    "skip": ruling.skip,
    "approve": ruling.approve,
    "deny": ruling.deny,
    "background": scheduling.background,
    "tasks": scheduling.tasks,
    "cron": scheduling.cron,
    "pair": identity.pair,
    "link": identity.link,
    "unlink": identity.unlink,
    "whoami": about.whoami,
}


def run(given: Given) -> Done:
    """Do what a command says."""
    return HANDLERS[given.command.spec.name](given)
