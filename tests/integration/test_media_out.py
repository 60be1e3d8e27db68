"""Files that go out: kept, owed in the ledger, and sent in the best form, each uploaded once."""

import itertools
import shutil
from dataclasses import dataclass, field

import pytest
from asgiref.sync import async_to_sync
from django.urls import reverse

from delivery.content import Limit, Media, Unit
from delivery.errors import (
    AnchorGone,
    FormattingRefused,
    NetworkDown,
    OutcomeUnknown,
    Refused,
    Unsupported,
)
from delivery.means import Ambience
from delivery.models import Kind, Obligation, Part
from delivery.ports import Certainty, OutgoingPart, Receipt
from gateway import effects, instructions, platforms
from gateway.console import views
from gateway.media import desk as desks
from gateway.media import shelf, voice
from gateway.media.sending import carrier
from gateway.media.store import MediaStore
from gateway.models import AuditEvent, MediaFile, Turn, Upload
from gateway.ports import Capabilities, OutgoingFile, TakesFiles
from tests.factories import make_conversation, make_staff, make_turn
from tests.fakes.transport import FakeTransport
from tests.integration.desk import Desk

pytestmark = pytest.mark.django_db(transaction=True)

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 300
OPUS = b"OggS\0\x02" + b"\0" * 22 + b"\x01\x13OpusHead" + b"\0" * 20
MP3 = b"ID3\x03" + b"\0" * 400


@dataclass
class FileTransport(FakeTransport):
    """A chat app in memory that takes files, and does what a test says.

    Attributes:
        uploads: What it was given, by its own id.
        posts: What was sent: form, caption, and the id of the file.
        refuses: What it answers to a form.
    """

    uploads: dict[str, bytes] = field(default_factory=dict)
    posts: list[tuple[str, str, str]] = field(default_factory=list)
    refuses: dict[str, list[Exception]] = field(default_factory=dict)
    _files: itertools.count = field(default_factory=lambda: itertools.count(1))

    async def send_file(self, part: OutgoingPart, file: OutgoingFile) -> Receipt:
        if file.content is not None:
            remote_id = f"F{next(self._files)}"
            self.uploads[remote_id] = file.content.read()
        else:
            remote_id = file.remote_id
            if remote_id not in self.uploads:
                raise Refused("wrong file identifier")
        if self.refuses.get(file.form):
            raise self.refuses[file.form].pop(0)
        self.posts.append((file.form, part.body.text, remote_id))
        return Receipt(self.show(f"<{file.form}> {part.body.text}", part.address), remote_id)


@pytest.fixture
def turn(place) -> Turn:
    made = make_turn(make_conversation(chat_id="7"), state="running")
    desks.workspace(made).mkdir(parents=True)
    return made


@pytest.fixture
def app(desk: Desk) -> FileTransport:
    """The platform behind the account, which takes files."""
    app = FileTransport()
    assert isinstance(app, TakesFiles)

    carry(desk, app)
    return app


def carry(desk: Desk, app: FakeTransport) -> None:
    """Put what carries files between the outbox and the app."""

    ambience = Ambience(desk.database, desk.clock, lambda: 0.0)
    desk.transport = carrier("telegram", app, ambience)
    desk.transport.unknown = app.unknown  # what the desk looks at in the end


_calls = itertools.count(1)


def send(turn: Turn, name: str, data: bytes | None = None, **payload) -> dict[str, str]:
    """The agent's tool is called."""
    if data is not None:
        (desks.workspace(turn) / name).write_bytes(data)
    asked = {"path": name, "caption": "", "as_voice": False, "call_id": f"c{next(_calls)}"}
    return effects.of(turn)("send_file", asked | payload)


# --- owed ----------------------------------------------------------------------------------------


