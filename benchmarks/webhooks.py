"""How soon events that come in over signed webhooks are acknowledged, at a given rate.

    .venv/bin/python -m benchmarks.webhooks [--db sqlite|postgres] [--rate 200] [--seconds 10]

Events are posted at a steady rate, whatever becomes of those before (an open loop: a site that
falls behind is not spared). Each is waited for until it is answered. The sender, the model peer,
the worker that runs the turns and the site share the machine. With `--idle` the filter lets no
event begin a turn, which leaves the taking in alone. Figures are printed; nothing is asserted.
"""

import argparse
import asyncio
import re
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import aiohttp

from benchmarks.gateway import cpu_seconds, percentile
from gateway.platforms.webhook import samples
from gateway.platforms.webhook.schemes import Kind, Rule
from gateway.platforms.webhook.wire import Sources
from tests.acceptance.stack import Stack
from tests.peers.model import ModelPeer

BODY = b'{"type": "build.failed", "repository": "hermes", "text": "%s"}' % (b"x" * 1000)


class Sender:
    """Posts events at a steady rate and writes down how long each answer took."""

    def __init__(self, url: str, secret: str) -> None:
        self.url, self.secret = url, secret
        self.waits: list[float] = []
        self.statuses: dict[int, int] = {}

    async def run(self, rate: float, seconds: float) -> float:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            began = time.monotonic()
            tasks = []
            for number in range(int(rate * seconds)):
                pause = began + number / rate - time.monotonic()
                if pause > 0:
                    await asyncio.sleep(pause)
                tasks.append(asyncio.create_task(self._post(session, number)))
            await asyncio.gather(*tasks)
            return len(tasks) / (time.monotonic() - began)

    async def _post(self, session: aiohttp.ClientSession, number: int) -> None:
        made = samples.request(
            Rule(kind=Kind.STANDARD),
            Sources(),
            self.secret,
            body=BODY,
            event="",
            event_id=f"build-{time.monotonic_ns()}-{number}",
            now=datetime.now(UTC),
        )
        sent = time.monotonic()
        try:
            async with session.post(self.url, data=BODY, headers=made.headers) as answer:
                status = answer.status
        except aiohttp.ClientError:
            status = 0
        self.waits.append(time.monotonic() - sent)
        self.statuses[status] = self.statuses.get(status, 0) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", default="sqlite", choices=["sqlite", "postgres"])
    parser.add_argument("--rate", type=float, default=200, help="events a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--idle", action="store_true", help="no event begins a turn")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ModelPeer() as model:
        env = {"HERMES_MODEL": "peer", "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "loopback"}
        with Stack(Path(folder) / "data", env, db=options.db) as stack:
            filters = ["--event", "none-of-these"] if options.idle else []
            limits = ["--option", "per_minute=0"]
            told = stack.manage("webhook", "create", "builds", *filters, *limits)
            found = re.search(r"shown this once: (\S+)", told)
            assert found, told
            sender = Sender(f"{stack.url}/hooks/builds", found.group(1))
            asyncio.run(sender.run(20, 2))  # the first ones load what is loaded late
            sender.waits.clear()
            sender.statuses.clear()
            before = cpu_seconds(stack)
            achieved = asyncio.run(sender.run(options.rate, options.seconds))
            after = cpu_seconds(stack)
            report(sender, options, achieved, {n: after[n] - before.get(n, 0) for n in after})


def report(
    sender: Sender, options: argparse.Namespace, achieved: float, used: dict[str, float]
) -> None:
    waits = [wait * 1000 for wait in sender.waits]
    print(f"{options.db}, {options.rate:g} events/s asked for, {achieved:.0f}/s answered")
    print(f"answers: {sender.statuses}")
    print(
        f"ms until the answer: median {statistics.median(waits):.0f},"
        f" p95 {percentile(waits, 0.95):.0f}, p99 {percentile(waits, 0.99):.0f},"
        f" most {max(waits):.0f}; within 50 ms:"
        f" {100 * sum(wait <= 50 for wait in waits) / len(waits):.0f} %"
    )
    per_event = {name: 1000 * seconds / len(waits) for name, seconds in used.items()}
    shown = ", ".join(f"{name} {ms:.1f}" for name, ms in per_event.items() if ms >= 0.05)
    print(f"CPU ms an event: {shown}")


if __name__ == "__main__":
    main()
