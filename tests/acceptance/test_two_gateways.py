"""Two gateways: one owns the account; when it dies or hangs, the other goes on where it was."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from hermes_site.supervisor.child import leashed
from tests.acceptance.people import recovered
from tests.acceptance.stack import PROJECT
from tests.peers.telegram import Fault
from tests.services import wait_until

pytestmark = pytest.mark.acceptance
TAKEN_OVER_WITHIN = 20  # seconds


@pytest.fixture
def second_gateway(stack, books):
    """A gateway beside the stack's own, as on another host; its process id."""
    with (stack.data_dir / "logs" / "gateway-2.log").open("ab") as log:
        process = subprocess.Popen(
            leashed([sys.executable, "manage.py", "run_gateway"]),
            cwd=PROJECT,
            env=stack.command_environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_until(lambda: "gateway" in beats(books, process.pid), "the second gateway serves")
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdin.close()


def beats(books, pid):
    """What a process has said it is."""
    rows = books.rows("SELECT kind, name FROM gateway_processbeat")
    return [kind for kind, name in rows if f"/{pid}/" in name]


def owner_of(books, account="telegram"):
    """The process that owns an account; 0 for none."""
    owner = books.value("SELECT owner FROM delivery_lease WHERE name LIKE ?", f"%{account}%")
    return int(owner.split("/")[1]) if owner else 0


def both_take_part(stack, pid):
    return {stack.pids["gateway"], pid}


@contextmanager
def frozen(pid):
    """A process that does nothing inside the `with` block, and does not know it afterwards."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_when_the_owner_dies_the_other_takes_over(stack, telegram, books, somebody, second_gateway):
    owner = owner_of(books)
    assert owner in both_take_part(stack, second_gateway)
    people = [somebody() for _ in range(5)]
    for person in people:
        person.says("before")
        person.sees("You said: before")
    books.wait_until_settled(telegram)

    os.kill(owner, signal.SIGKILL)
    for person in people:
        person.says("after")

    for person in people:
        person.sees("You said: after", within=TAKEN_OVER_WITHIN)
    books.wait_until_settled(telegram)
    assert owner_of(books) not in {0, owner}
    for person in people:
        assert person.heard == ["You said: before", "You said: after"]


@pytest.mark.proves("O2", "P2")
def test_when_the_owner_hangs_the_other_takes_over_and_the_first_comes_back_without_harm(
    stack, telegram, books, somebody, second_gateway
):
    wait_until(lambda: owner_of(books) in both_take_part(stack, second_gateway), "one owns it")
    owner = owner_of(books)
    early, late, unlucky = somebody(), somebody(), somebody()

    with telegram.faults.during(Fault("hang", "sendMessage", unlucky.id, times=1)):
        unlucky.says("being sent")
        unlucky.sees("You said: being sent")
        with frozen(owner):
            early.says("while it hangs")
            early.sees("You said: while it hangs", within=TAKEN_OVER_WITHIN)
            unlucky.sees(recovered("You said: being sent"), within=TAKEN_OVER_WITHIN)
    late.says("and after")
    late.sees("You said: and after")
    books.wait_until_settled(telegram)

    assert early.texts == ["You said: while it hangs"]
    assert late.texts == ["You said: and after"]
    assert unlucky.texts == ["You said: being sent", recovered("You said: being sent")]
    assert owner_of(books) != owner