@pytest.mark.proves("D18", "D3")
def test_a_file_is_owed_like_everything_else(turn, place, desk, app):
    result = send(turn, "chart.png", PNG, caption="The **chart**")
    owed = Obligation.objects.get()

    assert result == {"sent": "Sent as photo: chart.png (image/png, 308 bytes)."}
    assert (owed.kind, owed.state) == (Kind.MEDIA, "pending")
    assert owed.content == "The **chart**\n\n📎 chart.png (308 bytes)"

    (desks.workspace(turn) / "chart.png").write_bytes(b"changed meanwhile")
    desk.serve()
    owed.refresh_from_db()
    assert app.posts == [("photo", "The chart", "F1")]
    assert app.uploads == {"F1": PNG}
    assert owed.state == "delivered"
    assert owed.parts.get().message_id


def test_the_same_call_owes_one_file(turn):
    send(turn, "chart.png", PNG, call_id="c")
    send(turn, "chart.png", call_id="c")

    assert Obligation.objects.count() == 1


@pytest.mark.proves("D18")
def test_a_caption_that_is_too_long_follows_as_a_text(turn, desk, app):
    send(turn, "chart.png", PNG, caption="word " * 900)
    desk.serve()

    assert app.posts == [("photo", "", "F1")]
    assert len(app.texts) >= 2
    assert "word word" in app.texts[1]


# B140, X2
@pytest.mark.proves("X2")
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../media/0/1", "/proc/self/environ", "link", ".env"]
)
def test_a_file_from_elsewhere_is_not_sent_and_staff_can_read_that_it_was_asked_for(turn, path):
    (desks.workspace(turn) / "link").symlink_to("/etc/hostname")
    result = send(turn, path)

    assert result.keys() == {"error"}
    assert (Obligation.objects.count(), MediaFile.objects.count()) == (0, 0)
    assert AuditEvent.objects.get().action == "media.refused"


# B140: what an answer says of a path is words
@pytest.mark.proves("X2")
def test_a_path_in_an_answer_sends_nothing(turn, desk, app):
    for line in ("MEDIA:/etc/passwd", "![x](/etc/passwd)", "file:///etc/passwd", "/etc/passwd"):
        desk.owe(line)
    desk.serve()

    assert app.posts == []
    assert app.uploads == {}
    assert Upload.objects.count() == 0


@pytest.mark.parametrize(
    ("limits", "told"),
    [({"MAX_FILE": 100}, "at most 100 bytes"), ({"ACCOUNT_QUOTA": 100}, "no room left")],
)
def test_what_is_too_much_is_not_sent(turn, settings, limits, told):
    settings.GATEWAY = settings.GATEWAY | {"MEDIA": settings.GATEWAY["MEDIA"] | limits}

    assert told in send(turn, "chart.png", PNG)["error"]
    assert Obligation.objects.count() == 0


def test_a_surface_without_files_has_no_such_tool(turn, monkeypatch):
    class Meek:
        capabilities = Capabilities(limit=Limit(100, Unit.UTF16), certainty=Certainty.UNCERTAIN)

    assert "send_file" in instructions.tools_for(turn)
    monkeypatch.setattr(platforms, "get", lambda _kind: Meek)

    assert "send_file" not in instructions.tools_for(turn)
    assert "no files" in send(turn, "chart.png", PNG)["error"]


# --- sent, and uploaded once ---------------------------------------------------------------------


@pytest.mark.proves("D18")
@pytest.mark.parametrize("error", [NetworkDown("away"), AnchorGone("gone")])
def test_what_was_uploaded_once_is_not_uploaded_by_a_later_message(turn, desk, app, error):
    send(turn, "chart.png", PNG)
    desk.serve()
    app.refuses["photo"] = [error]
    send(turn, "copy.png", PNG, caption="again")
    desk.serve(lambda: len(app.posts) == 2 or _tick(desk))

    assert [remote_id for _, _, remote_id in app.posts] == ["F1", "F1"]
    assert app.uploads.keys() == {"F1"}


def _tick(desk: Desk) -> bool:
    desk.clock.advance(60)
    return False


@pytest.mark.proves("D18")
def test_a_long_caption_that_fails_sends_the_file_no_second_time(turn, desk, app):
    send(turn, "chart.png", PNG, caption="word " * 900)
    app.fail(NetworkDown("away"), on="send")
    desk.serve(lambda: Obligation.objects.filter(state="delivered").exists() or _tick(desk))

    assert app.posts == [("photo", "", "F1")]
    assert len(app.uploads) == 1


