"""Tells one process of an installation where it is to die."""

from tests.acceptance.fatal.apps import ARMED
from tests.acceptance.stack import Stack
from tests.services import wait_until

FATAL = {"DJANGO_SETTINGS_MODULE": "tests.acceptance.fatal.settings"}


class Doom:
    """Death at one place, once, whichever process comes there first.

    Args:
        stack: An installation whose environment holds `FATAL`.
        place: A name of `fatal.apps.FUNCTIONS`, with `:before` or `:after` it.
    """

    def __init__(self, stack: Stack, place: str) -> None:
        self._file = stack.data_dir / ARMED
        self._place = place
        draft = self._file.with_suffix(".draft")
        draft.write_text(place)
        draft.rename(self._file)

    def wait_until_struck(self) -> None:
        """Wait for the death."""
        wait_until(lambda: not self._file.exists(), f"somebody dies at {self._place}")
