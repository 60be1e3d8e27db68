"""What a file is, by its first bytes."""

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.media import kinds

OPUS = b"OggS\0\x02" + b"\0" * 22 + b"\x01\x13OpusHead" + b"\0" * 20
VORBIS = b"OggS\0\x02" + b"\0" * 22 + b"\x01\x1e\x01vorbis" + b"\0" * 20


def zipped() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a", "b")
    return made.getvalue()


# B134: neither the name nor what the sender says decides
@pytest.mark.proves("D17")
@pytest.mark.parametrize(
    ("head", "name", "mime_type"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "x.txt", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "x.png", "image/jpeg"),
        (b"GIF89a" + b"\0" * 20, "", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "", "image/webp"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "", "audio/wav"),
        (OPUS, "reply.mp3", "audio/ogg"),
        (b"ID3\x03" + b"\0" * 20, "song.ogg", "audio/mpeg"),
        (b"\0\0\0\x18ftypisom\0\0\0\0isomiso2" + b"\0" * 20, "", "video/mp4"),
        (b"\x1aE\xdf\xa3" + b"\0" * 40, "", "video/webm"),
        (b"%PDF-1.7\n", "x.exe", "application/pdf"),
        (zipped(), "x.docx", "application/zip"),
        (b"MZ\x90\0" + b"\0" * 60, "cat.png", kinds.UNKNOWN),
        (b"<!DOCTYPE html><html><head>", "cat.png", "text/html"),
        (b"\n  <HTML lang=en>", "a.pdf", "text/html"),
        (b'<?xml version="1.0"?>\n<svg xmlns="x">', "cat.png", "image/svg+xml"),
        (b"<!-- hi --><html>", "a.txt", "text/html"),
        (b"hello", "notes.md", "text/markdown"),
        (b"a,b\n1,2\n", "t.csv", "text/csv"),
        (b'{"a": 1}', "t.json", "application/json"),
        (b"hello", "page.html", "text/plain"),
        (b"hello", "cat.png", "text/plain"),
        ("日本語".encode() * 3000, "", "text/plain"),
        (b"", "cat.png", kinds.UNKNOWN),
        (b"\x00\x01\x02", "cat.png", kinds.UNKNOWN),
    ],
)
def test_the_first_bytes_decide(head, name, mime_type):
    assert kinds.sniff(head[: kinds.HEAD], name) == mime_type


# B136
def test_only_opus_in_ogg_is_a_voice_message():
    assert kinds.is_voice("audio/ogg", OPUS)
    assert not kinds.is_voice("audio/ogg", VORBIS)
    assert not kinds.is_voice("audio/mpeg", OPUS)


def test_a_kind_has_the_suffix_that_people_expect():
    found = [kinds.suffix(each) for each in ("image/jpeg", "audio/ogg", "x/unheard-of")]

    assert found == [".jpg", ".ogg", ""]


@given(st.binary(max_size=600), st.text(max_size=30))
def test_any_bytes_are_of_some_kind(head, name):
    assert "/" in kinds.sniff(head, name)
