"""Our words -> the parameters of Bot API calls. Pure.

Source: https://core.telegram.org/bots/api (Bot API 10.0), each method's own section.
"""

from typing import Any

from delivery.addresses import Address
from delivery.content import Button, ButtonStyle, Controls
from delivery.errors import AnchorGone, MessageGone, OutcomeUnknown
from delivery.ports import OutgoingPart
from gateway.messages import ButtonPress
from gateway.platforms.telegram.wire import ALLOWED_UPDATES, GENERAL_TOPIC

Params = dict[str, Any]

_NOTICE_CHARACTERS = 200  # answerCallbackQuery, `text`
_PLACEHOLDER_CHARACTERS = 64  # forceReply, `input_field_placeholder`
HEARD = "👀"
_NO_LINK_PREVIEW = {"is_disabled": True}
# inlineKeyboardButton, `style`; a server that does not know it yet drops it.
_STYLES = {ButtonStyle.PRIMARY: "primary", ButtonStyle.DANGER: "danger"}


def send_message(part: OutgoingPart) -> Params:
    """What sendMessage is called with.

    Raises:
        AnchorGone: `reply_to` cannot be the id of a Telegram message.
    """
    return _text(part) | _placed(part)


def send_file(part: OutgoingPart) -> Params:
    """What a method that sends a file is called with, the file itself aside.

    Raises:
        AnchorGone: `reply_to` cannot be the id of a Telegram message.
    """
    params: Params = {"chat_id": part.address.chat_id}
    if part.body.text:
        params["caption"] = part.body.text
        if part.body.format.get("entities"):
            params["caption_entities"] = part.body.format["entities"]
    return params | _placed(part)


def _placed(part: OutgoingPart) -> Params:
    """Where in the chat a message goes, and its buttons."""
    params: Params = {}
    thread_id = _thread_to_send_to(part.address)
    if thread_id:
        params["message_thread_id"] = thread_id
    if part.reply_to:
        if not _is_message_id(part.reply_to):
            raise AnchorGone("the message to reply to has no Telegram id")
        params["reply_parameters"] = {"message_id": int(part.reply_to)}
    markup = _markup(part.controls, is_reply=bool(part.reply_to))
    if markup is not None:
        params["reply_markup"] = markup
    return params


def edit_message_text(message_id: str, part: OutgoingPart) -> Params:
    """What editMessageText is called with; buttons that are not named again go away.

    Raises:
        MessageGone: `message_id` cannot be the id of a Telegram message.
    """
    params = _text(part) | {"message_id": _checked(message_id)}
    if part.controls.rows or part.controls.clear:
        params["reply_markup"] = _keyboard(part.controls)
    return params


def delete_message(address: Address, message_id: str) -> Params:
    """What deleteMessage is called with.

    Raises:
        MessageGone: `message_id` cannot be the id of a Telegram message.
    """
    return {"chat_id": address.chat_id, "message_id": _checked(message_id)}


def send_chat_action(address: Address) -> Params:
    """What sendChatAction is called with; unlike sendMessage it takes the General topic's id."""
    params: Params = {"chat_id": address.chat_id, "action": "typing"}
    if address.thread_id:
        params["message_thread_id"] = address.thread_id
    return params


def id_of(sent: Any) -> str:
    """The id of the message that a method answered with.

    Raises:
        OutcomeUnknown: The answer has none.
    """
    if not isinstance(sent, dict) or "message_id" not in sent:
        raise OutcomeUnknown("Telegram accepted the message without saying its id")
    return str(sent["message_id"])


def set_message_reaction(address: Address, message_id: str) -> Params:
    """What setMessageReaction is called with; this emoji is one of those a bot may choose."""
    reaction = [{"type": "emoji", "emoji": HEARD}]
    return {"chat_id": address.chat_id, "message_id": message_id, "reaction": reaction}


def answer_callback_query(press: ButtonPress, text: str, *, alert: bool) -> Params:
    """What answerCallbackQuery is called with; a longer notice is cut to what it may hold."""
    params: Params = {"callback_query_id": press.interaction_id}
    if text:
        is_long = len(text) > _NOTICE_CHARACTERS
        params["text"] = text[: _NOTICE_CHARACTERS - 1] + "…" if is_long else text
    if alert:
        params["show_alert"] = True
    return params


def get_updates(cursor: str, *, wait_seconds: int) -> Params:
    """What getUpdates is called with; the offset confirms everything before it."""
    params: Params = {"timeout": wait_seconds, "allowed_updates": list(ALLOWED_UPDATES)}
    if cursor:
        params["offset"] = cursor
    return params


def set_my_commands(commands: tuple[tuple[str, str], ...], language: str = "") -> Params:
    """What setMyCommands is called with.

    Args:
        commands: Pairs of name and description.
        language: For whose apps, as two letters; empty for all that have no menu of their own.

    Source: https://core.telegram.org/bots/api#setmycommands
    """
    menu = [{"command": name, "description": what} for name, what in commands]
    return {"commands": menu} | ({"language_code": language} if language else {})


def _text(part: OutgoingPart) -> Params:
    params: Params = {
        "chat_id": part.address.chat_id,
        "text": part.body.text,
        "link_preview_options": _NO_LINK_PREVIEW,
    }
    entities = part.body.format.get("entities")
    if entities:
        params["entities"] = entities
    return params


def _thread_to_send_to(address: Address) -> str:
    """The General topic is sent to by naming no topic; its own id is refused ([B152])."""
    is_general = address.thread_id == GENERAL_TOPIC and address.chat_type != "dm"
    return "" if is_general else address.thread_id


def _markup(controls: Controls, *, is_reply: bool) -> Params | None:
    """A message carries one kind of control only: buttons go before an invitation to type."""
    if controls.rows:
        return _keyboard(controls)
    if not controls.force_reply:
        return None
    markup: Params = {"force_reply": True}
    if is_reply:
        markup["selective"] = True  # only the one we answer is invited
    if controls.placeholder:
        markup["input_field_placeholder"] = controls.placeholder[:_PLACEHOLDER_CHARACTERS]
    return markup


def _keyboard(controls: Controls) -> Params:
    return {"inline_keyboard": [[_button(button) for button in row] for row in controls.rows]}


def _button(button: Button) -> Params:
    drawn: Params = {"text": button.label, "callback_data": button.data}
    if button.style in _STYLES:
        drawn["style"] = _STYLES[button.style]
    return drawn


def _checked(message_id: str) -> int:
    if not _is_message_id(message_id):
        raise MessageGone("not the id of a Telegram message")
    return int(message_id)


def _is_message_id(text: str) -> bool:
    return text.isascii() and text.isdecimal()
