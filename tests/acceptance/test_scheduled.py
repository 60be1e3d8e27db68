"""Jobs and tasks, for real: each instant once, whoever dies and however many clocks tick."""

import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from gateway import launching
from hermes_site.supervisor.child import kill_group, leashed
from tests.acceptance.stack import PROJECT
from tests.peers.model import Gate, Reply
from tests.peers.model.replies import last_user_text
from tests.services import wait_until

pytestmark = pytest.mark.acceptance


@contextmanager
def another_beat(stack):
    """A second beat beside the installation's own."""
    process = subprocess.Popen(
        leashed([sys.executable, *launching.arguments(launching.BEAT)]),
        cwd=PROJECT,
        env=stack.command_environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        kill_group(process.pid)
        process.wait()
        process.stdin.close()


def comes_due(books, job: int) -> None:
    """Let time pass, up to the next instant of a job."""
    now = datetime.now(UTC) - timedelta(seconds=1)
    books.change(
        "UPDATE schedules_job SET next_at = ? WHERE id = ?",
        now.strftime("%Y-%m-%d %H:%M:%S.%f"),
        job,
    )


def runs(books, job: int) -> list[tuple[str, int]]:
    query = "SELECT decided, turn_id FROM schedules_run WHERE job_id = ? ORDER BY id"
    return books.rows(query, job)


@pytest.mark.proves("C1")
def test_each_instant_of_a_job_is_run_once_over_the_death_of_beat_and_with_two_of_them(
    stack, telegram, model, books, person
):
    model.script(lambda request: Reply(text=f"Done: {last_user_text(request)}."))
    person.says("/cron add every 2h say hello")
    person.sees("say hello")
    job = books.wait_for("SELECT max(id) FROM schedules_job")

    with another_beat(stack):
        for instant in range(1, 4):
            comes_due(books, job)
            if instant == 2:
                stack.kill9("beat")
            wait_until(lambda n=instant: len(runs(books, job)) == n, "it is decided on", within=60)
            books.wait_until_settled(telegram)
    stack.wait_until_ready()

    assert [decided for decided, _ in runs(books, job)] == ["started"] * 3
    assert len({turn for _, turn in runs(books, job)}) == 3
    said = [text for text in person.texts if "Done:" in text]
    assert said == ["⏰ say hello\n\nDone: say hello."] * 3


@pytest.mark.proves("T6", "T3")
def test_a_task_outlives_the_death_of_its_worker_while_the_chat_goes_on(
    stack, telegram, model, books, person
):
    gate = Gate()

    def slow_for_tasks(request):
        words = last_user_text(request)
        held = {"gate": gate} if words == "count the stars" else {}
        return Reply(text=f"Done: {words}.", **held)

    model.script(slow_for_tasks)
    person.says("/background count the stars")
    person.sees("works in the background")
    model.wait_for(lambda: model.in_flight == 1)

    person.says("hello")
    person.sees("Done: hello.")
    stack.kill9("worker")
    gate.open()

    person.sees("Done: count the stars.")
    books.wait_until_settled(telegram)
    assert [text for text in person.texts if "Done: count" in text] == [
        "🧵 Task 1\n\nDone: count the stars."
    ]
    person.says("what did you count?")
    person.sees("Done: what did you count?.")
    assert "stars" not in str(model.requests[-1])
