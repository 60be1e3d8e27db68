"""The supervisor with stand-ins for what it runs: real processes, real signals."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hermes_site.supervisor.checks import NEEDED_BYTES, refuse_a_full_disk
from hermes_site.supervisor.child import kill_group, leashed
from hermes_site.supervisor.errors import DataDirectoryUnusable, DiskFull
from hermes_site.supervisor.home import Home
from tests.acceptance.stack import is_alive
from tests.services import ValkeyService, free_port, wait_until

PROJECT = Path(__file__).resolve().parent.parent.parent


class Site:
    """One supervised installation of stand-ins."""

    def __init__(self, data_dir: Path, *arguments: str, **environment: str) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.integration.standin_site"),
                *("--data-dir", str(data_dir), "--port", str(self.port), *arguments),
            ],
            cwd=PROJECT,
            env={"PATH": os.environ["PATH"], **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    @property
    def state(self) -> dict:
        with contextlib.suppress(FileNotFoundError):
            return json.loads((self.data_dir / "up.json").read_text())
        return {}

    def pid(self, name: str) -> int | None:
        return self.state.get("children", {}).get(name, {}).get("pid")

    @property
    def pids(self) -> list[int]:
        return [child["pid"] for child in self.state["children"].values() if child["pid"]]

    def wait_until_ready(self) -> None:
        wait_until(lambda: self.state.get("ready"), "the stand-ins are ready")

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Wait for its end; the exit code and all it said."""
        output, _ = self._process.communicate(timeout=30)
        return self._process.returncode, output

    def close(self) -> None:
        """Leave nothing running, even where the supervisor failed to."""
        left = self.pids if self.state else []
        if self._process.poll() is None:
            self._process.kill()
        for pid in left:
            kill_group(pid)
        self._process.communicate()


@pytest.fixture
def start(tmp_path):
    sites = []

    def make(*arguments, data_dir=tmp_path / "data", **environment):
        sites.append(Site(data_dir, *arguments, **environment))
        return sites[-1]

    yield make
    for site in sites:
        site.close()


def test_a_killed_process_is_started_again(start):
    site = start()
    site.wait_until_ready()
    before = site.pid("worker")

    os.kill(before, signal.SIGKILL)

    wait_until(lambda: site.pid("worker") not in {before, None}, "the worker is back")
    assert is_alive(site.pid("worker"))
    assert site.state["children"]["worker"]["restarts"] == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has such a file")
def test_a_killed_process_is_started_again_though_its_log_is_full(start, tmp_path):
    logs = tmp_path / "data" / "logs"
    logs.parent.mkdir(mode=0o700)
    logs.mkdir(mode=0o700)
    (logs / "worker.log").symlink_to("/dev/full")
    site = start()
    site.wait_until_ready()
    before = site.pid("worker")

    os.kill(before, signal.SIGKILL)

    wait_until(lambda: site.pid("worker") not in {before, None}, "the worker is back")


def test_the_apps_end_before_what_they_stand_on(start):
    site = start()
    site.wait_until_ready()

    site.signal(signal.SIGINT)

    code, output = site.end()
    ended = (site.data_dir / "ended").read_text().split()
    assert (code, ended[-1], sorted(ended[:-1])) == (0, "base", ["beat", "web", "worker"]), output


def test_a_clean_stop_leaves_no_process_and_no_state_file(start):
    site = start()
    site.wait_until_ready()
    pids = site.pids

    site.signal(signal.SIGTERM)

    assert site.end()[0] == 0
    assert [pid for pid in pids if is_alive(pid)] == []
    assert site.state == {}


def test_a_process_that_ignores_its_stop_signal_is_killed_after_its_grace(start):
    site = start(STANDIN_DEAF="beat")
    site.wait_until_ready()
    deaf = site.pid("beat")
    log = site.data_dir / "logs" / "beat.log"
    wait_until(lambda: "hello" in log.read_text(), "it can ignore signals")

    site.signal(signal.SIGTERM)

    code, output = site.end()
    assert code == 0
    assert "beat | had not ended; killed after 1 s" in output
    assert not is_alive(deaf)


