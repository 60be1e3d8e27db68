"""Celery tasks of the gateway: thin, given ids only, safe to run twice."""

import logging
import sys
import threading
from typing import Any

from celery import shared_task
from celery.signals import task_postrun, worker_ready, worker_shutting_down
from django.db import connection
from django.utils import timezone

from delivery import bearings, masking
from delivery.database import DATABASE_AWAY
from delivery.processes import this_process
from gateway import barring, execution, processes, turns, upkeep
from gateway.agents.configured import installed_tools, model_config
from gateway.agents.loop import EdgeLoop
from gateway.agents.runtime import AgentRuntime
from gateway.conf import gateway_settings
from gateway.models import Turn
from gateway.states import FailureKind
from gateway.workbench import workbench

logger = logging.getLogger(__name__)

GIVE_BACK_TRIES = 120  # one a second
SWITCH_SECONDS = 0.0005
LAST_SECONDS = 6.0  # for turns under way when the worker is told to end

_edge = EdgeLoop()
_shutting_down = threading.Event()
_runtimes: dict[str, AgentRuntime] = {}


def runtime() -> AgentRuntime:
    """The agent runtime of this process."""
    if "one" not in _runtimes:
        _runtimes["one"] = AgentRuntime(model_config(), tools=installed_tools(), edge=_edge)
    return _runtimes["one"]


@shared_task(name="gateway.run_turns", acks_late=True)
def run_turns(*, conversation: int, **_future: object) -> None:
    """Run what is due in one conversation, in order, until nothing is."""
    capacity = gateway_settings().max_concurrent_turns
    while not (_shutting_down.is_set() or workbench.is_full()):
        barring.bar_next(conversation, now=timezone.now())
        turn = turns.claim(conversation, this_process(), now=timezone.now(), capacity=capacity)
        if turn is None:
            return
        try:
            with masking.people(*turn.ids):
                _run(turn)
        except DATABASE_AWAY:
            return
        _make_way(turn, capacity)


def _run(turn: Turn) -> None:
    try:
        with bearings.about(turn=turn.pk, conversation=turn.conversation_id):
            execution.run(turn, runtime())
    except DATABASE_AWAY:
        logger.exception("The database went away under a turn", extra={"turn": turn.pk})
        _give_back(turn)
        raise
    except Exception as error:
        # Whatever went wrong is ours; the person hears of it, and staff read the log.
        logger.exception("A turn failed", extra={"turn": turn.pk})
        _fail(turn, error)


def _make_way(ended: Turn, capacity: int) -> None:
    try:
        turns.make_way(ended, now=timezone.now(), capacity=capacity)
    except DATABASE_AWAY:
        logger.exception("Whoever waits for room is woken by the sweep")


def _give_back(turn: Turn) -> None:
    """Lay a turn down as soon as the database lets us; else its lease runs out by itself."""
    for _ in range(GIVE_BACK_TRIES):
        try:
            turns.give_back(turn, now=timezone.now())
        except DATABASE_AWAY:
            connection.close()
            if _shutting_down.wait(1.0):
                return
        else:
            return


def _fail(turn: Turn, error: Exception) -> None:
    line = "Something went wrong on this side, and the work was not finished."
    try:
        detail = f"{type(error).__name__}: {error}"
        turns.fail(turn, FailureKind.INTERNAL, line, detail, now=timezone.now())
    except Exception:
        logger.exception("A failed turn could not be ended", extra={"turn": turn.pk})


@shared_task(name="gateway.upkeep")
def run_upkeep(**_future: object) -> None:
    """Put right whatever was lost."""
    upkeep.tick(now=timezone.now())


@shared_task(name="gateway.housekeeping")
def run_housekeeping(**_future: object) -> None:
    """Drop what nobody needs any more."""
    upkeep.housekeeping(now=timezone.now())


@task_postrun.connect
def _give_connection_back(**_facts: Any) -> None:
    # Of every task: there are more threads than connections, and an idle one must hold none.
    execution.release_connection()


@worker_ready.connect
def _open_workbench(**_facts: Any) -> None:
    sys.setswitchinterval(SWITCH_SECONDS)
    workbench.open(_edge.submit)
    # The agent library takes a second to import: let that be over before the first message comes.
    threading.Thread(target=runtime().warm_up, name="warm-up", daemon=True).start()
    now = timezone.now()
    processes.beat("worker", now=now)
    upkeep.tick(now=now)
    run_upkeep.apply_async(queue="upkeep")


@worker_shutting_down.connect
def _close_workbench(**_facts: Any) -> None:
    """Give turns under way a moment to end by themselves; lay down the rest for another worker."""
    _shutting_down.set()
    timer = threading.Timer(LAST_SECONDS, workbench.stop_all)
    timer.daemon = True
    timer.start()
