"""One process, kept alive until it is told to stop."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from hermes_site.supervisor.backoff import Backoff
from hermes_site.supervisor.journal import Journal
from hermes_site.supervisor.services import Service
from hermes_site.supervisor.state import StateFile

LEASH = Path(__file__).with_name("leash.py")
HOLD = "kernel" if sys.platform == "linux" else "pipe"
PIECE_BYTES = 64 * 1024


class Condition(StrEnum):
    """What a process is doing, as far as the supervisor knows."""

    RUNNING = "running"
    WAITING = "waiting"  # it ended, and is started again after a wait
    STOPPED = "stopped"


class Child:
    """Starts a service, reads its output, and starts it again whenever it ends.

    Args:
        service: What to run.
        environment: Its whole environment.
        directory: Its working directory.
        journal: Where its output goes.
        state: The state file, told of every change.
    """

    def __init__(
        self,
        service: Service,
        *,
        environment: Mapping[str, str],
        directory: Path,
        journal: Journal,
        state: StateFile,
    ) -> None:
        self.service = service
        self.journal = journal
        self.restarts = 0
        self._environment = environment
        self._directory = directory
        self._state = state
        self._backoff = Backoff()
        self._stopping = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._life: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The service's name."""
        return self.service.name

    def start(self) -> None:
        """Begin keeping it alive."""
        self._life = asyncio.create_task(self._keep_alive(), name=f"keep {self.name} alive")

    async def stop(self, hurry: asyncio.Event) -> None:
        """End it for good: ask, wait for its grace, then kill its whole group.

        Args:
            hurry: Set when nobody wants to wait any longer.
        """
        self._stopping.set()
        process = self._process
        if process is not None and process.returncode is None:
            signal_quietly(process.pid, self.service.stop_signal)
            ended = asyncio.create_task(process.wait())
            hurried = asyncio.create_task(hurry.wait())
            await asyncio.wait(
                {ended, hurried},
                timeout=self.service.grace_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            hurried.cancel()
            if not ended.done():
                waited = "at once" if hurry.is_set() else f"after {self.service.grace_seconds:g} s"
                self.journal.say(f"had not ended; killed {waited}")
                kill_group(process.pid)
            await ended
        if self._life is not None:
            await self._life

    async def _keep_alive(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._stopping.is_set():
            began = loop.time()
            try:
                ending = f"ended ({meaning(await self._run_once())})"
            except OSError as error:  # no memory, no descriptors: that may pass
                ending = f"could not be started ({error.strerror})"
            if self._stopping.is_set():
                break
            wait = self._backoff.after(loop.time() - began)
            self.restarts += 1
            self.journal.say(f"{ending}; starting it again in {wait:g} s")
            self._tell(Condition.WAITING, pid=None)
            await happens_within(self._stopping, wait)
        self._tell(Condition.STOPPED, pid=None)
        self.journal.close()

    async def _run_once(self) -> int:
        """Run it until it ends; whatever it left in its group ends too."""
        output, input_ = os.pipe()
        reading = asyncio.create_task(self._read(output))
        try:
            self._process = await asyncio.create_subprocess_exec(
                *leashed(self.service.command, user=self.service.user),
                stdin=subprocess.PIPE,  # held open, never written to: the leash may watch it
                stdout=input_,
                stderr=subprocess.STDOUT,
                cwd=self._directory,
                env=dict(self._environment),
                start_new_session=True,
            )
        finally:
            os.close(input_)
        self._tell(Condition.RUNNING, pid=self._process.pid)
        code = await self._process.wait()
        kill_group(self._process.pid)
        await reading
        return code

    async def _read(self, output: int) -> None:
        """Take the output until everybody who could write is gone."""
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(output, "rb", buffering=0)
        )
        while piece := await reader.read(PIECE_BYTES):
            self.journal.write(piece)
        transport.close()

    def _tell(self, condition: Condition, *, pid: int | None) -> None:
        self._state.child(self.name, pid=pid, condition=condition, restarts=self.restarts)


def leashed(
    command: Sequence[str], *, user: tuple[int, int] | None = None, hold: str = HOLD
) -> list[str]:
    """`command` as one that dies with this process.

    Its standard input must be a pipe that only this process holds open, and it must be started in
    its own session.

    Args:
        command: The program, as an absolute path, and its arguments.
        user: The user and group to run as; None for our own.
        hold: How it learns of our death: `kernel` (Linux only) or `pipe`.
    """
    identity = "-" if user is None else f"{user[0]}:{user[1]}"
    # -I -S: the leash needs the standard library only, and must start at once.
    program = [sys.executable, "-I", "-S", str(LEASH)]
    return [*program, hold, str(os.getpid()), identity, *command]


async def happens_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for `event`, at most `seconds`; whether it happened."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def signal_quietly(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def kill_group(leader: int) -> None:
    """Kill a session's whole group; its leader may be gone already."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS says EPERM for a group of zombies
        return


def meaning(code: int) -> str:
    """An exit code in words."""
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
