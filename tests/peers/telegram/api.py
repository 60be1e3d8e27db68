"""The Bot API's methods, as far as bots use them.

Each is a short function of the call's parameters, run under the peer's lock; a refusal is raised
in Telegram's own words. Source: core.telegram.org/bots/api (10.0), telegram-bot-api and td.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.peers.telegram import content
from tests.peers.telegram.content import Params, flag, number, parsed
from tests.peers.telegram.world import Chat, Message, World, bad_request

MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
MAX_CALLBACK_ANSWER = 200
_NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)
_QUERY_TOO_OLD = "query is too old and response timeout expired or query ID is invalid"
_COMMAND_NAME = re.compile(r"[a-z0-9_]{1,32}")
_ACTIONS = frozenset(
    [
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
    ]
)
_FILES = {
    "sendphoto": "photo",
    "senddocument": "document",
    "sendaudio": "audio",
    "sendvoice": "voice",
    "sendvideo": "video",
    "sendanimation": "animation",
    "sendsticker": "sticker",
}


@dataclass(frozen=True)
class Typing:
    """A chat action the person saw; `at` is on the monotonic clock, in seconds."""

    chat: int
    thread: int | None
    action: str
    at: float


@dataclass(frozen=True)
class CallbackAnswer:
    """What the presser of a button read; `at` is on the monotonic clock, in seconds."""

    callback_id: str
    text: str
    alert: bool
    at: float


class BotApi:
    """The methods that need nothing but the world.

    Args:
        world: What they read and change.
        callback_seconds: How long a button press may be answered.
    """

    def __init__(self, world: World, callback_seconds: float) -> None:
        self.world = world
        self.callback_seconds = callback_seconds
        self.pressed_at: dict[str, float] = {}
        self.answers: list[CallbackAnswer] = []
        self.typing: list[Typing] = []
        self.drafts: list[tuple[int, str]] = []
        self.commands: dict[str, list[dict[str, str]]] = {}
        self._methods: dict[str, Callable[[Params], Any]] = {
            "getme": self._get_me,
            "sendmessage": self._send_message,
            "editmessagetext": self._edit_text,
            "editmessagecaption": self._edit_caption,
            "editmessagereplymarkup": self._edit_markup,
            "deletemessage": self._delete,
            "deletemessages": self._delete_many,
            "sendchataction": self._chat_action,
            "answercallbackquery": self._answer_callback,
            "setmessagereaction": self._react,
            "sendmessagedraft": self._draft,
            "sendmediagroup": self._send_album,
            "getfile": self._get_file,
            "getchat": self._get_chat,
            "createforumtopic": self._create_topic,
            "setmycommands": self._set_commands,
            "getmycommands": lambda params: self.commands.get(_scope(params), []),
            "deletemycommands": self._delete_commands,
            "pinchatmessage": self._pin,
            "unpinchatmessage": self._pin,
        }
        for method, kind in _FILES.items():
            self._methods[method] = self._file_sender(kind)

    def find(self, method: str) -> Callable[[Params], Any] | None:
        """The function of a method, whatever its case; None if there is none."""
        return self._methods.get(method)

    def _get_me(self, params: Params) -> dict[str, Any]:
        return self.world.bot

    def _get_chat(self, params: Params) -> dict[str, Any]:
        gifts = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription")
        return {
            **self.world.reachable(params.get("chat_id")).shape,
            "accent_color_id": 0,
            "max_reaction_count": 11,
            "accepted_gift_types": dict.fromkeys((*gifts, "gifts_from_channels"), False),
        }

    def _send_message(self, params: Params) -> Message:
        chat = self.world.reachable(params.get("chat_id"))
        text, entities = content.text_of(params)
        return self._store(chat, params, text=text, entities=entities or None)

    def _store(self, chat: Chat, params: Params, **fields: Any) -> Message:
        fields |= content.place_of(self.world, chat, params)
        fields |= content.keyboard_fields(params)
        chat.draft = None
        return self.world.store(chat, self.world.author, **fields)

    def _file_sender(self, kind: str) -> Callable[[Params], Message]:
        def send(params: Params) -> Message:
            chat = self.world.reachable(params.get("chat_id"))
            fields = content.caption_of(params)
            fields |= content.file_fields(self.world, kind, params)
            return self._store(chat, params, **fields)

        return send

    def _send_album(self, params: Params) -> list[Message]:
        chat = self.world.reachable(params.get("chat_id"))
        media = parsed(params, "media") or []
        if not 2 <= len(media) <= 10:
            raise bad_request("there must be 2-10 items in an album")
        group = str(time.monotonic_ns())
        sent = []
        for item in media:
            kind = item["type"]
            given = {**params, **item, kind: item["media"]}
            fields = content.caption_of(given) | content.file_fields(self.world, kind, given)
            sent.append(self._store(chat, params, media_group_id=group, **fields))
        return sent

    def _edit_text(self, params: Params) -> Message:
        chat = self.world.reachable(params.get("chat_id"))
        message = content.own_message_at(self.world, chat, params)
        if "text" not in message:
            raise bad_request("there is no text in the message to edit")
        text, entities = content.text_of(params)
        return self._edited(message, params, {"text": text, "entities": entities})

    def _edit_caption(self, params: Params) -> Message:
        chat = self.world.reachable(params.get("chat_id"))
        message = content.own_message_at(self.world, chat, params)
        fields = content.caption_of(params)
        changed = {"caption": fields.get("caption"), "caption_entities": None} | fields
        return self._edited(message, params, changed)

    def _edit_markup(self, params: Params) -> Message:
        chat = self.world.reachable(params.get("chat_id"))
        message = content.own_message_at(self.world, chat, params)
        return self._edited(message, params, {})

    def _edited(self, message: Message, params: Params, changed: dict[str, Any]) -> Message:
        """Change a message in place; buttons that are not given again go away."""
        changed["reply_markup"] = content.keyboard_fields(params).get("reply_markup")
        before = {name: message.get(name) or None for name in changed}
        if before == {name: value or None for name, value in changed.items()}:
            raise bad_request(_NOT_MODIFIED)
        for name, value in changed.items():
            if value:
                message[name] = value
            else:
                message.pop(name, None)
        message["edit_date"] = int(time.time())
        return message

    def _delete(self, params: Params) -> bool:
        chat = self.world.reachable(params.get("chat_id"))
        message = content.message_at(chat, params, "delete")
        if chat.type == "private" and message["from"]["id"] != self.world.bot["id"]:
            raise bad_request("message can't be deleted for everyone")
        del chat.messages[message["message_id"]]
        return True

    def _delete_many(self, params: Params) -> bool:
        chat = self.world.reachable(params.get("chat_id"))
        for message_id in parsed(params, "message_ids") or []:
            chat.messages.pop(int(message_id), None)
        return True

    def _chat_action(self, params: Params) -> bool:
        chat = self.world.reachable(params.get("chat_id"))
        action = str(params.get("action", ""))
        if action not in _ACTIONS:
            raise bad_request("wrong parameter action in request")
        thread = number(params, "message_thread_id")
        # Unlike sending, an action may name the General topic (1).
        if thread is not None and thread not in chat.topics and not (chat.is_forum and thread == 1):
            raise bad_request("message thread not found")
        self.typing.append(Typing(chat.id, thread, action, time.monotonic()))
        return True

    def _answer_callback(self, params: Params) -> bool:
        callback_id = str(params.get("callback_query_id", ""))
        pressed = self.pressed_at.get(callback_id)
        if pressed is None or time.monotonic() - pressed > self.callback_seconds:
            raise bad_request(_QUERY_TOO_OLD)
        text = str(params.get("text") or "")
        if len(text) > MAX_CALLBACK_ANSWER:
            raise bad_request("MESSAGE_TOO_LONG")
        alert = flag(params, "show_alert")
        self.answers.append(CallbackAnswer(callback_id, text, alert, time.monotonic()))
        return True

    def _react(self, params: Params) -> bool:
        chat = self.world.reachable(params.get("chat_id"))
        message = content.message_at(chat, params, "react")
        wanted = parsed(params, "reaction") or []
        if len(wanted) > 1:
            raise bad_request("REACTIONS_TOO_MANY")
        emoji = tuple(str(one.get("emoji", "")) for one in wanted)
        if any(one == "" for one in emoji):
            raise bad_request("REACTION_INVALID")
        self.world.reactions[chat.id, message["message_id"]] = emoji
        return True

    def _draft(self, params: Params) -> bool:
        chat = self.world.reachable(params.get("chat_id"))
        if chat.type != "private":
            raise bad_request("method is available only for private chats")
        if not number(params, "draft_id"):
            raise bad_request("draft_id must be non-zero")
        text = ""
        if params.get("text"):
            text, _ = content.text_of(params)
        content.place_of(self.world, chat, params)
        chat.draft = text
        self.drafts.append((chat.id, text))
        return True

    def _get_file(self, params: Params) -> dict[str, Any]:
        file_id = str(params.get("file_id", ""))
        if file_id not in self.world.files:
            raise bad_request("wrong file_id or the file is temporarily unavailable")
        path, data = self.world.files[file_id]
        if len(data) > MAX_DOWNLOAD_BYTES:
            raise bad_request("file is too big")
        return {
            "file_id": file_id,
            "file_unique_id": f"U{file_id[-8:]}",
            "file_size": len(data),
            "file_path": path,
        }

    def _create_topic(self, params: Params) -> dict[str, Any]:
        chat = self.world.reachable(params.get("chat_id"))
        if not chat.is_forum:
            raise bad_request("the chat is not a forum")
        name = str(params.get("name", ""))
        if not 1 <= len(name) <= 128:
            raise bad_request("TOPIC_TITLE_EMPTY" if not name else "TOPIC_TITLE_TOO_LONG")
        chat.last_message_id += 1
        chat.topics[chat.last_message_id] = name
        return {
            "message_thread_id": chat.last_message_id,
            "name": name,
            "icon_color": 7322096,
        }

    def _set_commands(self, params: Params) -> bool:
        commands = parsed(params, "commands") or []
        if len(commands) > 100:
            raise bad_request("BOT_COMMANDS_TOO_MUCH")
        for one in commands:
            if not _COMMAND_NAME.fullmatch(str(one.get("command", ""))):
                raise bad_request("BOT_COMMAND_INVALID")
            if not 1 <= len(str(one.get("description", ""))) <= 256:
                raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
        self.commands[_scope(params)] = commands
        return True

    def _delete_commands(self, params: Params) -> bool:
        self.commands.pop(_scope(params), None)
        return True

    def _pin(self, params: Params) -> bool:
        content.message_at(self.world.reachable(params.get("chat_id")), params, "pin")
        return True


def _scope(params: Params) -> str:
    scope = parsed(params, "scope") or {"type": "default"}
    return f"{scope.get('type')}:{scope.get('chat_id', '')}:{params.get('language_code', '')}"
