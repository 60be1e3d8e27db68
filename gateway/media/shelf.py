"""The rows of files: what is wanted, kept, missing or gone. Only writer of `MediaFile`, `Upload`.

A row is there before its bytes are, and goes to `gone` before they do, so that whatever dies in
between leaves nothing that nobody knows of.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.db.models import Max, QuerySet, Sum

from gateway.conf import MediaSettings, gateway_settings
from gateway.fetching.limits import in_words
from gateway.media import kinds, names
from gateway.media.store import Incoming, MediaStore
from gateway.messages import Attachment
from gateway.models import Conversation, Direction, MediaFile, MediaState, Turn, Upload
from gateway.models.turns import OPEN_STATES
from gateway.states import TurnState

EXPIRED_AT_ONCE = 500
NOT_IN_TIME = "It did not come in time."
NO_ROOM = "There is no room left for files here; tell the person who runs this."


@dataclass(frozen=True)
class Gathered:
    """How far the files of a turn have come.

    Attributes:
        is_complete: None of them is still being fetched.
        last_at: When the last one was told of, if any is of an album; None if none is.
    """

    is_complete: bool
    last_at: datetime | None


def want(
    turn: Turn, files: Sequence[tuple[Attachment, str]], *, group_id: str, now: datetime
) -> None:
    """Write down that the files of a message are to be fetched, in the caller's transaction.

    Args:
        turn: The turn that waits for them.
        files: What came, each with what stands for it in the prompt.
        group_id: The album they belong to; empty for none.
        now: The present.
    """
    expires_at = now + media_settings().keep
    MediaFile.objects.bulk_create(
        MediaFile(
            direction=Direction.IN,
            account=turn.conversation.account,
            conversation=turn.conversation,
            turn=turn,
            group_id=group_id[:255],
            kind=attachment.kind[:16],
            remote_id=attachment.file_id[:500],
            label=label[:300],
            name=names.display(attachment.name),
            mime_type=attachment.mime_type[:127],
            size=max(attachment.size, 0),
            created_at=now,
            expires_at=expires_at,
        )
        for attachment, label in files
    )


def outgoing(turn: Turn, name: str, size: int, *, now: datetime) -> MediaFile:
    """A row for a file of the agent's that is about to be kept."""
    return MediaFile.objects.create(
        direction=Direction.OUT,
        account=turn.conversation.account,
        conversation=turn.conversation,
        turn=turn,
        kind="document",
        name=names.display(name),
        size=size,
        created_at=now,
        expires_at=now + media_settings().keep,
    )


def album(conversation: Conversation, sender_id: str, group_id: str) -> Turn | None:
    """The turn that the pieces of an album before this one began, if it has not begun to run."""
    if not group_id:
        return None
    queued = Turn.objects.filter(
        conversation=conversation,
        sender_id=sender_id,
        state=TurnState.QUEUED,
        media__group_id=group_id[:255],
    )
    return queued.select_related("conversation").order_by("id").first()


def of(turn: Turn) -> list[MediaFile]:
    """The files that came with a turn's messages, in order."""
    return list(MediaFile.objects.filter(turn=turn, direction=Direction.IN).order_by("id"))


def wanted(turn_id: int) -> list[MediaFile]:
    """Those of a turn that are still to be fetched."""
    rows = MediaFile.objects.filter(turn=turn_id, direction=Direction.IN, state=MediaState.WANTED)
    return list(rows.order_by("id"))


def waiting_turns(account: str) -> list[int]:
    """The turns of an account whose files a process that is gone may have left half fetched."""
    rows = MediaFile.objects.filter(
        account=account, state=MediaState.WANTED, turn__state=TurnState.QUEUED
    )
    return list(rows.order_by("turn").values_list("turn", flat=True).distinct())


def gathered(turn_id: int) -> Gathered:
    """How far the files of a turn have come."""
    rows = MediaFile.objects.filter(turn=turn_id, direction=Direction.IN)
    last = rows.exclude(group_id="").aggregate(last=Max("created_at"))["last"]
    return Gathered(not rows.filter(state=MediaState.WANTED).exists(), last)


