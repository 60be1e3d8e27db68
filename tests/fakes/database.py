"""The database as asynchronous code reaches it, in a thread; away when a test says so."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from django.db import OperationalError, connection, connections


class DatabaseThread:
    """Runs functions that use the database in one thread.

    Attributes:
        outages: How many calls fail as if the database were away, by the function's name.
        lost_commits: How many calls fail at their very end, so that nothing of them is stored.
        calls: The names of what was called.
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="test-database")
        self.outages: dict[str, int] = {}
        self.lost_commits: dict[str, int] = {}
        self.calls: list[str] = []

    async def __call__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        name = getattr(function, "__name__", "")
        self.calls.append(name)
        if self.outages.get(name, 0) > 0:
            self.outages[name] -= 1
            raise OperationalError("the database is away, says the test")
        if self.lost_commits.get(name, 0) > 0:
            self.lost_commits[name] -= 1
            function = _without_commit(function)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, partial(function, *args, **kwargs))

    def close(self) -> None:
        self._executor.submit(connections.close_all).result(10)
        self._executor.shutdown()


def _without_commit(function: Callable[..., Any]) -> Callable[..., Any]:
    def fail() -> None:
        raise OperationalError("the commit failed, says the test")

    def run(*args: Any, **kwargs: Any) -> Any:
        connection.commit = fail
        try:
            return function(*args, **kwargs)
        finally:
            del connection.commit

    return run
