"""Start in order, watch, stop in the other order."""

import asyncio
import json
import signal
import subprocess
from collections.abc import Awaitable, Callable, Sequence

from hermes_site.supervisor.child import Child, happens_within, kill_group, leashed
from hermes_site.supervisor.errors import NotReady, PreparationFailed
from hermes_site.supervisor.home import Home
from hermes_site.supervisor.journal import Journal, Terminal, last_lines
from hermes_site.supervisor.probes import Readiness
from hermes_site.supervisor.services import Plan, Service
from hermes_site.supervisor.state import StateFile

DATA_PLANE_WITHIN_SECONDS = 30.0
# A database or broker that ended this often at its start will not serve by being tried again.
HOPELESS_RESTARTS = 3
POLL_SECONDS = 0.1
SHOWN_LOG_LINES = 12
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervisor:
    """Runs one plan in one data directory.

    Args:
        plan: What to run.
        home: The data directory, locked.
        terminal: Where to speak.
        ready_within_seconds: How long the apps may take until the site says it is ready.
    """

    def __init__(
        self, plan: Plan, home: Home, terminal: Terminal, *, ready_within_seconds: float
    ) -> None:
        self._plan = plan
        self._home = home
        self._terminal = terminal
        self._ready_within_seconds = ready_within_seconds
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._data_plane: list[Child] = []
        self._apps: list[Child] = []
        self._last_readiness = Readiness(is_ready=False)
        facts = {"data_dir": str(home.root), "url": plan.url, **plan.facts, "ready": False}
        self._state = StateFile(home.state_file, facts)

    async def run(self) -> None:
        """Start everything, wait for a signal, stop everything.

        Raises:
            CannotStart: It did not become ready; everything is stopped again.
        """
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._asked_to_stop)
        self._state.update()
        starting = asyncio.create_task(self._start())
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not stopping.done():
                await starting
                await stopping
        finally:
            starting.cancel()
            stopping.cancel()
            await asyncio.gather(starting, stopping, return_exceptions=True)
            await self._shut_down()

    def _asked_to_stop(self) -> None:
        if self._stop.is_set():
            self._hurry.set()
        else:
            self._terminal.say("Stopping; once more to kill.")
        self._stop.set()

    async def _start(self) -> None:
        began = asyncio.get_running_loop().time()
        self._data_plane = self._launch(self._plan.data_plane)
        for child in self._data_plane:
            await self._until_it_answers(child)
        await self._prepare()
        self._apps = self._launch(self._plan.apps)
        await self._until_ready()
        self._state.update(ready=True)
        took = asyncio.get_running_loop().time() - began
        self._terminal.say(f"Ready after {took:.1f} s: {self._plan.url}")

    def _launch(self, services: Sequence[Service]) -> list[Child]:
        children = []
        for service in services:
            path = self._home.logs / f"{service.name}.log"
            child = Child(
                service,
                environment=self._plan.environment,
                directory=self._plan.directory,
                journal=Journal(path, name=service.name, terminal=self._terminal),
                state=self._state,
            )
            child.start()
            children.append(child)
        if services:
            self._terminal.say("Starting " + ", ".join(service.name for service in services))
        return children

    async def _until_it_answers(self, child: Child) -> None:
        answers = child.service.answers
        if answers is None:
            return

        async def is_decided() -> bool:
            return await answers() or child.restarts >= HOPELESS_RESTARTS

        decided = await self._comes_true(is_decided, DATA_PLANE_WITHIN_SECONDS)
        if not decided or not await answers():
            raise NotReady(self._what_is_wrong([child]))

    async def _prepare(self) -> None:
        if not self._plan.preparation:
            return
        self._terminal.say("Bringing the database up to date")
        path = self._home.logs / "prepare.log"
        with path.open("ab") as log:
            begin = log.tell()
            process = await asyncio.create_subprocess_exec(
                *leashed(self._plan.preparation),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._plan.directory,
                env=dict(self._plan.environment),
                start_new_session=True,
            )
        try:
            output, _ = await asyncio.gather(read_all(process), process.wait())
        except asyncio.CancelledError:
            kill_group(process.pid)
            await process.wait()
            raise
        login = as_facts(output)
        if process.returncode != 0:
            why = login.get("problem") or "".join(last_lines(path, 1, begin=begin)) or "it ended"
            message = f"The database could not be brought up to date: {why} More is in {path}"
            raise PreparationFailed(message)
        if login:
            self._terminal.say(
                f"Operator login, shown this once: {login['operator']} / {login['password']}"
            )

    async def _until_ready(self) -> None:
        async def is_ready() -> bool:
            self._last_readiness = await self._plan.readiness()
            return self._last_readiness.is_ready

        if not await self._comes_true(is_ready, self._ready_within_seconds):
            suspects = self._suspects()
            wrong = self._what_is_wrong(suspects)
            if not any(child.restarts for child in suspects):
                given = f"{self._ready_within_seconds:g} s"
                wrong += f"\nNothing ended; {given} were too short: more with --ready-within."
            raise NotReady(wrong)

    async def _comes_true(self, check: Callable[[], Awaitable[bool]], seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while loop.time() < deadline:
            if await check():
                return True
            await happens_within(self._stop, POLL_SECONDS)
        return False

    def _suspects(self) -> list[Child]:
        """The apps the site misses; else those that keep ending; else all of them."""
        missing = self._last_readiness.missing
        named = [child for child in self._apps if child.name.partition("-")[0] in missing]
        return named or [child for child in self._apps if child.restarts] or self._apps

    def _what_is_wrong(self, children: Sequence[Child]) -> str:
        lines = [f"{', '.join(child.name for child in children)} did not become ready."]
        for part, detail in self._last_readiness.missing.items():
            lines.append(f"{part} is not up: {detail}".rstrip(": "))
        spoken = {child: found for child in children if (found := indented_end(child.journal))}
        for child, said in spoken.items():
            lines.append(f"The last lines of {child.journal.path}:\n{said}")
        return "\n".join(lines)

    async def _shut_down(self) -> None:
        """Apps first, so that they can still write down what they were doing."""
        self._state.update(ready=False)
        await asyncio.gather(*(child.stop(self._hurry) for child in self._apps))
        await asyncio.gather(*(child.stop(self._hurry) for child in self._data_plane))
        self._state.remove()


async def read_all(process: asyncio.subprocess.Process) -> bytes:
    """Everything a process prints. Its input stays open: see `leashed`."""
    if process.stdout is None:
        return b""
    return await process.stdout.read()


def as_facts(output: bytes) -> dict[str, str]:
    """What the preparation printed; empty for anything else than it should."""
    try:
        facts = json.loads(output)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def indented_end(journal: Journal) -> str:
    """The end of what a process has said this time, indented."""
    return "\n".join(f"    {line}" for line in journal.last_lines(SHOWN_LOG_LINES))
