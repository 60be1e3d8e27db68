"""A file of the agent's is owed to the person: kept first, then written into the ledger ([D18]).

What is kept is what is sent: the agent may change or delete its own file a moment later.
"""

from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.db import transaction
from django.urls import reverse

from clarify.presenting import escape
from delivery import ledger
from delivery.content import Media, Rendered
from delivery.ledger import Debt
from delivery.models import Kind
from gateway import audit, platforms, statements
from gateway.fetching.errors import TooLarge
from gateway.fetching.limits import Meter, in_words, too_large
from gateway.media import desk, forms, kinds, shelf, voice
from gateway.media.rooms import NotSendable, open_inside
from gateway.media.store import Incoming
from gateway.models import MediaFile, Turn
from gateway.ports import Capabilities

ROOM_FOR_MARKS = 200  # of a caption: what says that it may be a duplicate
_PIECE = 65_536
NO_FFMPEG = "It goes as a sound: making voice messages needs ffmpeg, which this host has not."
NO_VOICE = "It goes as a sound: it could not be made into a voice message."


@dataclass(frozen=True, kw_only=True)
class Request:
    """What an agent asks for.

    Attributes:
        path: The file, in the session's own directory.
        caption: Markdown that goes with it; may be empty.
        as_voice: It is to be heard as a voice message.
        call_id: The call that asks, so that asking twice sends once.
    """

    path: str
    caption: str
    as_voice: bool
    call_id: str


def send(turn: Turn, request: Request, *, now: datetime) -> str:
    """Owe a file to the place of a turn.

    Returns:
        What became of it, for the model.

    Raises:
        NotSendable: It may not leave, or cannot; the message is for the model.
    """
    able = platforms.get(turn.conversation.address.platform).capabilities
    if not (able.files or able.file_links):
        raise NotSendable("This surface takes no files: say what matters of it in words.")
    try:
        opened = open_inside(desk.workspace(turn), request.path)
    except NotSendable as error:
        subject = f"turn:{turn.pk}"
        audit.note("media.refused", actor="agent", subject=subject, now=now, why=str(error))
        raise
    with closing(opened):
        return _Leaving(turn, request, able, now).owe(opened)


class _Leaving:
    """One file on its way into the store and the ledger."""

    def __init__(self, turn: Turn, request: Request, able: Capabilities, now: datetime) -> None:
        self._turn, self._request, self._able, self._now = turn, request, able, now
        self._store = shelf.store()
        self._note = ""

    def owe(self, opened: BinaryIO) -> str:
        opened.seek(0, 2)
        size = opened.tell()
        opened.seek(0)
        most = shelf.media_settings().max_file
        if self._able.max_file_bytes:
            most = min(most, self._able.max_file_bytes)
        if size > most:
            raise NotSendable(
                f"It is {in_words(size)} large; at most {in_words(most)} can be sent."
            )
        file = shelf.outgoing(self._turn, self._request.path, size, now=self._now)
        lacking = shelf.lack_of_room(file, size, self._store)
        if lacking:
            shelf.miss(file, lacking)
            raise NotSendable(lacking)
        media = self._kept(file, opened, most)
        self._record(media)
        form = media.form if self._able.files else "link"
        done = f"Sent as {form}: {media.name} ({shelf.described(file)})."
        return f"{done} {self._note}".strip()

    def _kept(self, file: MediaFile, opened: BinaryIO, most: int) -> Media:
        with self._store.writing(file.pk) as got:
            self._copy(opened, got, most)
        if self._request.as_voice and not kinds.is_voice(kinds.sniff(got.head), got.head):
            got = self._as_voice(file, got)
        shelf.keep(file, got)
        shape = forms.Shape(
            file.mime_type,
            got.size,
            kinds.is_voice(file.mime_type, got.head),
            self._request.as_voice,
        )
        form = forms.form_of(shape, self._able)
        return Media(
            number=file.pk,
            form=form,
            name=file.name,
            mime_type=file.mime_type,
            size=file.size,
            sha256=file.sha256,
        )

    def _copy(self, opened: BinaryIO, got: Incoming, most: int) -> None:
        meter = Meter(got.write, most)  # it may grow while it is read
        try:
            while piece := opened.read(_PIECE):
                meter.take(piece)
        except TooLarge as error:
            raise NotSendable(str(too_large(most))) from error

    def _as_voice(self, file: MediaFile, got: Incoming) -> Incoming:
        with self._store.open(file.pk) as kept:
            spoken = voice.made_of(kept.read())
        if not spoken:
            self._note = NO_VOICE if voice.is_possible() else NO_FFMPEG
            return got
        with self._store.writing(file.pk) as made:
            made.write(spoken)
        file.name = str(Path(file.name).with_suffix(".ogg"))
        return made

    def _record(self, media: Media) -> None:
        turn, caption = self._turn, self._request.caption.strip()
        parts, what = None, _link(media)
        if self._able.files:
            parts = _parts(turn.conversation.address.platform, caption, media, self._able)
            what = f"📎 {media.name} ({in_words(media.size)})"
        with transaction.atomic():
            (here,) = statements.conversation_now(pk=turn.conversation_id)
            ledger.record(
                Debt(
                    conversation_key=here.key,
                    trigger=f"turn:{turn.pk}:file:{self._request.call_id}",
                    address=here.address,
                    kind=Kind.MEDIA,
                    content="\n\n".join(filter(None, (caption, what))),
                    reply_to=turn.anchor,
                    correlation=turn.correlation,
                    parts=parts,
                ),
                now=self._now,
            )


def _link(media: Media) -> str:
    """A file where people can open pages of ours."""
    page = reverse("console-file", args=[media.number])
    return f"📎 [{escape(media.name)}]({page}) ({in_words(media.size)})"


def _parts(platform: str, caption: str, media: Media, able: Capabilities) -> tuple[Rendered, ...]:
    """The file with its caption; a caption that is too long for one follows as a text."""
    words = ledger.rendered(platform, caption) if caption else ()
    if len(words) == 1 and words[0].length + ROOM_FOR_MARKS <= able.max_caption_length:
        return (replace(words[0], media=media),)
    return (Rendered(text="", plain="", length=0, media=media), *words)