def lack_of_room(file: MediaFile, size: int, store: MediaStore) -> str:
    """Why there is no room for `size` bytes more; empty if there is."""
    settings = media_settings()
    held = MediaFile.objects.filter(state=MediaState.KEPT)
    mine = held.filter(account=file.account).aggregate(sum=Sum("size"))["sum"] or 0
    if mine + size > settings.account_quota:
        return NO_ROOM
    everything = held.aggregate(sum=Sum("size"))["sum"] or 0
    if everything + size > settings.total_quota or not store.has_room(size):
        return NO_ROOM
    return ""


def keep(file: MediaFile, got: Incoming) -> bool:
    """Write down that the bytes of a wanted file are in the store.

    Returns:
        Whether anybody still wants it; otherwise the caller removes the bytes.
    """
    file.mime_type = kinds.sniff(got.head, file.name)
    file.size, file.sha256, file.state = got.size, got.sha256, MediaState.KEPT
    return bool(
        MediaFile.objects.filter(pk=file.pk, state=MediaState.WANTED).update(
            mime_type=file.mime_type, size=file.size, sha256=file.sha256, state=file.state
        )
    )


def miss(file: MediaFile, reason: str) -> None:
    """Write down that a wanted file cannot be had."""
    MediaFile.objects.filter(pk=file.pk, state=MediaState.WANTED).update(
        state=MediaState.MISSING, reason=reason[:300], size=file.size
    )


def expire(store: MediaStore, *, now: datetime) -> int:
    """Let go of what was kept long enough, unless an open turn works with it, or never came.

    Returns:
        How many files that were, at most `EXPIRED_AT_ONCE`.
    """
    due = MediaFile.objects.filter(
        expires_at__lte=now, state__in=[MediaState.KEPT, MediaState.WANTED]
    )
    due = due.exclude(state=MediaState.KEPT, turn__state__in=OPEN_STATES)
    numbers = list(due.order_by("expires_at").values_list("pk", flat=True)[:EXPIRED_AT_ONCE])
    MediaFile.objects.filter(pk__in=numbers).update(state=MediaState.GONE)
    for number in numbers:
        store.remove(number)
    return len(numbers)


def known_upload(account: str, form: str, sha256: str) -> str:
    """What a platform calls a file that it has; empty if it has not been given it."""
    rows = Upload.objects.filter(account=account, form=form, sha256=sha256)
    return rows.values_list("remote_id", flat=True).first() or ""


def remember_upload(account: str, form: str, sha256: str, remote_id: str, *, now: datetime) -> None:
    """A platform was given a file and says what it calls it."""
    Upload.objects.update_or_create(
        account=account,
        form=form,
        sha256=sha256,
        defaults={"remote_id": remote_id[:500], "uploaded_at": now},
    )


def forget_upload(account: str, form: str, sha256: str) -> None:
    """A platform does not know a file any more by what it called it."""
    Upload.objects.filter(account=account, form=form, sha256=sha256).delete()


def to_be_read(number: int, conversations: QuerySet[Conversation]) -> tuple[str, BinaryIO]:
    """The name of a kept file and the file itself, if it belongs to one of `conversations`.

    Raises:
        FileNotFoundError: It does not, or it is not here.
    """
    rows = MediaFile.objects.filter(
        pk=number, state=MediaState.KEPT, conversation__in=conversations
    )
    file = rows.first()
    if file is None:
        raise FileNotFoundError(number)
    name = names.fitting(file.name, kinds.suffix(file.mime_type), ())
    return name, store().open(number)


def media_settings() -> MediaSettings:
    """The settings of files."""
    return gateway_settings().media


def store() -> MediaStore:
    """Where the bytes are."""
    return MediaStore(Path(media_settings().directory))


def described(file: MediaFile) -> str:
    """A file in a few words: `image/png, 34 kB`."""
    return ", ".join(filter(None, (file.mime_type, in_words(file.size))))
