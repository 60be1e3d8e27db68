"""The bytes of files on disk."""

import hashlib
import stat

import pytest

from gateway.media.store import MediaStore


def written(store: MediaStore, number: int, data: bytes = b"hello") -> None:
    with store.writing(number) as incoming:
        incoming.write(data)


def half_written(store: MediaStore, number: int, error: type[BaseException]) -> None:
    with store.writing(number) as incoming:
        incoming.write(b"half")
        raise error


def read(store: MediaStore, number: int) -> bytes:
    with store.open(number) as file:
        return file.read()


@pytest.mark.proves("D17")
def test_only_we_may_read_what_is_kept(tmp_path):
    store = MediaStore(tmp_path / "media")
    written(store, 4711)
    place = tmp_path / "media" / "4" / "4711"

    modes = [
        stat.S_IMODE(each.stat().st_mode) for each in (place, place.parent, tmp_path / "media")
    ]

    assert modes == [0o600, 0o700, 0o700]
    assert read(store, 4711) == b"hello"


def test_the_head_and_the_digest_are_known_when_it_is_written(tmp_path):
    with MediaStore(tmp_path).writing(1) as incoming:
        for _ in range(3):
            incoming.write(b"x" * 5000)

    assert incoming.size == 15000
    assert incoming.head == b"x" * 8192
    assert incoming.sha256 == hashlib.sha256(b"x" * 15000).hexdigest()


# B132: the partial file is removed
@pytest.mark.proves("D17")
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_of_a_file_that_was_not_finished(tmp_path, error):
    store = MediaStore(tmp_path)
    with pytest.raises(error):
        half_written(store, 7, error)

    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []
    with pytest.raises(FileNotFoundError):
        store.open(7)


def test_what_a_dead_process_left_half_written_is_written_anew(tmp_path):
    store = MediaStore(tmp_path)
    written(store, 1)
    (tmp_path / "0" / "2.part").symlink_to(tmp_path / "0" / "1")
    written(store, 2, b"other")

    assert read(store, 1) == b"hello"
    assert read(store, 2) == b"other"


def test_a_copy_is_not_written_through_a_link(tmp_path):
    store = MediaStore(tmp_path / "media")
    written(store, 1)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "link").symlink_to(victim)

    with pytest.raises(FileExistsError):
        store.copy(1, tmp_path / "link")
    store.copy(1, tmp_path / "copy")

    assert victim.read_text() == "mine"
    assert (tmp_path / "copy").read_bytes() == b"hello"
    assert not (tmp_path / "copy").samefile(tmp_path / "media" / "0" / "1")


def test_a_file_that_is_removed_twice_is_no_error(tmp_path):
    store = MediaStore(tmp_path)
    written(store, 1)
    store.remove(1)
    store.remove(1)

    with pytest.raises(FileNotFoundError):
        store.open(1)


def test_a_disk_that_would_be_full_has_no_room(tmp_path):
    store = MediaStore(tmp_path / "not" / "made")

    assert not store.has_room(10**18)
