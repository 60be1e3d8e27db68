"""What Telegram knows: people, chats, what was said in them, and the files.

Everything here is plain data changed under the peer's lock; messages are kept in the Bot API's
own shape, so that what is stored is what is sent.
"""

import itertools
import re
import time
from dataclasses import dataclass, field
from typing import Any

from tests.peers.telegram.markup import utf16_length

Message = dict[str, Any]

_FOUND_IN_TEXT = re.compile(r"(?P<bot_command>^/\w+(@\w+)?)|(?P<mention>(?<!\w)@\w{3,})", re.ASCII)


class Refused(Exception):
    """The Bot API's own words for "no".

    Args:
        code: The HTTP status and `error_code`.
        description: The words after it.
        parameters: `retry_after` or `migrate_to_chat_id`, if any.
    """

    def __init__(
        self, code: int, description: str, parameters: dict[str, Any] | None = None
    ) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def bad_request(words: str) -> Refused:
    """A 400 in Telegram's words."""
    return Refused(400, f"Bad Request: {words}")


@dataclass
class Chat:
    """One place, as the bot can reach it.

    Attributes:
        closed: Why the bot may not write here, in Telegram's words; empty while it may.
        moved_to: The supergroup this group became; 0 while it has not.
        topics: The forum topics by their id; the General topic (1) is not among them.
    """

    id: int
    type: str
    title: str = ""
    username: str = ""
    is_forum: bool = False
    topics: dict[int, str] = field(default_factory=dict)
    closed: str = ""
    moved_to: int = 0
    messages: dict[int, Message] = field(default_factory=dict)
    last_message_id: int = 0
    draft: str | None = None

    @property
    def shape(self) -> dict[str, Any]:
        """The chat as messages carry it."""
        shape: dict[str, Any] = {"id": self.id, "type": self.type}
        if self.type == "private":
            shape["first_name"] = self.title
        else:
            shape["title"] = self.title
        if self.username:
            shape["username"] = self.username
        if self.is_forum:
            shape["is_forum"] = True
        return shape


@dataclass(frozen=True)
class Shown:
    """One message as a person sees it now.

    Attributes:
        text: The text or the caption, after edits.
        buttons: The inline keyboard's rows of (label, callback data).
        file: The name of the file it carries; empty for none.
    """

    message_id: int
    text: str
    by_bot: bool
    author: str
    buttons: tuple[tuple[tuple[str, str], ...], ...] = ()
    entities: tuple[dict[str, Any], ...] = ()
    reply_to: int | None = None
    thread: int | None = None
    edited: bool = False
    file: str = ""
    reactions: tuple[str, ...] = ()
    force_reply: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """What the buttons say, in reading order."""
        return tuple(label for row in self.buttons for label, _ in row)


