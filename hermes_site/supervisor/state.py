"""The state file: what runs, for tests, for `manage.py` in another terminal, and for people."""

import json
import os
from pathlib import Path
from typing import Any

from delivery.processes import this_process


class StateFile:
    """A JSON file that is always whole: readers see the old state or the new one.

    It only tells: that it cannot be written must stop nothing.

    Args:
        path: The file; readable by us alone.
        facts: What does not change while we run.
    """

    def __init__(self, path: Path, facts: dict[str, Any]) -> None:
        self._path = path
        who = {"supervisor": os.getpid(), "process": this_process()}
        self._state: dict[str, Any] = {**who, **facts, "children": {}}

    def update(self, **changes: Any) -> None:
        """Change some facts, on disk too."""
        self._state.update(changes)
        self._write()

    def child(self, name: str, **facts: Any) -> None:
        """Replace what is known of one process, on disk too."""
        self._state["children"][name] = facts
        self._write()

    def remove(self) -> None:
        """Nothing runs any more."""
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        """Put all of it on disk; a disk that is full keeps what it has until the next change."""
        fresh = self._path.with_suffix(".new")
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(self._state, file, indent=1)
            fresh.replace(self._path)
        except OSError:
            fresh.unlink(missing_ok=True)
