"""The real thing, as a user starts it: every process, on a free port, in its own directory."""

import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from hermes_site.supervisor.child import kill_group, leashed
from tests.services import (
    ValkeyService,
    drop_database,
    fresh_database,
    shared_postgres_url,
    wait_until,
)

PROJECT = Path(__file__).resolve().parent.parent.parent
# Nothing of the developer's own configuration may reach the processes under test.
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_RUNTIME_DIR")
READY_WITHIN_SECONDS = 90
STOPPED_WITHIN_SECONDS = 40


class Stack:
    """One installation under `manage.py up`. Use it as a context manager.

    Args:
        data_dir: Its data directory.
        env: What else its environment holds (`TELEGRAM_BOT_TOKEN`, `TELEGRAM_API_BASE_URL`, …).
        db: `sqlite`: everything embedded, as on a fresh machine. `postgres`: PostgreSQL and
            a broker outside of the supervisor, as in production.
        arguments: More arguments of `up`.
    """

    def __init__(self, data_dir, env=None, db="sqlite", arguments=()) -> None:
        self.data_dir = Path(data_dir)
        self.db = db
        self._arguments = [str(argument) for argument in arguments]
        self._broker: ValkeyService | None = None
        self._database = f"stack_{secrets.token_hex(6)}"
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self.env = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        self.env.update(env or {})

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what runs -------------------------------------------------------------------------

    @property
    def state(self) -> dict:
        """What the supervisor says runs; empty when it says nothing."""
        try:
            return json.loads((self.data_dir / "up.json").read_text())
        except FileNotFoundError:
            return {}

    @property
    def port(self) -> int:
        return self.state["port"]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pids(self) -> dict[str, int]:
        """The process id of everything that runs now, by name; the supervisor's too."""
        children = self.state.get("children", {})
        found = {name: child["pid"] for name, child in children.items() if child["pid"]}
        if self._broker is not None:
            found["valkey"] = self._broker.pid
        if self._process is not None:
            found["supervisor"] = self._process.pid
        return found

    def logs(self, name: str) -> str:
        """All that a process has said; `supervisor` for what stands on the terminal."""
        path = self.data_dir / "logs" / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def is_ready(self) -> bool:
        """Whether the site itself says that everything works."""
        port = self.state.get("port", 0)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    # --- starting and stopping -------------------------------------------------------------

    def start(self) -> None:
        """Start everything and wait until it is ready."""
        if self.db == "postgres":
            self._use_outside_servers()
        logs = self.data_dir / "logs"
        logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.data_dir.chmod(0o700)
        (self.data_dir / "up.json").unlink(missing_ok=True)
        command = [sys.executable, str(PROJECT / "manage.py"), "up", "--port", str(self._port)]
        with (logs / "supervisor.log").open("ab") as log:
            self._process = subprocess.Popen(
                leashed([*command, "--data-dir", str(self.data_dir), *self._arguments]),
                cwd=PROJECT,
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.wait_until_ready()
        self._port = self.port  # the same again after a restart, as for a user

    def wait_until_ready(self, within: float = READY_WITHIN_SECONDS) -> None:
        """Wait for the supervisor's word and the site's own."""

        def settled() -> bool:
            self._fail_if_over()
            return bool(self.state.get("ready")) and self.is_ready()

        wait_until(settled, "the stack is ready", log=self._terminal_log, within=within)

    def stop(self) -> int:
        """Stop everything cleanly, as Ctrl-C does; the exit code."""
        process = self._process
        if process is None:
            return 0
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(STOPPED_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill9_all()
            raise
        self._forget()
        return code

    def restart(self) -> None:
        """Stop cleanly if it runs, and start again on the same data and port."""
        self.stop()
        self.start()

    def kill9(self, name: str) -> int:
        """Kill one process as a crash would, and wait until it is gone; its pid."""
        if name == "supervisor":
            return self._kill_supervisor()
        if name == "valkey" and self._broker is not None:
            pid = self._broker.pid
            self._broker.kill9()
            self._broker.start()
            return pid
        pid = self.pids[name]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), f"{name} is gone", within=10)
        return pid

    def kill9_all(self) -> None:
        """Kill the supervisor and everything it runs at one instant, as a power cut would."""
        pids = self.pids
        own = {name: pid for name, pid in pids.items() if name == "supervisor"}
        rest = {name: pid for name, pid in pids.items() if name not in own}
        for pid in [*own.values(), *rest.values()]:
            if self._broker is None or pid != self._broker.pid:
                kill_group(pid)
        if self._broker is not None:
            self._broker.kill9()
            self._broker.start()
        if self._process is not None:
            self._process.wait()
            self._forget()
        for name, pid in rest.items():
            wait_until(lambda pid=pid: not is_alive(pid), f"{name} is gone", within=10)

    def manage(self, *arguments: object, check: bool = True) -> str:
        """Run a management command on this installation; what it printed."""
        result = subprocess.run(
            [sys.executable, str(PROJECT / "manage.py"), *(str(a) for a in arguments)],
            cwd=PROJECT,
            env=self.command_environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and result.returncode != 0:
            raise AssertionError(f"{arguments} failed:\n{result.stdout}\n{result.stderr}")
        return result.stdout

    @property
    def command_environment(self) -> dict[str, str]:
        """The environment in which a command works on this installation."""
        state = self.state
        found = {
            "DATABASE_URL": state.get("database_url"),
            "REDIS_URL": state.get("redis_url"),
            "HERMES_BASE_URL": state.get("url"),
        }
        known = {name: value for name, value in found.items() if value}
        return {**known, **self.env, "HERMES_DATA_DIR": str(self.data_dir)}

    def close(self) -> None:
        """End everything, whatever state it is in, and leave nothing running."""
        try:
            self.stop()
        finally:
            if self._broker is not None:
                self._broker.close()
                self._broker = None
                drop_database(shared_postgres_url(), self._database)

    # --- inside ----------------------------------------------------------------------------

    @property
    def _terminal_log(self) -> Path:
        return self.data_dir / "logs" / "supervisor.log"

    def _use_outside_servers(self) -> None:
        if self._broker is None:
            self._broker = ValkeyService()
            self._broker.start()
            self.env["REDIS_URL"] = self._broker.url
            self.env["DATABASE_URL"] = fresh_database(shared_postgres_url(), self._database)

    def _fail_if_over(self) -> None:
        if self._process is not None and self._process.poll() is not None:
            code = self._process.returncode
            self._forget()
            raise AssertionError(f"up ended with code {code}:\n{self.logs('supervisor')[-4000:]}")

    def _kill_supervisor(self) -> int:
        assert self._process is not None, "not running"
        pid = self._process.pid
        self._process.kill()
        self._process.wait()
        self._forget()
        return pid

    def _forget(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc/self").exists()
