"""A disk that is full: logs and the state file lose words, and nothing else ends."""

import io
import json
from pathlib import Path

import pytest

from hermes_site.supervisor.journal import LARGEST_LOG_BYTES, Journal, Terminal
from hermes_site.supervisor.state import StateFile

FULL = Path("/dev/full")  # every write to it fails with ENOSPC (full(4))


@pytest.fixture
def screen() -> io.StringIO:
    return io.StringIO()


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has such a file")
def test_a_log_that_cannot_be_written_stops_nobody(screen):
    journal = Journal(FULL, name="worker", terminal=Terminal(screen))

    journal.write(b"2026-01-01 ERROR something\n")
    journal.say("ended (exit code 1); starting it again in 1 s")
    journal.close()

    shown = screen.getvalue()
    assert "worker | its log cannot be written: No space left on device" in shown
    assert "worker | ended (exit code 1); starting it again in 1 s" in shown


def test_a_log_that_cannot_be_moved_aside_goes_on(tmp_path, screen, monkeypatch):
    journal = Journal(tmp_path / "worker.log", name="worker", terminal=Terminal(screen))

    def refuse() -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(journal, "_open", refuse)
        journal.write(b"x" * LARGEST_LOG_BYTES + b"\n")
        journal.write(b"and more\n")

    journal.write(b"the last\n")
    journal.close()
    logs = sorted(path.name for path in tmp_path.iterdir())
    assert logs == ["worker.log", "worker.log.1"]
    assert (tmp_path / "worker.log.1").read_bytes().endswith(b"and more\nthe last\n")


def test_a_state_that_cannot_be_written_is_written_with_the_next_change(tmp_path):
    place = tmp_path / "gone"
    state = StateFile(place / "up.json", {"port": 1})

    state.child("worker", pid=7)
    place.mkdir()
    state.update(ready=True)

    written = json.loads((place / "up.json").read_text())
    assert (written["ready"], written["children"]) == (True, {"worker": {"pid": 7}})
