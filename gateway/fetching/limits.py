"""How much may be fetched and how long it may take, and the count of what comes. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.fetching.errors import TooLarge

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a fetch may cost.

    Attributes:
        size: Bytes of the file.
        seconds: From the first connection to the last byte, redirects included.
        quiet_seconds: Between two pieces of the answer.
        connect_seconds: Until a connection stands.
        redirects: How many are followed.
    """

    size: int = 128 * MIB
    seconds: float = 60.0
    quiet_seconds: float = 15.0
    connect_seconds: float = 10.0
    redirects: int = 5


class Meter:
    """Hands on what comes, as long as it is not too much.

    Args:
        write: Takes one piece.
        most: Bytes in all.
    """

    def __init__(self, write: Callable[[bytes], object], most: int) -> None:
        self._write, self._most = write, most
        self.size = 0

    def expect(self, size: int) -> None:
        """The other side says how much comes, in bytes.

        Raises:
            TooLarge: It is too much, so nothing of it need come.
        """
        if size > self._most:
            raise too_large(self._most, size)

    def take(self, piece: bytes) -> None:
        """One piece came.

        Raises:
            TooLarge: It is too much by now; the piece was not handed on.
        """
        self.size += len(piece)
        if self.size > self._most:
            raise too_large(self._most)
        self._write(piece)


def too_large(most: int, size: int = 0) -> TooLarge:
    """That a file is larger than `most` bytes; `size` if it is known."""
    is_so = f"It is {in_words(size)} large" if size else "It is too large"
    return TooLarge(f"{is_so}; at most {in_words(most)} are fetched.")


def in_words(size: int) -> str:
    """A size as people write it: `34 kB`, `1.2 MB`."""
    if size < 1000:
        return f"{size} bytes"
    if size < 1_000_000:
        return f"{size / 1000:.0f} kB"
    return f"{size / 1_000_000:.1f} MB"
