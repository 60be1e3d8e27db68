"""What came in, in our own words, whatever platform it came from. Pure."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from delivery.addresses import Address


class ChatType(StrEnum):
    """What kind of place a message was said in."""

    DM = "dm"
    GROUP = "group"
    CHANNEL = "channel"
    THREAD = "thread"
    WEBHOOK = "webhook"
    CONSOLE = "console"
    CRON = "cron"  # a scheduled job's own place; nobody sits there
    BACKGROUND = "background"  # a task's own place; nobody sits there


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where an inbound message came from and who said it ([S1]).

    Ids are the platform's own, opaque, as text; an empty text means "none".
    `chat_type` is that of the place itself; `thread_id` names a thread inside it, if any.
    """

    platform: str
    account: str
    chat_type: ChatType
    chat_id: str
    user_id: str
    scope_id: str = ""
    thread_id: str = ""
    user_id_alt: str = ""
    user_name: str = ""
    message_id: str = ""
    parent_chat_id: str = ""
    profile: str = "default"
    is_bot: bool = False
    language: str = ""  # a code such as "fa" or "zh-hans", as the platform says it

    @property
    def address(self) -> Address:
        """Where an answer to this message goes."""
        return Address(
            platform=self.platform,
            account=self.account,
            scope_id=self.scope_id,
            chat_type=self.chat_type.value,
            chat_id=self.chat_id,
            thread_id=self.thread_id,
        )

    @property
    def anchor(self) -> str:
        """The message that an answer replies to; none where two people are by themselves."""
        return self.message_id if self.chat_type is not ChatType.DM else ""


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A file that came with a message; `file_id` is the platform's handle to fetch it by."""

    kind: str  # photo, document, voice, audio, video, sticker, other
    file_id: str
    name: str = ""
    mime_type: str = ""
    size: int = 0


@dataclass(frozen=True, kw_only=True)
class InboundMessage:
    """Something a person said.

    Attributes:
        event_id: The platform's id of this event; the same event never comes in twice under it.
        text: The words, Unicode-clean (no NUL, no lone surrogate); may be empty with attachments.
        sent_at: When the platform says it was sent; aware.
        mentions_bot: It was addressed to the bot by mention, reply or command suffix.
        command_for_other: It is a command addressed to another bot ("/new@other"): not for us.
        reply_to: The platform id of the message it quotes; empty for none.
        group_id: The platform's id of the album it belongs to; empty for none.
    """

    source: Source
    event_id: str
    text: str
    sent_at: datetime
    mentions_bot: bool = False
    command_for_other: bool = False
    reply_to: str = ""
    group_id: str = ""
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ButtonPress:
    """A native button was pressed.

    Attributes:
        data: What we put on the button.
        interaction_id: What the platform wants back as the acknowledgement.
        message_id: The message that carried the button.
        chosen: What we put on the boxes that are ticked in that message; None where it has none.
    """

    source: Source
    event_id: str
    interaction_id: str
    data: str
    message_id: str = ""
    chosen: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Form:
    """One field for own words, on a page of its own; all of it is what the person reads.

    Attributes:
        title: At the top.
        label: What is asked, above the field.
        placeholder: In the empty field.
        submit: On the button that sends it.
        cancel: On the button that does not.
    """

    title: str
    label: str
    placeholder: str
    submit: str
    cancel: str


@dataclass(frozen=True, kw_only=True)
class EditedMessage:
    """A person changed what they had said; `source.message_id` names the message."""

    source: Source
    event_id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ChatMoved:
    """A chat lives on under another id (a Telegram group that became a supergroup)."""

    platform: str
    account: str
    event_id: str
    old_chat_id: str
    new_chat_id: str


@dataclass(frozen=True, kw_only=True)
class Membership:
    """The account itself was added to or removed from a chat, or blocked and unblocked."""

    source: Source
    event_id: str
    is_member: bool


@dataclass(frozen=True, kw_only=True)
class Ignored:
    """An event that is fine and not for us, with the reason in words."""

    event_id: str
    reason: str


Inbound = InboundMessage | ButtonPress | EditedMessage | ChatMoved | Membership | Ignored


@dataclass(frozen=True)
class Batch:
    """What one receive gave: the events, and the cursor that confirms them once stored."""

    cursor: str
    events: tuple[Inbound, ...]


def ids_of(event: Inbound) -> tuple[str, ...]:
    """The ids in an event that name a person: theirs, and that of a chat with nobody else."""
    source: Source | None = getattr(event, "source", None)
    if source is None:
        return ()
    private = (source.chat_id,) if source.address.is_private else ()
    return tuple(filter(None, (source.user_id, source.user_id_alt, *private)))


def clean(text: str) -> str:
    """Text that every database, JSON encoder and platform can carry.

    Surrogate pairs are joined, lone surrogates become U+FFFD, NUL characters are dropped.
    """
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\x00", "")
