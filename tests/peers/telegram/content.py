"""What a call wants to put into a message, checked as Telegram checks it. Pure but for the world.

The descriptions of errors are Telegram's own (telegram-bot-api and td sources, 2026-11), because
the product decides by them.
"""

import json
from typing import Any

from tests.peers.telegram import entities
from tests.peers.telegram.markup import Malformed
from tests.peers.telegram.world import Chat, Message, Refused, World, bad_request

MAX_CALLBACK_DATA_BYTES = 64
MAX_BUTTONS = 100
MAX_BUTTONS_PER_ROW = 8
_FILE_KINDS = ("photo", "document", "audio", "voice", "video", "animation", "sticker")
_TRUE = frozenset({"true", "True", "1", True})

Params = dict[str, Any]


def parsed(params: Params, name: str) -> Any:
    """A parameter that is JSON, whether it came as text or already decoded; None if absent."""
    value = params.get(name)
    if not isinstance(value, str):
        return value
    if not value:
        return None
    try:
        return json.loads(value)
    except ValueError as error:
        raise bad_request(f"can't parse {name} JSON object") from error


def number(params: Params, name: str) -> int | None:
    """A whole number; None if absent or not one."""
    value = params.get(name)
    try:
        return int(value) if value not in (None, "") else None
    except (TypeError, ValueError):
        return None


def flag(params: Params, name: str) -> bool:
    """A boolean; false if absent."""
    return params.get(name) in _TRUE


def text_of(params: Params, *, maximum: int = entities.MAX_TEXT) -> tuple[str, list[Any]]:
    """The text of a message and its entities.

    Raises:
        Refused: It is empty, too long after parsing, or malformed.
    """
    text, found = _formatted(params, "text", "entities")
    if not text:
        raise bad_request("message text is empty")
    if len(text) > maximum:
        raise bad_request("message is too long")
    return text, found


def caption_of(params: Params) -> dict[str, Any]:
    """The caption's fields of a message with a file; empty for none.

    Raises:
        Refused: It is too long or malformed.
    """
    text, found = _formatted(params, "caption", "caption_entities")
    if len(text) > entities.MAX_CAPTION:
        raise bad_request("message caption is too long")
    fields: dict[str, Any] = {"caption": text} if text else {}
    if found:
        fields["caption_entities"] = found
    return fields


def _formatted(params: Params, name: str, entities_name: str) -> tuple[str, list[Any]]:
    given = parsed(params, entities_name) if params.get(entities_name) else None
    if given is not None and not (
        isinstance(given, list) and all(isinstance(entity, dict) for entity in given)
    ):
        raise bad_request("can't parse entities: expected an Array of MessageEntity")
    try:
        return entities.read(str(params.get(name) or ""), params.get("parse_mode"), given)
    except Malformed as error:
        raise bad_request(str(error)) from error


def markup_of(params: Params) -> dict[str, Any] | None:
    """The `reply_markup` of a call, checked.

    Raises:
        Refused: A button has no text, nothing to do, or too much data; there are too many.
    """
    markup = parsed(params, "reply_markup")
    if not markup:
        return None
    if not isinstance(markup, dict):
        raise bad_request("object expected as reply markup")
    rows = markup.get("inline_keyboard")
    if rows is None:
        return markup
    buttons = [button for row in rows for button in row]
    for button in buttons:
        _check_button(button)
    if len(buttons) > MAX_BUTTONS or any(len(row) > MAX_BUTTONS_PER_ROW for row in rows):
        raise bad_request("REPLY_MARKUP_TOO_LONG")
    return {"inline_keyboard": [list(row) for row in rows if row]}


def _check_button(button: dict[str, Any]) -> None:
    if not str(button.get("text", "")).strip():
        raise bad_request("can't parse inline keyboard button: BUTTON_TEXT_INVALID")
    data = button.get("callback_data")
    if data is not None and not 1 <= len(str(data).encode()) <= MAX_CALLBACK_DATA_BYTES:
        raise bad_request("BUTTON_DATA_INVALID")
    if len(button) < 2:
        raise bad_request(
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"
        )


