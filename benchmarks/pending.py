"""What it costs to answer one question while ten thousand others are open ([Q3]).

    .venv/bin/python -m benchmarks.pending [--db sqlite|postgres] [--prompts 10000] [--each 100]

A whole installation is started, with the demo agent, which asks no model. The peer of the tests
stands in for Telegram, in a process of its own, on loopback and on the same cores. Those who
answer were asked by real messages and real turns; the crowd of others, who do not, is rows: one of
them is asked by the product's own functions, and the rest are copies of what that wrote.

The clock runs from before the person's answer is given to Telegram until a reader of the database
of its own sees the question answered and its turn no longer waiting, and until Telegram has been
told that the press was taken. So what Telegram takes to hand an update over is in it, and the
reader's own round of half a millisecond. One answer is given at a time, after the whole reply to
the one before. Figures are printed as a table; nothing is asserted.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import psycopg

from benchmarks.gateway import memory, percentile
from tests.acceptance.books import Books
from tests.acceptance.people import Person
from tests.acceptance.stack import PROJECT, Stack
from tests.peers.telegram import TelegramPeer

CROWD = 7_000_000
LOOK = 0.0005  # seconds between two looks into the database
SHARES = (0.5, 0.95, 0.99)


class Watch:
    """A reader of the database with a connection of its own."""

    def __init__(self, stack: Stack) -> None:
        if stack.db == "postgres":
            self._connection = psycopg.connect(stack.env["DATABASE_URL"], autocommit=True)
        else:
            path = stack.data_dir / "hermes.sqlite3"
            self._connection = sqlite3.connect(
                f"file:{path}?mode=ro", uri=True, isolation_level=None
            )
        self._mark = "%s" if stack.db == "postgres" else "?"

    def prompt_of(self, person: Person) -> tuple[int, int]:
        """The question that somebody was asked, and the turn that waits for it."""
        found = self._row(
            "SELECT id, correlation FROM clarify_prompt WHERE state = 'pending' AND asker_id = ?",
            str(person.id),
        )
        return found[0], int(found[1])

    def until_ready(self, prompt: int, turn: int, within: float = 30) -> float:
        """When the answer was in the database and the turn might go on."""
        ends = time.monotonic() + within
        while time.monotonic() < ends:
            (state,) = self._row("SELECT state FROM clarify_prompt WHERE id = ?", prompt)
            if state == "answered":
                (state,) = self._row("SELECT state FROM gateway_turn WHERE id = ?", turn)
                assert state != "waiting"
                return time.monotonic()
            time.sleep(LOOK)
        raise TimeoutError(f"question {prompt} was not answered")

    def close(self) -> None:
        self._connection.close()

    def _row(self, query: str, *values: object) -> tuple:
        return self._connection.execute(query.replace("?", self._mark), values).fetchone()


class Round:
    """Some people are asked, then answer one after another, half by text and half by button."""

    def __init__(self, stack: Stack, telegram: TelegramPeer, each: int) -> None:
        self.stack, self.telegram = stack, telegram
        self.typed: list[float] = []
        self.pressed: list[float] = []
        self.acknowledged: list[float] = []
        self.cpu = 0.0
        self._people = [Person(telegram) for _ in range(2 * each)]

    def run(self) -> None:
        for person in self._people:
            person.says("clarify")
        shown = [person.sees_buttons(within=300) for person in self._people]
        Books(self.stack).wait_until_settled(self.telegram, within=300)
        watch = Watch(self.stack)
        before = self._cpu()
        for number, (person, message) in enumerate(zip(self._people, shown, strict=True)):
            prompt, turn = watch.prompt_of(person)
            began = time.monotonic()
            if number % 2:
                person.says("2")
                self.typed.append(watch.until_ready(prompt, turn) - began)
            else:
                press = person.presses(message, message.labels[1])
                self.pressed.append(watch.until_ready(prompt, turn) - began)
                answer = self.telegram.wait_for(lambda p=press: self.telegram.answers_to(p), 30)
                self.acknowledged.append(answer[0].at - began)
            person.sees("You answered:", within=60)
        watch.close()
        self.cpu = (self._cpu() - before) / len(self._people)

    def _cpu(self) -> float:
        """Seconds of processor time the gateway process has used."""
        return sum(psutil.Process(self.stack.pids["gateway"]).cpu_times()[:2])


def in_the_site(stack: Stack, *arguments: object) -> dict:
    """What `benchmarks.crowd` has to say of this installation."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.crowd", *map(str, arguments)],
        cwd=PROJECT,
        env=stack.command_environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def milliseconds(values: list[float]) -> str:
    return " / ".join(f"{1000 * percentile(values, share):.0f}" for share in SHARES)


