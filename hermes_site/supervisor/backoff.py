"""How long to wait before a process that ended is started again. Pure."""

from dataclasses import dataclass


@dataclass
class Backoff:
    """A wait that doubles with each early end, and starts over after a long life.

    Args:
        first_seconds: The wait after the first end.
        top_seconds: The longest wait.
        calm_seconds: A process that lived this long counts as healthy again.
    """

    first_seconds: float = 0.5
    top_seconds: float = 15.0
    calm_seconds: float = 60.0
    _next_seconds: float | None = None

    def after(self, lived_seconds: float) -> float:
        """The wait, in seconds, before the next start.

        Args:
            lived_seconds: How long the process ran this time.
        """
        if self._next_seconds is None or lived_seconds >= self.calm_seconds:
            self._next_seconds = self.first_seconds
        wait = self._next_seconds
        self._next_seconds = min(wait * 2, self.top_seconds)
        return wait
