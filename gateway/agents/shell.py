"""The tool that runs shell commands, each in its session's own directory."""

import asyncio
import codecs
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from clarify.risks import RiskLevel
from gateway.agents import shell_guard
from gateway.agents.dangers import Danger, lasting_key
from gateway.agents.shell_risks import exact_words, judge
from gateway.agents.tools import AgentTool, Risk, ToolContext, ToolError

LONGEST_OUTPUT = 30_000  # characters the model gets to read
LONGEST_SECONDS = 600
THIS_COMMAND = "exactly this command"

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_GUARD = shell_guard.__file__
_READ_SIZE = 65_536
# A command that floods us is read this much at a time, so that the loop has time for all others.
_PAUSE_SECONDS = 0.002
_STUCK_SECONDS = shell_guard.GRACE_SECONDS + 4.0  # then the guard itself is dead or stopped
_WORKSPACE = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)


def shell_tool(workspaces: Path) -> AgentTool:
    """The shell.

    Args:
        workspaces: Where each session has its own directory.
    """

    async def shell(context: ToolContext, command: str, timeout_seconds: int = 60) -> Any:
        """Run a shell command and read what it prints.

        It runs with /bin/sh in a directory that belongs to this conversation and keeps its files
        from one call to the next. There is no input and no terminal, and nothing stays running
        after the call. A person may be asked to approve it first.

        Args:
            context: Where the turn takes place.
            command: The command, exactly as it will run.
            timeout_seconds: After so long it is stopped, from 1 to 600.
        """
        folder = _workspace(workspaces, context.turn.workspace)
        seconds = min(max(timeout_seconds, 1), LONGEST_SECONDS)
        return await _run(command, folder, seconds)

    return AgentTool(name="shell", risk=Risk.DANGEROUS, function=shell, danger=shell_danger)


def shell_danger(arguments: Mapping[str, Any]) -> Danger:
    """What a call of the shell would do.

    Only a simple command that is nothing worse than usual may be approved for more than once.
    """
    command = str(arguments.get("command", ""))
    found = judge(command)
    words = exact_words(command) if found.level < RiskLevel.CRITICAL else None
    return Danger(
        level=found.level,
        summary="Run a shell command" + (f" that {found.reason}" if found.reason else ""),
        detail=command,
        lasting_key=lasting_key("shell", words) if words else "",
        covers=THIS_COMMAND if words else "",
    )


def _workspace(workspaces: Path, name: str) -> Path:
    if not _WORKSPACE.fullmatch(name):
        raise ToolError("This turn has no directory to run commands in.")
    folder = workspaces / name
    try:
        for each in (workspaces, folder):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
            each.chmod(0o700)
    except OSError as error:
        message = f"The directory for commands cannot be made: {error.strerror}."
        raise ToolError(message) from error
    return folder.resolve()


async def _run(command: str, folder: Path, seconds: float) -> dict[str, Any]:
    guarded = _Guarded(command, folder)
    timed_out = False
    try:
        if not await guarded.ends_within(seconds):
            timed_out = True
            guarded.stop()
            if not await guarded.ends_within(_STUCK_SECONDS):
                guarded.kill()
        return {
            "exit_code": guarded.exit_code(),
            "timed_out": timed_out,
            "output": guarded.output(),
        }
    finally:
        guarded.dismiss()