def shares(values: list[float]) -> str:
    return " / ".join(f"{percentile(values, share):.1f}" for share in SHARES) + " ms"


def sizes(stack: Stack) -> str:
    sizes = memory(stack)
    parts = ", ".join(f"{name} {size:.0f}" for name, size in sorted(sizes.items()))
    return f"{sum(sizes.values()):.0f} MB: {parts}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", default="sqlite", choices=["sqlite", "postgres"])
    parser.add_argument("--prompts", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=100, help="answers of each way in a round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, TelegramPeer() as telegram:
        env = {
            "TELEGRAM_BOT_TOKEN": telegram.token,
            "TELEGRAM_API_BASE_URL": telegram.url,
            "TELEGRAM_ALLOW_ALL_USERS": "1",
            "HERMES_MODEL": "demo",
        }
        with Stack(Path(folder) / "data", env, db=options.db) as stack:
            rows = run(options, stack, telegram)
    print(f"\n{options.db}, load average {os.getloadavg()[1]:.1f}")
    for name, figure in rows:
        print(f"| {name} | {figure} |", flush=True)


def run(options: argparse.Namespace, stack: Stack, telegram: TelegramPeer) -> list[tuple[str, str]]:
    rows = []
    Round(stack, telegram, 10).run()  # what is imported late is imported now
    crowd = 0
    for pending in (0, options.prompts // 10, options.prompts):
        if pending > crowd:
            before = sizes(stack)
            in_the_site(stack, "ask", CROWD + crowd, pending - crowd)
            crowd = pending
            rows.append((f"memory before {pending:,} questions are added", before))
            rows.append(("memory after", sizes(stack)))
        telegram.forget()
        one = Round(stack, telegram, options.each)
        one.run()
        rows += [
            (f"{pending:,} pending, typed: turn ready p50 / p95 / p99", milliseconds(one.typed)),
            (f"{pending:,} pending, pressed: turn ready", milliseconds(one.pressed)),
            (f"{pending:,} pending, pressed: acknowledged", milliseconds(one.acknowledged)),
            (f"{pending:,} pending: gateway's CPU an answer", f"{1000 * one.cpu:.1f} ms"),
            ("load average; memory after the answers", f"{os.getloadavg()[0]:.1f}; {sizes(stack)}"),
        ]
        extra = CROWD + 100_000 + pending
        in_the_site(stack, "ask", extra, options.each + 20)
        alone = in_the_site(stack, "answer", extra, options.each + 20)
        rows += [
            (
                f"{pending:,} pending: taking an answer in, {kind} p50 / p95 / p99",
                shares(alone[kind]),
            )
            for kind in ("cpu", "wall")
        ]
        print(*rows[-7:], sep="\n", flush=True)
    for due in (0, 1, 200):
        found = in_the_site(stack, "sweep", due)
        took, unseen = found["milliseconds"], found["unseen_milliseconds"]
        name = f"sweep, {due} due of {found['pending']:,}"
        rows.append((name, f"{took:.1f} ms; for what reached nobody {unseen:.1f} ms"))
        plan = " ".join(found["plan"].split())
        rows.append((f"plan, {due} due", f"`{plan}`"))
    rows.append(("memory at the end", sizes(stack)))
    return rows


if __name__ == "__main__":
    main()