def place_of(world: World, chat: Chat, params: Params) -> dict[str, Any]:
    """Where in the chat a message goes: its thread and what it answers.

    Raises:
        Refused: The topic or the message to be replied to is not there.
    """
    fields: dict[str, Any] = {}
    thread = number(params, "message_thread_id")
    if thread is not None:
        # The General topic has number 1 and must not be named when sending.
        if thread not in chat.topics:
            raise bad_request("message thread not found")
        fields["message_thread_id"] = thread
    reply = parsed(params, "reply_parameters") or {}
    wanted = reply.get("message_id") or number(params, "reply_to_message_id")
    if wanted is not None:
        quoted = world.quoted(chat, int(wanted))
        if quoted is not None:
            fields["reply_to_message"] = quoted
            if quoted.get("message_thread_id") in chat.topics:
                fields.setdefault("message_thread_id", quoted["message_thread_id"])
        elif not (
            reply.get("allow_sending_without_reply") or flag(params, "allow_sending_without_reply")
        ):
            raise bad_request("message to be replied not found")
    return fields


def keyboard_fields(params: Params) -> dict[str, Any]:
    """The fields a message keeps of its markup: inline buttons, or the invitation to type."""
    markup = markup_of(params)
    if not markup:
        return {}
    if "inline_keyboard" in markup:
        return {"reply_markup": markup} if markup["inline_keyboard"] else {}
    return {"force_reply": True} if markup.get("force_reply") else {}


def file_fields(world: World, kind: str, params: Params) -> dict[str, Any]:
    """The description of the file a call carries or names by id.

    Args:
        world: Where files are kept.
        kind: `photo`, `document`, `audio`, …: the parameter that holds it.
        params: The call; an upload is a (name, bytes) pair.

    Raises:
        Refused: There is no such file, or it is empty.
    """
    given = params.get(kind)
    if isinstance(given, str) and given.startswith("attach://"):
        given = params.get(given.removeprefix("attach://"))
    if isinstance(given, tuple):
        name, data = given
        if not data:
            raise bad_request("file must be non-empty")
        described = world.keep_file(name, data)
    elif isinstance(given, str) and given in world.files:
        path, data = world.files[given]
        described = {
            "file_id": given,
            "file_unique_id": f"U{given[-8:]}",
            "file_size": len(data),
            "file_name": path.rpartition("/")[2],
        }
    elif given:
        raise bad_request("wrong file identifier/HTTP URL specified")
    else:
        raise bad_request(f"there is no {kind} in the request")
    return {kind: _as_kind(kind, described)}


def _as_kind(kind: str, described: dict[str, Any]) -> Any:
    if kind == "photo":
        return [{**described, "width": 90, "height": 90}]
    if kind in ("audio", "voice"):
        return {**described, "duration": 1}
    if kind in ("video", "animation", "sticker"):
        extra: dict[str, Any] = {"width": 90, "height": 90}
        if kind == "sticker":
            extra |= {"type": "regular", "is_animated": False, "is_video": False}
        else:
            extra |= {"duration": 1}
        return {**described, **extra}
    return described


def message_at(chat: Chat, params: Params, what: str) -> Message:
    """The message a call names.

    Args:
        chat: Where it is.
        params: The call.
        what: What is to be done to it, as Telegram says it: `edit`, `delete`, `react`.

    Raises:
        Refused: It is not there.
    """
    wanted = number(params, "message_id")
    if wanted is None:
        raise bad_request("message identifier is not specified")
    message = chat.messages.get(wanted)
    if message is None:
        raise bad_request(f"message to {what} not found")
    return message


def own_message_at(world: World, chat: Chat, params: Params) -> Message:
    """The bot's own message a call names, to be edited.

    Raises:
        Refused: It is not there, or somebody else's.
    """
    message = message_at(chat, params, "edit")
    if message["from"]["id"] != world.bot["id"]:
        raise Refused(400, "Bad Request: message can't be edited")
    return message