def test_a_second_stop_signal_kills_without_waiting(start):
    site = start(STANDIN_DEAF="web")  # its grace is longer
    site.wait_until_ready()  # web answers, so it can ignore signals
    site.signal(signal.SIGINT)
    wait_until(lambda: site.state["children"]["worker"]["pid"] is None, "the others end")

    site.signal(signal.SIGINT)

    code, output = site.end()
    assert code == 0
    assert "web | had not ended; killed at once" in output


def test_nothing_survives_a_killed_supervisor(start):
    site = start()
    site.wait_until_ready()
    pids = site.pids

    site.signal(signal.SIGKILL)

    site.end()
    assert len(pids) == 4
    wait_until(lambda: not any(is_alive(pid) for pid in pids), "every process is gone")


def test_after_a_killed_supervisor_the_same_directory_starts_again(start):
    first = start()
    first.wait_until_ready()
    first.signal(signal.SIGKILL)
    first.end()

    second = start()

    wait_until(lambda: second.state.get("port") == second.port, "the second one starts")
    second.wait_until_ready()


def test_where_the_kernel_cannot_hold_it_a_process_still_dies_with_its_parent(tmp_path):
    pid_file = tmp_path / "pid"
    program = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"
    command = leashed([sys.executable, "-c", program, str(pid_file)], hold="pipe")
    leash = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    wait_until(lambda: pid_file.exists() and pid_file.read_text(), "the process runs")

    leash.stdin.close()  # as the kernel does for a parent that is gone

    leash.wait(10)
    wait_until(lambda: not is_alive(int(pid_file.read_text())), "the process is gone")


def test_a_second_instance_is_refused_and_the_first_is_named(start):
    first = start()
    first.wait_until_ready()

    code, output = start().end()

    assert code == 3
    assert f"already runs on {first.data_dir} (pid {first.state['supervisor']})" in output


def test_two_instances_run_side_by_side_in_two_directories(start, tmp_path):
    one, other = start(), start(data_dir=tmp_path / "other")

    one.wait_until_ready()
    other.wait_until_ready()

    assert set(one.pids).isdisjoint(other.pids)


