"""The whole installation starts with one command, survives the death of any part, and stops."""

import pytest

from tests.acceptance.stack import is_alive
from tests.services import wait_until

pytestmark = pytest.mark.acceptance
PARTS = ("web", "gateway", "worker", "beat", "valkey")


@pytest.mark.proves("I1")
def test_every_part_that_is_killed_comes_back(make_stack):
    stack = make_stack()
    killed = {name: stack.kill9(name) for name in PARTS}

    wait_until(lambda: set(PARTS) <= stack.pids.keys(), "every part runs again")
    wait_until(lambda: not killed.items() & stack.pids.items(), "as a new process")
    wait_until(stack.is_ready, "the site is ready again")
    assert "Traceback" not in stack.logs("supervisor")  # it is in the logs of the parts


@pytest.mark.proves("I1")
def test_a_power_cut_and_a_restart_end_in_a_ready_site_with_the_same_operator(make_stack):
    stack = make_stack()
    before = stack.pids

    stack.kill9_all()
    stack.restart()

    assert not before.items() & stack.pids.items()
    assert stack.logs("supervisor").count("Operator login") == 1


@pytest.mark.proves("I1")
def test_a_clean_stop_leaves_nothing_behind(make_stack):
    stack = make_stack()
    pids = [pid for name, pid in stack.pids.items() if stack.db == "sqlite" or name != "valkey"]

    code = stack.stop()

    assert code == 0
    assert [pid for pid in pids if is_alive(pid)] == []


def test_a_management_command_works_beside_the_running_site(make_stack):
    stack = make_stack()

    printed = stack.manage("shell", "-c", "from django.db import connection as c; print(c.vendor)")

    assert stack.db.removesuffix("ql") in printed
