"""What a file is, by its first bytes and not by its name. Pure."""

import mimetypes
import re

import filetype

HEAD = 8192  # bytes that are looked at
UNKNOWN = "application/octet-stream"
TEXT = "text/plain"
HTML = "text/html"

_MARKUP = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,500}?-->\s*)*<(?:!doctype\s+)?(html|svg|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
# What the library does not know, or tells apart less than we must.
_BY_BEGINNING = (
    (b"#!AMR", "audio/amr"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"%!PS", "application/postscript"),
)
_SAME = {"audio/x-wav": "audio/wav", "application/x-msdownload": UNKNOWN}
_SUFFIXES = {
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "audio/mp4": ".m4a",
    "audio/wav": ".wav",
    "image/jpeg": ".jpg",
    "video/mp4": ".mp4",
    TEXT: ".txt",
    UNKNOWN: "",
}


def sniff(head: bytes, name: str = "") -> str:
    """The MIME type of a file.

    Args:
        head: Its first bytes, up to `HEAD` of them.
        name: What it is called: asked only to tell kinds of text apart.
    """
    if not head:
        return UNKNOWN
    found: str | None = filetype.guess_mime(head)
    if found is not None:
        return _SAME.get(found, found)
    for beginning, mime_type in _BY_BEGINNING:
        if head.startswith(beginning):
            return mime_type
    markup = _MARKUP.match(head)
    if markup is not None:
        return "image/svg+xml" if markup[1].lower() == b"svg" else HTML
    return _kind_of_text(name) if _is_text(head) else UNKNOWN


def is_voice(mime_type: str, head: bytes) -> bool:
    """Whether a sound is what a chat app plays as a voice message: Opus in an Ogg container."""
    return mime_type == "audio/ogg" and b"OpusHead" in head[:128]


def suffix(mime_type: str) -> str:
    """What names of such files end in; empty where nobody knows."""
    if mime_type in _SUFFIXES:
        return _SUFFIXES[mime_type]
    return mimetypes.guess_extension(mime_type) or ""


def family(mime_type: str) -> str:
    """`image`, `audio`, `video`, or whatever else a type begins with."""
    return mime_type.partition("/")[0]


def _is_text(head: bytes) -> bool:
    if b"\x00" in head:
        return False
    try:
        # The head may end in the middle of a character.
        head[: max(len(head) - 3, 1)].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 6
    return True


def _kind_of_text(name: str) -> str:
    guessed, _ = mimetypes.guess_type(name)
    is_text = guessed is not None and (
        guessed.startswith("text/") or guessed in {"application/json", "application/xml"}
    )
    # A page or a script is one only if its bytes say so.
    return guessed if is_text and guessed and guessed != HTML else TEXT