class _Guarded:
    """A command that runs under a guard.

    The standard library's own asynchronous processes are killed when they are forgotten; here it
    is the guard that must be the last to go.
    """

    def __init__(self, command: str, folder: Path) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._kept = _Kept(LONGEST_OUTPUT)
        self._said = b""
        self._process, self._lifeline, self._out, self._status = _start(command, folder)
        self._loop.add_reader(self._out, self._read_output)
        self._loop.add_reader(self._status, self._read_status)

    async def ends_within(self, seconds: float) -> bool:
        """Wait for the end, `seconds` at most."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        return self._ended.is_set()

    def stop(self) -> None:
        """Give the sign to stop; the guard does the rest."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def kill(self) -> None:
        """Kill the command's group without the guard, which does not answer."""
        group = re.search(rb"^pid (\d+)$", self._said, re.MULTILINE)
        with suppress(OSError):
            self._process.kill()
        with suppress(OSError):
            if group is not None:
                os.killpg(int(group[1]), signal.SIGKILL)

    def exit_code(self) -> int | None:
        """What the command ended with; None if nobody knows.

        Raises:
            ToolError: It never began.
        """
        failed = re.search(rb"^failed (.+)$", self._said, re.MULTILINE)
        if failed is not None:
            raise _cannot_start(failed[1].decode("utf-8", "replace"))
        code = re.search(rb"^exit (\d+)$", self._said, re.MULTILINE)
        if code is None:
            self.kill()
        return int(code[1]) if code is not None else None

    def output(self) -> str:
        """What was printed, or its head and tail."""
        return self._kept.text()

    def dismiss(self) -> None:
        """Let go of everything; whatever still runs is ended by the guard."""
        self.stop()
        for descriptor in (self._out, self._status):
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
        self._out = self._status = -1
        # The guard may have two seconds of work left, and nobody here waits for it.
        threading.Thread(target=self._process.wait, name="shell-guard", daemon=True).start()

    def _read_output(self) -> None:
        size = self._take_output()
        if size in {0, _READ_SIZE}:
            self._loop.remove_reader(self._out)
        if size == _READ_SIZE:
            self._loop.call_later(_PAUSE_SECONDS, self._resume)

    def _resume(self) -> None:
        if self._out >= 0:
            self._loop.add_reader(self._out, self._read_output)

    def _take_output(self) -> int:
        """Read once: how many bytes, 0 at the end, -1 if there is nothing yet."""
        try:
            data = os.read(self._out, _READ_SIZE)
        except BlockingIOError:
            return -1
        self._kept.add(data)
        return len(data)

    def _read_status(self) -> None:
        line = os.read(self._status, 4096)
        self._said += line
        if not line:
            self._loop.remove_reader(self._status)
            # Its processes are gone: what they have printed is in the pipe, and no more comes.
            for _ in range(64):
                if self._take_output() <= 0:
                    break
            self._ended.set()


def _start(command: str, folder: Path) -> tuple["subprocess.Popen[bytes]", int, int, int]:
    """Start the guard: its process, the lifeline, the output and the status."""
    (sign, lifeline), (out, printed), (status, said) = os.pipe(), os.pipe(), os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603 - running what it is given is what it is for
            [sys.executable, "-I", "-S", _GUARD, command],
            stdin=sign,
            stdout=printed,
            stderr=said,
            cwd=folder,
            env={"PATH": _PATH, "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "dumb"},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        for descriptor in (lifeline, out, status):
            os.close(descriptor)
        why = error.strerror if isinstance(error, OSError) else "it holds a character it may not"
        raise _cannot_start(str(why)) from error
    finally:
        for descriptor in (sign, printed, said):
            os.close(descriptor)
    os.set_blocking(out, False)
    return process, lifeline, out, status


def _cannot_start(why: str) -> ToolError:
    return ToolError(f"The command could not be started: {why}.")


class _Kept:
    """The head and the tail of an output, whose middle may be of any length."""

    def __init__(self, longest: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._half = (longest - len(_note(10**12))) // 2
        self._longest = longest
        self._head = self._tail = ""
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Take in what was read; nothing at the end."""
        text = self._decoder.decode(data, final=not data)
        room = self._half - len(self._head)
        self._head += text[:room] if room > 0 else ""
        tail = self._tail + text[max(room, 0) :]
        self._tail = tail[-(self._longest - self._half) :]
        self._dropped += len(tail) - len(self._tail)

    def text(self) -> str:
        """What is kept, with a note of how much is not."""
        if not self._dropped:
            return self._head + self._tail
        tail = self._tail[-self._half :]
        left_out = self._dropped + len(self._tail) - len(tail)
        return f"{self._head}{_note(left_out)}{tail}"


def _note(left_out: int) -> str:
    return f"\n[… {left_out:,} characters left out …]\n"
