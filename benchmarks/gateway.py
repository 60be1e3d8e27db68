"""How much the gateway itself costs: overhead per message, throughput, CPU, memory, start-up.

    .venv/bin/python -m benchmarks.gateway [--db sqlite|postgres] [--model demo|openai]

The peers of the tests stand in for Telegram and for the model, in processes of their own, on
loopback and on the same cores. Figures are printed as a table; nothing is asserted.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import psutil

from tests.acceptance.stack import Stack
from tests.peers.model import ModelPeer
from tests.peers.telegram import TelegramPeer

STRANGER = 1000


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def cpu_seconds(stack: Stack) -> dict[str, float]:
    used = {}
    for name, pid in stack.pids.items():
        try:
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            if name == "supervisor":
                family = family[:1]
            used[name] = sum(sum(p.cpu_times()[:2]) for p in family)
        except psutil.NoSuchProcess:
            continue
    return used


def memory(stack: Stack) -> dict[str, float]:
    return {
        name: psutil.Process(pid).memory_full_info().pss / 2**20 for name, pid in stack.pids.items()
    }


def wait_for_answers(telegram: TelegramPeer, chats: list[int], each: int, timeout: float) -> None:
    telegram.wait_for(lambda: all(len(telegram.from_bot(c)) >= each for c in chats), timeout)


def accepted_at(telegram: TelegramPeer) -> dict[int, list[float]]:
    times: dict[int, list[float]] = {}
    for call in telegram.calls.of("sendMessage"):
        times.setdefault(int(call.chat), []).append(call.at)
    return times


def one_chat(telegram: TelegramPeer, count: int) -> list[float]:
    overheads = []
    for number in range(count):
        said = time.monotonic()
        telegram.say(f"message {number}", chat=STRANGER, user=STRANGER)
        telegram.wait_for(lambda n=number: len(telegram.from_bot(STRANGER)) > n, 20)
        overheads.append(accepted_at(telegram)[STRANGER][number] - said)
    return overheads


def many_chats(telegram: TelegramPeer, chats: int, each: int) -> tuple[float, list[float]]:
    ids = list(range(2000, 2000 + chats))
    said: dict[int, list[float]] = {chat: [] for chat in ids}
    began = time.monotonic()
    for number in range(each):
        for chat in ids:
            said[chat].append(time.monotonic())
            telegram.say(f"message {number}", chat=chat, user=chat)
    wait_for_answers(telegram, ids, each, 300)
    times = accepted_at(telegram)
    ended = max(at for chat in ids for at in times[chat])
    waits = [times[chat][n] - said[chat][n] for chat in ids for n in range(each)]
    return chats * each / (ended - began), waits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", default="sqlite", choices=["sqlite", "postgres"])
    parser.add_argument("--model", default="openai", choices=["demo", "openai"])
    parser.add_argument("--messages", type=int, default=200, help="one after another in one chat")
    parser.add_argument("--each", type=int, default=20, help="messages of each of 50 chats")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, TelegramPeer() as telegram, ModelPeer() as model:
        env = {
            "TELEGRAM_BOT_TOKEN": telegram.token,
            "TELEGRAM_API_BASE_URL": telegram.url,
            "TELEGRAM_ALLOW_ALL_USERS": "1",
            "HERMES_MODEL": "demo" if options.model == "demo" else "peer-model",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "loopback",
        }
        run(options, Path(folder) / "data", env, telegram)


def run(options: argparse.Namespace, data: Path, env: dict, telegram: TelegramPeer) -> None:
    if options.db == "postgres":
        os.environ.setdefault("TEST_DATABASE", "postgres")
    stack = Stack(data, env, db=options.db)
    with stack:
        stack.stop()
        began = time.monotonic()
        stack.start()
        ready = time.monotonic() - began
        one_chat(telegram, 5)  # what is imported late is imported now
        telegram.forget()
        rows = [("start to ready, prepared", f"{ready:.1f} s")]
        before = cpu_seconds(stack)
        overheads = [value * 1000 for value in one_chat(telegram, options.messages)]
        after = cpu_seconds(stack)
        rows += [
            (
                "one chat: overhead p50 / p90 / p99",
                " / ".join(f"{percentile(overheads, share):.0f}" for share in (0.5, 0.9, 0.99))
                + " ms",
            ),
            ("one chat: mean", f"{statistics.mean(overheads):.0f} ms"),
            ("one chat: CPU per 1,000 messages", cpu(before, after, options.messages)),
        ]
        telegram.forget()
        before = cpu_seconds(stack)
        rate, waits = many_chats(telegram, 50, options.each)
        after = cpu_seconds(stack)
        rows += [
            ("50 chats: messages/s", f"{rate:.0f}"),
            ("50 chats: CPU per 1,000 messages", cpu(before, after, 50 * options.each)),
        ]
        telegram.forget()
        _, waits = many_chats(telegram, 50, 1)
        rows.append(
            (
                "50 chats, one message each: p50 / p99",
                " / ".join(f"{percentile(waits, share) * 1000:.0f}" for share in (0.5, 0.99))
                + " ms",
            )
        )
        sizes = memory(stack)
        rows.append(
            (
                "memory (PSS)",
                f"{sum(sizes.values()):.0f} MB: "
                + ", ".join(f"{name} {size:.0f}" for name, size in sorted(sizes.items())),
            )
        )
    print(f"\n{options.db}, model: {options.model}")
    for name, figure in rows:
        print(f"| {name} | {figure} |")


def cpu(before: dict[str, float], after: dict[str, float], count: int) -> str:
    spent = {name: (after[name] - before.get(name, 0)) * 1000 / count for name in after}
    parts = ", ".join(
        f"{name} {seconds:.1f}" for name, seconds in sorted(spent.items()) if seconds > 0.05
    )
    return f"{sum(spent.values()):.1f} s ({parts})"


if __name__ == "__main__":
    main()
