"""How often something may be done. Pure: times are seconds of one monotonic clock."""

from dataclasses import dataclass


@dataclass
class Budget:
    """At most `rate` times a second, with bursts of as many; what is over it is not done at all.

    For what may be dropped under pressure (typing notices, previews), never for what is owed.
    """

    rate: float
    _left: float = -1.0
    _at: float = 0.0

    def take(self, now: float) -> bool:
        """Whether it may be done now."""
        if self._left < 0:
            self._left, self._at = self.rate, now
        self._left = min(self.rate, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