def test_a_port_in_use_is_named(start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        code, output = start("--port", str(port)).end()

    assert code == 4
    assert f"Port {port} on 127.0.0.1 is already in use." in output


def test_a_process_that_never_comes_up_is_named_with_the_end_of_its_log(start):
    site = start("--ready-within", "1", STANDIN_BROKEN="worker")

    code, output = site.end()

    report = output.partition("Cannot start:")[2]
    assert code == 8
    assert "worker did not become ready." in report
    assert "worker is not up: no beat seen" in report
    assert "ERROR stand-in: cannot work" in report


def test_warnings_reach_the_terminal_with_the_name_of_their_process(start):
    site = start()
    site.wait_until_ready()
    site.signal(signal.SIGINT)

    output = site.end()[1]

    assert "worker | 2026-01-01T00:00:00 WARNING stand-in: hello from worker" in output
    assert "hello from worker" in (site.data_dir / "logs" / "worker.log").read_text()


def test_the_real_broker_keeps_its_data_over_a_restart(start):
    site = start(STANDIN_BROKER="1")
    site.wait_until_ready()
    path = site.state["redis_url"].removeprefix("unix://")
    assert tell(path, b"SET kept yes\r\n") == b"+OK\r\n"
    before = site.pid("valkey")

    os.kill(before, signal.SIGKILL)

    wait_until(lambda: site.pid("valkey") not in {before, None}, "the broker is back")
    wait_until(lambda: tell(path, b"GET kept\r\n") == b"$3\r\nyes\r\n", "it remembers")


def test_a_directory_too_deep_for_a_socket_gets_its_sockets_elsewhere(start, tmp_path):
    deep = tmp_path / ("deep" * 25)
    with tempfile.TemporaryDirectory(dir="/tmp") as runtime:
        site = start(data_dir=deep, STANDIN_BROKER="1", XDG_RUNTIME_DIR=runtime)

        site.wait_until_ready()

        assert site.state["redis_url"].startswith(f"unix://{runtime}/hermes-")


def tell(path: str, question: bytes) -> bytes:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(question)
            return connection.recv(64)
    except OSError:
        return b""


def test_a_new_data_directory_is_ours_alone(tmp_path):
    home = Home(tmp_path / "new")
    assert not home.root.exists()

    home.make()

    assert home.root.stat().st_mode & 0o777 == 0o700


def test_the_secret_key_is_made_once_and_readable_by_us_alone(tmp_path):
    home = Home(tmp_path / "data")
    home.make()

    first, second = home.secret_key(), home.secret_key()

    assert first == second
    assert len(first) >= 50
    assert (home.root / "secret_key").stat().st_mode & 0o777 == 0o600


def test_a_data_directory_open_to_others_is_refused_with_the_cure(tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "hermes.sqlite3").touch()

    with pytest.raises(DataDirectoryUnusable, match=f"mode 0755.*chmod 700 {tmp_path}"):
        Home(tmp_path)


def test_a_file_in_place_of_the_data_directory_is_named(tmp_path):
    (tmp_path / "data").touch()

    with pytest.raises(DataDirectoryUnusable, match="is a file"):
        Home(tmp_path / "data")


def test_a_full_disk_is_refused_with_what_is_needed(tmp_path):
    with pytest.raises(DiskFull, match="only 7 MB left and 200 MB are needed"):
        refuse_a_full_disk(tmp_path, measure=lambda _: 7 * 2**20)


def test_just_enough_room_is_enough(tmp_path):
    refuse_a_full_disk(tmp_path, measure=lambda _: NEEDED_BYTES)


# --- refusals: a sentence, and no trace -----------------------------------------------------------


def lines(output: str) -> int:
    return len(output.strip().splitlines())


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"HERMES_LOG_LEVEL": "LOUD"}, "HERMES_LOG_LEVEL must be one of DEBUG, INFO,"),
        ({"DATABASE_URL": "mysql://u:s3cret@h/x"}, "DATABASE_URL must be postgres://"),
        ({"DATABASE_URL": "postgres://u:s3cret@127.0.0.1:1/x"}, "PostgreSQL at 127.0.0.1:1 "),
        ({"DATABASE_URL": "sqlite:////nonexistent/x"}, "in /nonexistent, which is no directory"),
        ({"REDIS_URL": "redis://:s3cret@127.0.0.1:1/0"}, "The broker at 127.0.0.1:1 does not"),
        ({"DJANGO_SETTINGS_MODULE": "nowhere"}, "No module named 'nowhere'"),
    ],
)
def test_an_environment_that_is_unfit_is_refused_in_one_sentence(start, variables, said):
    site = start(STANDIN_EXAMINED="1", **variables)

    code, output = site.end()

    assert (code, lines(output)) == (9, 1), output
    assert said in output
    assert "s3cret" not in output
    assert not site.data_dir.exists()


def test_a_fit_environment_is_taken_with_the_servers_it_names(start):
    with ValkeyService() as broker:
        site = start(STANDIN_EXAMINED="1", REDIS_URL=broker.url)

        site.wait_until_ready()


def test_a_port_in_use_leaves_no_data_directory(start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        site = start("--port", str(taken.getsockname()[1]))

        assert site.end()[0] == 4

    assert not site.data_dir.exists()


def test_a_database_that_refuses_is_named_in_one_sentence(start):
    code, output = start(STANDIN_PREPARATION='{"problem": "no such role."}').end()

    said = output.partition("Cannot start: ")[2]
    assert (code, lines(said)) == (7, 1)
    assert "could not be brought up to date: no such role. More is in" in said


def test_a_preparation_that_breaks_is_told_by_its_last_words(start):
    code, output = start(STANDIN_PREPARATION="half").end()

    said = output.partition("Cannot start: ")[2]
    assert (code, lines(said)) == (7, 1)
    assert "brought up to date: last words More is in" in said


def test_a_process_that_said_nothing_has_no_heading_for_its_last_lines(start):
    code, output = start("--ready-within", "1", STANDIN_BROKEN="worker", STANDIN_QUIET="1").end()

    assert code == 8
    assert "The last lines" not in output


def test_where_nothing_ended_the_time_was_too_short(start):
    code, output = start("--ready-within", "0.2", STANDIN_SLOW="1").end()

    assert code == 8
    assert "0.2 s were too short: more with --ready-within." in output


def test_what_an_earlier_run_said_is_not_taken_for_the_present(start):
    first = start()
    first.wait_until_ready()
    first.signal(signal.SIGINT)
    first.end()

    code, output = start("--ready-within", "0.2", STANDIN_SLOW="1", STANDIN_QUIET="1").end()

    assert code == 8
    assert "hello from" not in output.partition("Cannot start")[2]
