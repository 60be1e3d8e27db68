"""In which form a file is sent: photo, voice message, sound, film or document. Pure."""

from dataclasses import dataclass

from gateway.ports import Capabilities

DOCUMENT = "document"
VOICE = "voice"

_PICTURES = frozenset({"image/jpeg", "image/png", "image/webp"})
_SOUNDS = frozenset({"audio/mpeg", "audio/mp4", "audio/ogg"})
_FILMS = frozenset({"video/mp4"})


@dataclass(frozen=True)
class Shape:
    """What decides about the form.

    Attributes:
        mime_type: By the first bytes.
        size: In bytes.
        is_voice: It is a sound as chat apps play voice messages.
        as_voice: It is meant to be heard like one.
    """

    mime_type: str
    size: int
    is_voice: bool = False
    as_voice: bool = False


def form_of(shape: Shape, able: Capabilities) -> str:
    """The best form that a platform takes; a document always goes where files go at all."""
    if shape.mime_type in _PICTURES and able.images and shape.size <= able.max_photo_bytes:
        return "photo"
    if shape.as_voice and shape.is_voice and able.voice:
        return VOICE
    if shape.mime_type in _SOUNDS:
        return "audio"
    if shape.mime_type in _FILMS:
        return "video"
    return DOCUMENT


def worse(form: str) -> tuple[str, ...]:
    """The forms in which it is tried, the best first."""
    return (form,) if form == DOCUMENT else (form, DOCUMENT)
