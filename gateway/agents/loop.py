"""One asyncio loop in one thread, shared by all the turns of a worker process.

Celery's workers are synchronous; the model's client is not. So each process has one loop on the
edge, where the model calls of all its turns wait; a turn's own thread only carries to the database
what the loop hands over.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")


class EdgeLoop:
    """An asyncio loop in a daemon thread, started at first use.

    A fork copies the object but not the thread: the child finds its own process id different
    and starts afresh.
    """

    def __init__(self, *, name: str = "agent-edge") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = 0
        # A lock held by another thread at the moment of a fork would stay held in the child.
        os.register_at_fork(after_in_child=self._forget)

    def loop(self) -> asyncio.AbstractEventLoop:
        """The running loop of this process, started if need be."""
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop = self._start()
            return self._loop

    def submit(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Run `work` on the loop.

        Returns:
            Its result, to be waited for from any other thread.
        """
        return asyncio.run_coroutine_threadsafe(work, self.loop())

    def stop(self) -> None:
        """Cancel everything on the loop and end its thread; safe to call twice."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None or self._pid != os.getpid():
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._loop = self._thread = None

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        ready = threading.Event()
        thread = threading.Thread(target=_serve, args=(loop, ready), name=self._name, daemon=True)
        thread.start()
        ready.wait()
        self._thread, self._pid = thread, os.getpid()
        return loop


def _serve(loop: asyncio.AbstractEventLoop, ready: threading.Event) -> None:
    asyncio.set_event_loop(loop)
    loop.call_soon(ready.set)
    try:
        loop.run_forever()
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=5))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
