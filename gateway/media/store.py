"""The bytes of files, each under its row's number in a directory that only we may read."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gateway.media import kinds

_IN_ONE_FOLDER = 1000
_LEAST_FREE = 256 * 1024 * 1024  # bytes that are left to everything else on the disk


class Incoming:
    """A file while it is written; it counts for nothing until it is whole."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._digest = file, hashlib.sha256()
        self.head, self.size = b"", 0

    def write(self, piece: bytes) -> None:
        """Take the next bytes."""
        if len(self.head) < kinds.HEAD:
            self.head += piece[: kinds.HEAD - len(self.head)]
        self._digest.update(piece)
        self._file.write(piece)
        self.size += len(piece)

    @property
    def sha256(self) -> str:
        """The digest of what was taken so far."""
        return self._digest.hexdigest()


class MediaStore:
    """Files by number.

    Args:
        root: Their directory; made when the first one is written.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    @contextmanager
    def writing(self, number: int) -> Iterator[Incoming]:
        """Write a file; it is there when the block ends well, and nothing is if it does not."""
        place = self._place(number)
        for folder in (self._root, place.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
        unfinished = place.with_name(f"{place.name}.part")
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield Incoming(file)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(place)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    def open(self, number: int) -> BinaryIO:
        """The file, to be read.

        Raises:
            FileNotFoundError: It is not here; another host may have it.
        """
        return self._place(number).open("rb")

    def copy(self, number: int, place: Path) -> None:
        """Put a copy where somebody else may do with it as they like.

        Raises:
            FileNotFoundError: It is not here; another host may have it.
            FileExistsError: Something is at `place` already, perhaps a link.
        """
        with self.open(number) as file:
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as copied:
                shutil.copyfileobj(file, copied)

    def remove(self, number: int) -> None:
        """Let a file be no more; one that is not there is no error."""
        place = self._place(number)
        place.unlink(missing_ok=True)
        place.with_name(f"{place.name}.part").unlink(missing_ok=True)

    def has_room(self, size: int) -> bool:
        """Whether the disk holds `size` bytes more and is not full then."""
        existing = next(each for each in (self._root, *self._root.parents) if each.exists())
        return shutil.disk_usage(existing).free - size > _LEAST_FREE

    def _place(self, number: int) -> Path:
        return self._root / str(number // _IN_ONE_FOLDER) / str(number)
