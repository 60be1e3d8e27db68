"""What may be opened in a session's own directory ([X2])."""

import os
from pathlib import Path

import pytest

from gateway.media.rooms import NotSendable, open_inside


@pytest.fixture
def room(tmp_path) -> Path:
    made = tmp_path / "rooms" / "7"
    (made / "inbox").mkdir(parents=True)
    (made / "report.txt").write_text("mine")
    (made / "inbox" / "cat.jpg").write_text("cat")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "rooms" / "8").mkdir()
    (tmp_path / "rooms" / "8" / "other.txt").write_text("another session's")
    return made


def text_of(room: Path, path: str) -> bytes:
    with open_inside(room, path) as file:
        return file.read()


def test_a_file_of_the_directory_is_opened_by_either_path(room):
    assert text_of(room, "report.txt") == b"mine"
    assert text_of(room, "./inbox/cat.jpg") == b"cat"
    assert text_of(room, str(room / "inbox" / "cat.jpg")) == b"cat"


# B140
@pytest.mark.proves("X2")
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/proc/self/environ",
        "/app/.env",
        "../8/other.txt",
        "inbox/../../8/other.txt",
        "../../secret",
        "",
        ".",
        "..",
        "/",
        "inbox",
        "missing.txt",
        "report.txt/x",
        "report.txt\x00.jpg",
        "~/report.txt",
        "C:\\Windows\\win.ini",
        "file:///etc/passwd",
        "x" * 5000,
    ],
)
def test_nothing_outside_is_opened_whatever_it_is_called(room, path):
    with pytest.raises(NotSendable) as refused:
        text_of(room, path)

    assert str(refused.value).endswith(".")


@pytest.mark.proves("X2")
def test_no_link_is_followed(room, tmp_path):
    (room / "link").symlink_to(tmp_path / "secret")
    (room / "inner").symlink_to(room / "report.txt")
    (room / "folder").symlink_to("/etc")
    (room / "processes").symlink_to("/proc/self")

    for path in ("link", "inner", "folder/hostname", "processes/environ"):
        with pytest.raises(NotSendable):
            text_of(room, path)


@pytest.mark.proves("X2")
def test_a_second_name_of_a_file_outside_is_refused(room, tmp_path):
    os.link(tmp_path / "secret", room / "innocent.txt")

    with pytest.raises(NotSendable, match="another name"):
        text_of(room, "innocent.txt")


@pytest.mark.proves("X2")
def test_what_is_no_file_is_refused_at_once(room):
    os.mkfifo(room / "pipe")

    for path in ("pipe", "inbox"):
        with pytest.raises(NotSendable):
            text_of(room, path)


@pytest.mark.proves("X2")
@pytest.mark.parametrize("path", [".netrc", ".ssh/id_ed25519", "inbox/.env"])
def test_hidden_files_are_refused(room, path):
    place = room / path
    place.parent.mkdir(exist_ok=True)
    place.write_text("password")

    with pytest.raises(NotSendable, match="Hidden"):
        text_of(room, path)


@pytest.mark.proves("X2")
def test_a_directory_of_a_session_that_became_a_link_is_refused(room, tmp_path):
    link = tmp_path / "rooms" / "9"
    link.symlink_to("/etc")

    with pytest.raises(NotSendable):
        text_of(link, "hostname")


def test_an_empty_file_is_refused(room):
    (room / "empty").touch()

    with pytest.raises(NotSendable, match="empty"):
        text_of(room, "empty")


def test_refusing_leaves_nothing_open(room):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in ("inbox", "missing", "report.txt/x", "inbox/missing"):
        with pytest.raises(NotSendable):
            text_of(room, path)

    assert len(list(Path("/proc/self/fd").iterdir())) == before
