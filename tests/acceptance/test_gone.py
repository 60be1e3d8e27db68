"""The database, the broker or the room on the disk is gone for a while: then all goes on."""

import os
import resource
import signal
import sqlite3
import time as clock
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest

from tests.acceptance.stack import Stack
from tests.peers.model import Gate, Reply
from tests.peers.model.replies import last_user_text
from tests.peers.telegram import Fault
from tests.services import shared_postgres_url, wait_until

pytestmark = pytest.mark.acceptance

# 53100 is `disk_full`: https://www.postgresql.org/docs/current/errcodes-appendix.html
NO_SPACE = """
    CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END $$
"""


@contextmanager
def no_database(stack: Stack) -> Iterator[None]:
    """Nobody gets at the database inside the `with` block."""
    if stack.db == "sqlite":
        path = stack.data_dir / "hermes.sqlite3"
        with closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            yield
            connection.execute("ROLLBACK")
        return
    name = stack.env["DATABASE_URL"].rpartition("/")[2]
    with psycopg.connect(shared_postgres_url(), autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
        try:
            yield
        finally:
            connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


@contextmanager
def no_broker(stack: Stack) -> Iterator[None]:
    """The broker answers nobody inside the `with` block."""
    pid = stack.pids["valkey"]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def no_room(stack: Stack) -> Iterator[None]:
    """Nothing can be written inside the `with` block, as on a full disk."""
    with (no_file_grows if stack.db == "sqlite" else no_row_is_taken)(stack):
        yield


@contextmanager
def no_row_is_taken(stack: Stack) -> Iterator[None]:
    """PostgreSQL refuses every write, in the words of a server whose disk is full."""
    with psycopg.connect(stack.env["DATABASE_URL"], autocommit=True) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in names]
        connection.execute(NO_SPACE)
        for name in tables:
            connection.execute(
                f'CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON "{name}"'
                " EXECUTE FUNCTION no_room()"
            )
        try:
            yield
        finally:
            connection.execute("DROP FUNCTION no_room() CASCADE")


@contextmanager
def no_file_grows(stack: Stack) -> Iterator[None]:
    """No file of the processes that write can grow inside the `with` block."""
    pids = [pid for name, pid in stack.pids.items() if name.startswith(("gateway", "worker"))]
    before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in pids}
    for pid, (_, hard) in before.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        for pid, limits in before.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


@pytest.mark.proves("D3", "D11")
@pytest.mark.parametrize("seconds", [4, pytest.param(30, marks=pytest.mark.full)])
@pytest.mark.parametrize("away", [no_database, no_broker, no_room])
def test_what_is_gone_for_a_while_costs_time_and_no_answer(
    stack, telegram, model, books, somebody, away, seconds
):
    gate = Gate()
    model.script(lambda request: Reply(text=f"I heard {last_user_text(request)}.", gate=gate))
    early, sent, late = somebody(), somebody(), somebody()
    early.says("this")
    sent.says("that")
    model.wait_for(lambda: model.in_flight == 2)
    slow = Fault("delay_after", "sendMessage", sent.id, seconds=2, times=1)

    with telegram.faults.during(slow), away(stack):
        gate.open()
        late.says("those")
        ends_at = clock.monotonic() + seconds
        wait_until(lambda: clock.monotonic() > ends_at, "a while", within=seconds + 5)
        assert away is no_broker or late.texts == []  # nothing is answered that is not stored

    for person, text in ((early, "this"), (sent, "that"), (late, "those")):
        person.sees(f"I heard {text}.")
    books.wait_until_settled(telegram)
    for person, text in ((early, "this"), (sent, "that"), (late, "those")):
        assert [one for one in person.heard if "interrupted" not in one] == [f"I heard {text}."]