def test_a_file_that_the_platform_has_forgotten_is_given_to_it_again(turn, desk, app):
    send(turn, "chart.png", PNG)
    desk.serve()
    app.uploads.clear()
    send(turn, "copy.png", PNG)
    desk.serve()

    assert [remote_id for _, _, remote_id in app.posts] == ["F1", "F2"]
    assert Upload.objects.get().remote_id == "F2"


@pytest.mark.proves("D18")
@pytest.mark.parametrize("error", [Refused("PHOTO_INVALID_DIMENSIONS"), Unsupported("no photos")])
def test_a_form_that_is_refused_becomes_a_document(turn, desk, app, error):
    app.refuses["photo"] = [error]
    send(turn, "chart.png", PNG, caption="look")
    desk.serve()

    assert [(form, text) for form, text, _ in app.posts] == [("document", "look")]


@pytest.mark.proves("D18")
def test_what_is_refused_in_every_form_becomes_a_line_that_says_what_is_missing(turn, desk, app):
    app.refuses = {"photo": [Refused("no")], "document": [Refused("no")]}
    send(turn, "chart.png", PNG, caption="look")
    desk.serve()

    assert app.texts == ["look\n\n📎 chart.png (308 bytes) could not be sent here."]
    assert Obligation.objects.get().state == "delivered"


def test_a_file_that_is_gone_from_the_store_is_told_as_missing(turn, desk, app, place):
    send(turn, "chart.png", PNG)
    MediaStore(place / "media").remove(MediaFile.objects.get().pk)
    desk.serve()

    assert app.texts == ["📎 chart.png (308 bytes) could not be sent here."]


def test_a_platform_that_takes_no_files_after_all_says_what_is_missing(turn, desk):
    plain = FakeTransport()
    carry(desk, plain)
    send(turn, "chart.png", PNG)
    desk.serve()

    assert plain.texts == ["📎 chart.png (308 bytes) could not be sent here."]


@pytest.mark.proves("D18")
def test_a_file_that_may_have_arrived_is_sent_again_with_the_mark_in_its_caption(turn, desk, app):
    app.refuses["photo"] = [OutcomeUnknown("silence")]
    send(turn, "chart.png", PNG, caption="look")
    desk.serve(lambda: bool(app.posts) or _tick(desk))

    assert "may be a duplicate" in app.posts[0][1]
    assert app.posts[0][1].endswith("look")


def test_a_caption_whose_formatting_is_refused_keeps_its_file(turn, desk, app):
    app.refuses["photo"] = [FormattingRefused("can't parse entities")]
    send(turn, "chart.png", PNG, caption="**look**")
    desk.serve()

    assert [(form, text) for form, text, _ in app.posts] == [("photo", "look")]
    assert Part.objects.get().rendered.media == Media(
        number=MediaFile.objects.get().pk,
        form="photo",
        name="chart.png",
        mime_type="image/png",
        size=308,
        sha256=MediaFile.objects.get().sha256,
    )


# --- voice ---------------------------------------------------------------------------------------


# B136
@pytest.mark.proves("D18")
@pytest.mark.parametrize(
    ("name", "data", "as_voice", "form"),
    [
        ("reply.ogg", OPUS, True, "voice"),
        ("reply.oga", OPUS, True, "voice"),
        ("reply.opus", OPUS, True, "voice"),
        ("reply.ogg", OPUS, False, "audio"),
        ("song.mp3", MP3, False, "audio"),
    ],
)
def test_a_voice_message_is_one_by_its_bytes(turn, desk, app, name, data, as_voice, form):
    send(turn, name, data, as_voice=as_voice)
    desk.serve()

    assert [post[0] for post in app.posts] == [form]


