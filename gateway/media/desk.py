"""What the agent gets to see of the files that came: copies in its session's own directory.

The agent may do with a copy what it likes; what is kept stays as it came. Every label in the
prompt is replaced by where the file lies, or by why it does not, at the place where it was said.
"""

import os
from pathlib import Path

from gateway.conf import gateway_settings
from gateway.media import kinds, names, shelf
from gateway.media.store import MediaStore
from gateway.models import MediaFile, MediaState, Turn

INBOX = "inbox"
ELSEWHERE = "It was kept on another host, out of this worker's reach."
UNREADABLE = "It could not be put where you could read it."


def prompt_of(turn: Turn) -> str:
    """What a turn is begun with: its words, and for each file where it lies or why it is missing.

    The files are copied into the session's directory first.
    """
    files = shelf.of(turn) if turn.held_until is not None else []
    if not files:
        return turn.prompt
    desk = Desk(shelf.store(), workspace(turn))
    said, at = turn.prompt, 0
    for file in files:
        line = desk.line(file)
        found = said.find(file.label, at) if file.label else -1
        if found < 0:  # the words were changed after they were said
            said = f"{said}\n{line}" if said else line
            continue
        said = said[:found] + line + said[found + len(file.label) :]
        at = found + len(line)
    return said


def workspace(turn: Turn) -> Path:
    """The directory that belongs to a turn's session and to no other."""
    return Path(gateway_settings().workspaces) / str(turn.session_id)


class Desk:
    """Lays files out in a session's directory.

    Args:
        store: Where they are kept.
        room: The session's directory; made if it is not there.
    """

    def __init__(self, store: MediaStore, room: Path) -> None:
        self._store, self._room = store, room

    def line(self, file: MediaFile) -> str:
        """One line about a file, for the model: where it lies, or why it is missing."""
        what = f"{file.kind}: {file.name}" if file.name else file.kind
        if file.state != MediaState.KEPT:
            reason = file.reason or shelf.NOT_IN_TIME
            return f"[{what} — missing. {reason}]"
        try:
            place = self._lay_out(file)
        except FileNotFoundError:
            return f"[{what} — missing. {ELSEWHERE}]"
        except OSError:
            return f"[{what} — missing. {UNREADABLE}]"
        return f"[{what} — {place}, {shelf.described(file)}]"

    def _lay_out(self, file: MediaFile) -> str:
        """Copy a file into the inbox; its path, relative to the directory."""
        inbox = self._room / INBOX
        for folder in (self._room.parent, self._room, inbox):
            # The agent can put a link there; what comes in must not be led elsewhere by it.
            if folder == inbox and folder.is_symlink():
                folder.unlink()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = {entry.name.lower() for entry in os.scandir(inbox)}
        wanted = file.name or file.kind
        name = names.fitting(wanted, kinds.suffix(file.mime_type), there)
        self._store.copy(file.pk, inbox / name)
        return f"{INBOX}/{name}"