class World:
    """Every chat, person and file the bot can meet.

    Args:
        bot: The bot's own user object.
    """

    def __init__(self, bot: dict[str, Any]) -> None:
        self.bot = bot
        # What getMe alone tells is left out of messages.
        self.author = {name: bot[name] for name in ("id", "is_bot", "first_name", "username")}
        self.chats: dict[int, Chat] = {}
        self.users: dict[int, dict[str, Any]] = {}
        self.files: dict[str, tuple[str, bytes]] = {}
        self.reactions: dict[tuple[int, int], tuple[str, ...]] = {}
        self._file_numbers = itertools.count(1)

    def user(self, user_id: int, **fields: Any) -> dict[str, Any]:
        """A person by id, made up at first sight; `fields` change what is known of them."""
        known = self.users.setdefault(
            user_id,
            {
                "id": user_id,
                "is_bot": False,
                "first_name": f"Person {user_id}",
                "username": f"person{user_id}",
                "language_code": "en",
            },
        )
        known.update(fields)
        return known

    def chat(self, chat_id: int, **fields: Any) -> Chat:
        """A chat by id, made up at first sight: a person's own, a group or a supergroup."""
        chat = self.chats.get(chat_id)
        if chat is None:
            kind = "private" if chat_id > 0 else "group"
            if str(chat_id).startswith("-100"):
                kind = "supergroup"
            title = self.user(chat_id)["first_name"] if chat_id > 0 else f"Group {chat_id}"
            chat = self.chats[chat_id] = Chat(chat_id, kind, title)
        for name, value in fields.items():
            setattr(chat, name, value)
        return chat

    def reachable(self, chat_id: Any) -> Chat:
        """The chat a call names.

        Raises:
            Refused: It is missing, unknown, closed to the bot, or lives on under another id.
        """
        if chat_id in (None, ""):
            raise bad_request("chat_id is empty")
        chat = self._find(str(chat_id))
        if chat is None:
            raise bad_request("chat not found")
        if chat.moved_to:
            raise Refused(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                {"migrate_to_chat_id": chat.moved_to},
            )
        if chat.closed:
            raise Refused(403, f"Forbidden: {chat.closed}")
        return chat

    def _find(self, named: str) -> Chat | None:
        if named.startswith("@"):
            name = named[1:].lower()
            return next(
                (c for c in self.chats.values() if c.username and c.username.lower() == name), None
            )
        try:
            return self.chats.get(int(named))
        except ValueError:
            return None

    def store(self, chat: Chat, author: dict[str, Any], **content: Any) -> Message:
        """Put a new message into a chat; contents that are None are left out."""
        chat.last_message_id += 1
        message: Message = {
            "message_id": chat.last_message_id,
            "from": author,
            "chat": chat.shape,
            "date": int(time.time()),
        }
        message.update((name, value) for name, value in content.items() if value is not None)
        if message.get("message_thread_id") in chat.topics:
            message.setdefault("is_topic_message", True)
        chat.messages[chat.last_message_id] = message
        return message

    def quoted(self, chat: Chat, message_id: int | None) -> Message | None:
        """A message as an answer to it carries it: without what it answers itself."""
        found = chat.messages.get(message_id) if message_id is not None else None
        if found is None:
            return None
        return {name: value for name, value in found.items() if name != "reply_to_message"}

    def keep_file(self, name: str, data: bytes) -> dict[str, Any]:
        """Store a file and give its Bot API description."""
        number = next(self._file_numbers)
        file_id = f"FILE{number:012d}"
        self.files[file_id] = (f"documents/file_{number}", data)
        return {
            "file_id": file_id,
            "file_unique_id": f"U{number:08d}",
            "file_size": len(data),
            "file_name": name,
        }

    def shown(self, chat: Chat) -> list[Shown]:
        """What a person in the chat sees now, oldest first."""
        return [self._shown(chat, message) for message in chat.messages.values()]

    def _shown(self, chat: Chat, message: Message) -> Shown:
        markup = message.get("reply_markup") or {}
        rows = markup.get("inline_keyboard", ())
        return Shown(
            message_id=message["message_id"],
            text=message.get("text") or message.get("caption") or "",
            by_bot=message["from"]["id"] == self.bot["id"],
            author=message["from"].get("username", str(message["from"]["id"])),
            buttons=tuple(
                tuple((b["text"], b.get("callback_data") or b.get("url", "")) for b in row)
                for row in rows
            ),
            entities=tuple(message.get("entities") or message.get("caption_entities") or ()),
            reply_to=(message.get("reply_to_message") or {}).get("message_id"),
            thread=message.get("message_thread_id"),
            edited="edit_date" in message,
            file=_file_name(message),
            reactions=self.reactions.get((chat.id, message["message_id"]), ()),
            force_reply="force_reply" in message,
        )


def found_in(text: str) -> list[dict[str, Any]]:
    """The commands and mentions Telegram finds in what a person types."""
    return [
        {
            "type": match.lastgroup if match.lastgroup in ("bot_command", "mention") else "mention",
            "offset": utf16_length(text[: match.start()]),
            "length": utf16_length(match.group()),
        }
        for match in _FOUND_IN_TEXT.finditer(text)
    ]


def _file_name(message: Message) -> str:
    for kind in ("document", "audio", "voice", "video", "animation", "sticker"):
        if kind in message:
            return str(message[kind].get("file_name", kind))
    photo = message.get("photo")
    return str(photo[-1].get("file_name", "photo")) if photo else ""