@pytest.mark.proves("D18")
def test_without_ffmpeg_a_sound_goes_as_a_sound_and_the_agent_is_told(turn, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    result = send(turn, "song.mp3", MP3, as_voice=True)

    assert "Sent as audio" in result["sent"]
    assert "needs ffmpeg" in result["sent"]


@pytest.mark.proves("D18")
def test_with_ffmpeg_a_sound_is_made_into_a_voice_message(turn, tmp_path, monkeypatch):
    program = tmp_path / "ffmpeg"
    program.write_text(
        "#!/bin/sh\ncat > /dev/null\nprintf 'OggS\\000\\002'\n"
        "printf '%022d' 0\nprintf '\\001\\023OpusHead and more'\n"
    )
    program.chmod(0o700)
    monkeypatch.setattr(shutil, "which", lambda _name: str(program))
    result = send(turn, "song.mp3", MP3, as_voice=True)

    assert result["sent"].startswith("Sent as voice: song.ogg (audio/ogg")


@pytest.mark.parametrize("script", ["exit 1", "cat; exit 3"])
def test_an_ffmpeg_that_fails_leaves_the_sound_as_it_is(turn, tmp_path, monkeypatch, script):
    program = tmp_path / "ffmpeg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr(shutil, "which", lambda _name: str(program))
    result = send(turn, "song.mp3", MP3, as_voice=True)

    assert "Sent as audio" in result["sent"]
    assert "could not be made" in result["sent"]
    assert voice.is_possible()


def test_what_the_agent_sends_counts_and_expires_like_what_came_in(turn, place, clock):
    send(turn, "chart.png", PNG)
    row = MediaFile.objects.get()

    assert (row.direction, row.state, row.size) == ("out", "kept", 308)
    Turn.objects.update(state="finished")
    assert shelf.expire(MediaStore(place / "media"), now=row.expires_at) == 1
    assert [each for each in (place / "media").rglob("*") if each.is_file()] == []


# --- the Control UI ------------------------------------------------------------------------------


def console_turn(user) -> Turn:
    chat = make_conversation(
        platform="console", account="console", chat_type="console", chat_id=f"u{user.pk}"
    )
    turn = make_turn(chat, state="running")
    desks.workspace(turn).mkdir(parents=True)
    return turn


@pytest.mark.proves("D18", "X1")
def test_in_the_control_ui_a_file_is_a_link_for_those_who_may_read_the_chat(place, client):
    ada, eve = make_staff("ada", is_staff=False), make_staff("eve", is_staff=False)
    result = send(console_turn(ada), "page.html", b"<html><script>alert(1)</script>")
    number = MediaFile.objects.get().pk
    part = Obligation.objects.get().parts.get()
    page = reverse("console-file", args=[number])

    assert result["sent"].startswith("Sent as link: page.html")
    assert f'href="{page}"' in part.body["format"]["html"]
    assert part.rendered.media is None
    assert client.get(page).status_code == 302  # to the login
    client.force_login(eve)
    assert client.get(page).status_code == 404
    client.force_login(ada)
    answer = client.get(page)
    assert b"".join(answer.streaming_content).startswith(b"<html>")
    assert answer["Content-Disposition"] == 'attachment; filename="page.html"'
    assert answer["Content-Type"] == "application/octet-stream"
    assert "sandbox" in answer["Content-Security-Policy"]
    client.force_login(make_staff("boss"))
    answer = client.get(page)
    assert answer.status_code == 200
    answer.close()


def test_a_file_that_is_kept_no_longer_cannot_be_opened(place, client):
    ada = make_staff("ada")
    send(console_turn(ada), "a.txt", b"hello")
    client.force_login(ada)
    row = MediaFile.objects.get()
    Turn.objects.update(state="finished")
    shelf.expire(MediaStore(place / "media"), now=row.expires_at)

    assert client.get(reverse("console-file", args=[row.pk])).status_code == 404
    assert client.get(reverse("console-file", args=[999])).status_code == 404


def test_a_file_is_served_piece_by_piece(place, async_client, monkeypatch):
    monkeypatch.setattr(views, "PIECE", 2)
    ada = make_staff("ada")
    send(console_turn(ada), "a.txt", b"hello")
    page = reverse("console-file", args=[MediaFile.objects.get().pk])

    async def pieces() -> list[bytes]:
        await async_client.aforce_login(ada)
        answer = await async_client.get(page)
        return [piece async for piece in answer.streaming_content]

    assert async_to_sync(pieces)() == [b"he", b"ll", b"o"]
