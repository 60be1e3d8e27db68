import functools
import os
import signal
from importlib import import_module
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

ARMED = "dies-at"
# The functions whose beginning and end are such places, each called by its module's name.
FUNCTIONS = (
    "gateway.turns.claim",
    "gateway.turns.checkpoint",
    "gateway.turns.begin_tool",
    "gateway.turns.finish_tool",
    "gateway.turns.wait",
    "gateway.turns.finish",
    "gateway.turns.on_prompt_resolved",
    "gateway.intake.receive",
    "gateway.accounts.confirm",
    "delivery.ledger.claim_due",
    "delivery.ledger.accept",
    "delivery.ledger.postpone",
    "delivery.ledger.claims._mark_lost",
)


class FatalConfig(AppConfig):
    name = "tests.acceptance.fatal"
    label = "fatal"

    def ready(self) -> None:
        armed = settings.DATA_DIR / ARMED
        for path in FUNCTIONS:
            module_name, _, name = path.rpartition(".")
            module = import_module(module_name)
            setattr(module, name, deadly(getattr(module, name), f"{module_name}.{name}", armed))


def deadly(function, name: str, armed: Path):
    """`function`, at whose beginning or end the process dies when it is told to."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        die_if_told(armed, f"{name}:before")
        result = function(*args, **kwargs)
        # Looking at what is due is no work; dying there would be no story.
        if result or result is None:
            die_if_told(armed, f"{name}:after")
        return result

    return wrapped


def die_if_told(armed: Path, place: str) -> None:
    try:
        if armed.read_text() != place:
            return
        armed.rename(armed.with_suffix(".done"))
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
