"""What an installation has written down, as seen from outside of it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from tests.acceptance.stack import Stack
from tests.peers.telegram import TelegramPeer
from tests.services import wait_until


class Books:
    """A look into the database of a stack, whichever it is.

    Args:
        stack: Whose database.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query whose values stand as `?`."""
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            marks = query if self._stack.db == "sqlite" else query.replace("?", "%s")
            cursor.execute(marks, values)
            return list(cursor.fetchall())

    def change(self, statement: str, *values: Any) -> None:
        """Change a row behind everybody's back: let time pass, and nothing else."""
        with self._connection(mode="rw") as connection, closing(connection.cursor()) as cursor:
            marks = statement if self._stack.db == "sqlite" else statement.replace("?", "%s")
            cursor.execute(marks, values)
            assert cursor.rowcount, statement
            connection.commit()

    def value(self, query: str, *values: Any) -> Any:
        """The one value that a query gives."""
        return self.rows(query, *values)[0][0]

    def wait_for(self, query: str, *values: Any, within: float = 90) -> Any:
        """The first value of a query, as soon as it gives one that counts as true."""
        found: list[Any] = []

        def there() -> bool:
            found[:] = [row[0] for row in self.rows(query, *values)][:1]
            return bool(found and found[0])

        wait_until(there, f"{query} {values}", within=within)
        return found[0]

    def wait_until_settled(self, telegram: TelegramPeer, within: float = 60) -> None:
        """Wait until nothing is under way: what was said is taken in, run, and delivered.

        Read downstream: a turn exists before its message is confirmed, a debt before its turn
        ends. What is not there now comes only of itself no more.
        """
        wait_until(lambda: self._is_settled(telegram), "everything is settled", within=within)

    def _is_settled(self, telegram: TelegramPeer) -> bool:
        return (
            telegram.updates.pending == 0
            and not self.rows(
                "SELECT id FROM gateway_turn WHERE state IN ('queued', 'running', 'ready')"
            )
            and not self.rows(
                "SELECT id FROM delivery_obligation"
                " WHERE state IN ('pending', 'attempting', 'failed')"
            )
        )

    @contextmanager
    def _connection(self, mode: str = "ro") -> Iterator[Any]:
        if self._stack.db == "postgres":
            with psycopg.connect(self._stack.env["DATABASE_URL"], autocommit=True) as connection:
                yield connection
            return
        path = self._stack.data_dir / "hermes.sqlite3"
        with closing(
            sqlite3.connect(f"file:{path}?mode={mode}", uri=True, timeout=20)
        ) as connection:
            yield connection
