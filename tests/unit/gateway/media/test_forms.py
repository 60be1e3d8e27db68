"""In which form a file is sent."""

import pytest

from delivery.content import Limit, Media, Rendered, Unit
from delivery.ports import Certainty
from gateway.media import forms
from gateway.media.forms import Shape
from gateway.ports import Capabilities

ABLE = Capabilities(
    limit=Limit(4096, Unit.UTF16),
    certainty=Certainty.UNCERTAIN,
    images=True,
    files=True,
    voice=True,
    max_photo_bytes=1000,
)
MEEK = Capabilities(limit=Limit(4096, Unit.UTF16), certainty=Certainty.UNCERTAIN, files=True)


# B136: what it is decides, and whether it is meant to be heard
@pytest.mark.proves("D18")
@pytest.mark.parametrize(
    ("shape", "form"),
    [
        (Shape("image/png", 1000), "photo"),
        (Shape("image/jpeg", 1001), "document"),
        (Shape("image/gif", 10), "document"),
        (Shape("image/svg+xml", 10), "document"),
        (Shape("audio/ogg", 10, is_voice=True, as_voice=True), "voice"),
        (Shape("audio/ogg", 10, is_voice=True), "audio"),
        (Shape("audio/ogg", 10, as_voice=True), "audio"),
        (Shape("audio/mpeg", 10), "audio"),
        (Shape("audio/mpeg", 10, as_voice=True), "audio"),
        (Shape("audio/wav", 10), "document"),
        (Shape("video/mp4", 10), "video"),
        (Shape("video/webm", 10), "document"),
        (Shape("application/pdf", 10), "document"),
        (Shape("text/html", 10), "document"),
    ],
)
def test_a_file_goes_in_the_best_form_that_a_platform_takes(shape, form):
    assert forms.form_of(shape, ABLE) == form


def test_a_platform_without_pictures_and_voice_gets_something_else():
    assert forms.form_of(Shape("image/png", 10), MEEK) == "document"
    assert forms.form_of(Shape("audio/ogg", 10, is_voice=True, as_voice=True), MEEK) == "audio"


def test_whatever_is_refused_becomes_a_document():
    assert forms.worse("photo") == ("photo", "document")
    assert forms.worse("document") == ("document",)


def test_a_part_with_a_file_survives_its_column():
    media = Media(number=3, form="photo", name="a", mime_type="image/png", size=1, sha256="0")
    part = Rendered(text="t", plain="t", length=1, media=media)

    assert Rendered.from_dict(part.as_dict()) == part
    assert "media" not in Rendered(text="t", plain="t", length=1).as_dict()
