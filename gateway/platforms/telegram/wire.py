"""One raw Bot API update -> our words. Pure, and total: no update at all makes it raise.

An update that is not what the documentation promises becomes `Ignored` with the reason, so one
poisoned update can never stop those behind it: its `update_id` is confirmed like any other's.

Plain dictionaries are read here rather than models: an update has some two hundred optional
fields, of which thirty matter, and a stranger may put anything into them.

Source: https://core.telegram.org/bots/api#update (Bot API 10.0), and the server's own source,
github.com/tdlib/telegram-bot-api.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from gateway.messages import (
    Attachment,
    ButtonPress,
    ChatMoved,
    ChatType,
    EditedMessage,
    Ignored,
    Inbound,
    InboundMessage,
    Membership,
    Source,
    clean,
)
from gateway.platforms.telegram import words
from gateway.platforms.telegram.words import Raw
from gateway.ports import BotIdentity

PLATFORM = "telegram"

# What getUpdates is asked for. `message_reaction` is not sent unless named.
ALLOWED_UPDATES = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "my_chat_member",
    "message_reaction",
)

# The General topic has no thread of its own on the wire; this is its id in our addresses.
GENERAL_TOPIC = "1"

_CHAT_TYPES = {
    "private": ChatType.DM,
    "group": ChatType.GROUP,
    "supergroup": ChatType.GROUP,
    "channel": ChatType.CHANNEL,
}
# What a hostile or broken update can make plain dictionary and number work raise.
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError)


class _NotForUs(Exception):
    """A well-formed update that nothing is to be done about; its text is the reason."""


def update_id(update: object) -> int | None:
    """The update's own number; None where it has none that can be confirmed."""
    number = update.get("update_id") if isinstance(update, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def next_cursor(cursor: str, updates: list[Any]) -> str:
    """The offset that confirms all of `updates`, as text; `cursor` itself if there are none."""
    numbers = [number for number in map(update_id, updates) if number is not None]
    return str(max(numbers) + 1) if numbers else cursor


def normalise(update: Raw, me: BotIdentity, account: str) -> list[Inbound]:
    """Read one update.

    Args:
        update: One element of the result of getUpdates, or one webhook body.
        me: Who the account is: what a mention, a reply and a command suffix are compared with.
        account: The account's name in this installation.

    Returns:
        One event at least; `Ignored` where there is nothing to do.
    """
    number = update_id(update)
    event_id = "" if number is None else str(number)
    try:
        return [_read(update, event_id, me, account)]
    except _NotForUs as verdict:
        return [Ignored(event_id=event_id, reason=str(verdict))]
    except _MALFORMED as error:
        reason = f"malformed update: {type(error).__name__}"
        return [Ignored(event_id=event_id, reason=reason)]


def _read(update: Raw, event_id: str, me: BotIdentity, account: str) -> Inbound:
    for kind, reader in _READERS.items():
        if kind in update:
            return reader(update[kind], event_id, me, account)
    kinds = sorted(clean(str(key))[:40] for key in update if key != "update_id")
    raise _NotForUs(f"update of a kind we do not use: {', '.join(kinds[:5]) or 'none'}")


def _message(message: Raw, event_id: str, me: BotIdentity, account: str) -> Inbound:
    moved = _moved(message, event_id, account)
    if moved is not None:
        return moved
    source = _source(message, account)
    if source.user_id == me.user_id:
        raise _NotForUs("our own message")
    service = words.service_kind(message)
    if service:
        raise _NotForUs(f"service message: {service}")
    attachments = _attachments(message)
    text = words.text_of(message)
    if not text and not attachments:
        raise _NotForUs(f"no words and no files: {words.unread_kinds(message)}")
    call = words.addressing(message, me)
    return InboundMessage(
        source=source,
        event_id=event_id,
        text=clean(words.without_suffix(text, call) if call.is_ours else text),
        sent_at=datetime.fromtimestamp(message["date"], UTC),
        mentions_bot=call.is_ours or call.is_mention or _answers(message, me),
        command_for_other=call.is_for_other,
        reply_to=_reply_to(message),
        group_id=str(message.get("media_group_id") or ""),
        attachments=attachments,
    )


def _edited(message: Raw, event_id: str, me: BotIdentity, account: str) -> Inbound:
    source = _source(message, account)
    if source.user_id == me.user_id:
        raise _NotForUs("an edit of our own message")
    if not (message.get("text") or message.get("caption")):
        # A live location on the move is an edit every few seconds.
        raise _NotForUs("an edit that left no words")
    text = words.text_of(message)
    return EditedMessage(source=source, event_id=event_id, text=clean(text))


def _pressed(query: Raw, event_id: str, _me: BotIdentity, account: str) -> Inbound:
    if "data" not in query:
        raise _NotForUs("a button without data")
    message = query.get("message")
    if not message:
        raise _NotForUs("a button on an inline message")
    place = _source(message, account)
    # A message out of reach has date 0 and does not say which topic it stood in.
    # Source: https://core.telegram.org/bots/api#inaccessiblemessage
    thread_id = place.thread_id if message.get("date") else ""
    presser = query["from"]
    return ButtonPress(
        source=replace(
            place,
            user_id=_id(presser),
            user_name=_person(presser),
            is_bot=bool(presser.get("is_bot")),
            thread_id=thread_id,
            language=_language(presser),
        ),
        event_id=event_id,
        interaction_id=str(query["id"]),
        data=clean(query["data"]),
        message_id=str(message["message_id"]),
    )


def _membership(change: Raw, event_id: str, _me: BotIdentity, account: str) -> Inbound:
    now = change["new_chat_member"]
    status = now["status"]
    is_member = status in {"creator", "administrator", "member"} or (
        status == "restricted" and bool(now.get("is_member"))
    )
    chat, actor = change["chat"], change["from"]
    return Membership(
        source=Source(
            platform=PLATFORM,
            account=account,
            chat_type=_CHAT_TYPES[chat["type"]],
            chat_id=_id(chat),
            user_id=_id(actor),
            user_name=_person(actor),
            is_bot=bool(actor.get("is_bot")),
        ),
        event_id=event_id,
        is_member=is_member,
    )


def _reaction(_change: Raw, _event_id: str, _me: BotIdentity, _account: str) -> Inbound:
    raise _NotForUs("a reaction")


_READERS: dict[str, Callable[[Raw, str, BotIdentity, str], Inbound]] = {
    "message": _message,
    "edited_message": _edited,
    "callback_query": _pressed,
    "channel_post": _message,
    "edited_channel_post": _edited,
    "my_chat_member": _membership,
    "message_reaction": _reaction,
    "message_reaction_count": _reaction,
}


def _moved(message: Raw, event_id: str, account: str) -> ChatMoved | None:
    """Both the last word of the old chat and the first of the new one say the same move."""
    here = _id(message["chat"])
    if "migrate_to_chat_id" in message:
        old, new = here, str(int(message["migrate_to_chat_id"]))
    elif "migrate_from_chat_id" in message:
        old, new = str(int(message["migrate_from_chat_id"])), here
    else:
        return None
    return ChatMoved(
        platform=PLATFORM, account=account, event_id=event_id, old_chat_id=old, new_chat_id=new
    )


def _source(message: Raw, account: str) -> Source:
    chat = message["chat"]
    if chat.get("is_direct_messages"):
        # Answering there needs a `direct_messages_topic_id`, which our addresses do not carry.
        raise _NotForUs("a channel's direct messages")
    sender_id, sender_name, is_bot = _sender(message)
    return Source(
        platform=PLATFORM,
        account=account,
        chat_type=_CHAT_TYPES[chat["type"]],
        chat_id=_id(chat),
        user_id=sender_id,
        user_name=sender_name,
        thread_id=_thread_id(message, chat),
        message_id=str(message["message_id"]),
        is_bot=is_bot,
        language=_language(message.get("from")),
    )


def _sender(message: Raw) -> tuple[str, str, bool]:
    """Who said it: id, name, and whether it is a bot.

    Someone who speaks as a chat (an anonymous administrator, a channel) comes with a placeholder
    bot in `from` that is the same in every group: allowing it would allow all of them. The chat
    they speak as is who they are to us.
    """
    speaks_as = message.get("sender_chat")
    if speaks_as:
        return _id(speaks_as), words.one_line(speaks_as.get("title") or ""), False
    person = message.get("from")
    if not person:
        chat = message["chat"]
        return _id(chat), words.one_line(chat.get("title") or ""), False
    return _id(person), _person(person), bool(person.get("is_bot"))


def _person(person: Raw) -> str:
    names = (person.get("first_name"), person.get("last_name"))
    full = " ".join(name for name in names if name)
    return words.one_line(full or person.get("username") or "")


def _language(person: Raw | None) -> str:
    """The language of the person's app, an IETF tag; empty where it is not told."""
    code = person.get("language_code") if person else None
    return clean(code)[:35] if isinstance(code, str) else ""


def _id(thing: Raw) -> str:
    return str(int(thing["id"]))


def _thread_id(message: Raw, chat: Raw) -> str:
    """The topic, if the message stands in one.

    A plain group also numbers its chains of replies in `message_thread_id`; those are no places
    to speak in and come and go with the reply, so only `is_topic_message` makes a topic.
    """
    thread = message.get("message_thread_id")
    if thread and message.get("is_topic_message"):
        return str(int(thread))
    return GENERAL_TOPIC if chat.get("is_forum") and chat["type"] == "supergroup" else ""


def _quoted(message: Raw) -> Raw | None:
    """The message it answers; in a topic, not the service message that opened the topic.

    Every message of a topic that answers nothing comes with the opening message as its
    `reply_to_message`: taking that for an answer would make each one address whoever opened it.
    """
    quoted: Raw | None = message.get("reply_to_message")
    if not quoted or "forum_topic_created" in quoted:
        return None
    opens_topic = message.get("is_topic_message") and (
        quoted.get("message_id") == message.get("message_thread_id")
    )
    return None if opens_topic else quoted


def _reply_to(message: Raw) -> str:
    quoted = _quoted(message)
    return str(quoted["message_id"]) if quoted else ""


def _answers(message: Raw, me: BotIdentity) -> bool:
    quoted = _quoted(message)
    author: Raw | None = quoted.get("from") if quoted else None
    return author is not None and _id(author) == me.user_id


def _attachments(message: Raw) -> tuple[Attachment, ...]:
    if message.get("photo"):
        # Sizes come smallest first by habit, not by promise.
        largest = max(message["photo"], key=lambda size: size.get("width", 0))
        return (_attachment("photo", largest, mime_type="image/jpeg"),)
    for field, kind, mime_type in _FILE_FIELDS:
        file = message.get(field)
        if file:
            return (_attachment(kind, file, mime_type=mime_type),)
    return ()


# A file comes in one field, except that an animation is repeated as a document.
_FILE_FIELDS = (
    ("animation", "video", "video/mp4"),
    ("document", "document", ""),
    ("voice", "voice", "audio/ogg"),
    ("audio", "audio", ""),
    ("video", "video", "video/mp4"),
    ("video_note", "video", "video/mp4"),
    ("sticker", "sticker", ""),
)


def _attachment(kind: str, file: Raw, *, mime_type: str) -> Attachment:
    return Attachment(
        kind=kind,
        file_id=str(file["file_id"]),
        name=words.one_line(file.get("file_name") or file.get("emoji") or ""),
        mime_type=clean(file.get("mime_type") or mime_type),
        size=int(file.get("file_size") or 0),
    )
