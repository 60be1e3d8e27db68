"""The database backend: Django's SQLite, whose transactions wait for their turn to write."""

from typing import Any

from django.db.backends.sqlite3 import base

from hermes_site.sqlite.queueing import WriterQueue, queue_for


class DatabaseWrapper(base.DatabaseWrapper):
    """Every transaction is IMMEDIATE, that is a writer's; it enters the queue before it begins."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._entered: WriterQueue | None = None

    def _start_transaction_under_autocommit(self) -> None:
        self._enter()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc] # not in the stubs
        except BaseException:
            self._leave()
            raise

    def _commit(self) -> Any:
        try:
            return super()._commit()  # type: ignore[misc] # not in the stubs
        finally:
            self._leave()

    def _rollback(self) -> Any:
        try:
            return super()._rollback()  # type: ignore[misc] # not in the stubs
        finally:
            self._leave()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc] # not in the stubs
        finally:
            self._leave()

    def _enter(self) -> None:
        if self._entered is not None:
            return
        queue = queue_for(str(self.settings_dict["NAME"]))
        timeout = float(self.settings_dict["OPTIONS"].get("timeout", 20))
        if queue is not None and queue.enter(timeout):
            self._entered = queue

    def _leave(self) -> None:
        queue, self._entered = self._entered, None
        if queue is not None:
            queue.leave()
