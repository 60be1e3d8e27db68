"""Real threads that do the same thing at the same moment, each with its own connection."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections


def race(*runners: Callable[[], Any], within: float = 60.0) -> list[Any]:
    """Run every function at once; what each gave, or the exception it raised, in order."""
    start = threading.Barrier(len(runners))
    results: list[Any] = [None] * len(runners)

    def run(position: int, runner: Callable[[], Any]) -> None:
        try:
            start.wait()
            results[position] = runner()
        except Exception as error:  # noqa: BLE001 - the test judges it
            results[position] = error
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=(position, runner), daemon=True)
        for position, runner in enumerate(runners)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(within)
        assert not thread.is_alive(), "a racer hangs"
    return results
