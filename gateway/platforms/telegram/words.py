"""The words of one raw Bot API message, and whether they are addressed to us. Pure.

Entities are ranges that a stranger's client sent: each is checked against the text before it is
believed, and one that does not fit is no entity ([B126]).
"""

from dataclasses import dataclass
from typing import Any

from gateway.messages import clean
from gateway.ports import BotIdentity

Raw = dict[str, Any]

_LONGEST_NAME = 128  # two names of at most 64 characters each

# Source: https://core.telegram.org/bots/api#message, the fields "Service message: …".
_SERVICE_KINDS = frozenset(
    {
        "new_chat_members",
        "left_chat_member",
        "new_chat_title",
        "new_chat_photo",
        "delete_chat_photo",
        "group_chat_created",
        "supergroup_chat_created",
        "channel_chat_created",
        "message_auto_delete_timer_changed",
        "pinned_message",
        "successful_payment",
        "refunded_payment",
        "users_shared",
        "chat_shared",
        "connected_website",
        "write_access_allowed",
        "proximity_alert_triggered",
        "boost_added",
        "chat_background_set",
        "forum_topic_created",
        "forum_topic_edited",
        "forum_topic_closed",
        "forum_topic_reopened",
        "general_forum_topic_hidden",
        "general_forum_topic_unhidden",
        "giveaway_created",
        "giveaway_completed",
        "video_chat_scheduled",
        "video_chat_started",
        "video_chat_ended",
        "video_chat_participants_invited",
        "web_app_data",
        "chat_owner_left",
        "chat_owner_changed",
    }
)
# What every message may carry beside what it is; the rest names what we could not read.
_ENVELOPE = frozenset(
    {
        "message_id",
        "message_thread_id",
        "is_topic_message",
        "from",
        "sender_chat",
        "date",
        "chat",
        "reply_to_message",
        "entities",
        "caption_entities",
        "media_group_id",
    }
)


@dataclass(frozen=True)
class Addressing:
    """Whom the words are addressed to, by the entities in them.

    Attributes:
        is_mention: The bot is named somewhere in the text.
        is_ours: The text begins with a command that carries our name.
        is_for_other: The text begins with a command that carries another bot's name.
        suffix: Our name as it stands in that command, "@" included.
    """

    is_mention: bool = False
    is_ours: bool = False
    is_for_other: bool = False
    suffix: str = ""


def service_kind(message: Raw) -> str:
    """Which service message this is; empty for one that somebody wrote."""
    return next((kind for kind in message if kind in _SERVICE_KINDS), "")


def unread_kinds(message: Raw) -> str:
    """The names of the fields nobody here reads, for the reason why it was ignored."""
    kinds = sorted(clean(str(key))[:40] for key in message if key not in _ENVELOPE)
    return ", ".join(kinds[:5]) or "empty"


def text_of(message: Raw) -> str:
    """What the message says, in words, raw: text or caption, or a place, a contact, a poll.

    Forwarded words, and those that an inline bot wrote for somebody to send, are marked as such:
    they are not the sender's own, so a "/approve" or an answer inside them is no order of theirs.
    """
    text = message.get("text") or message.get("caption") or _described(message)
    if not isinstance(text, str):
        raise TypeError("text is no text")
    author = _forwarded_from(message)
    if author:
        return f"[forwarded from {author}]\n{text}" if text else text
    bot = _written_by(message)
    return f"[written by {bot}]\n{text}" if bot and text else text


def one_line(text: str) -> str:
    """A name as one clean line: a stranger's line breaks get into no page and no log."""
    return " ".join(clean(text).split())[:_LONGEST_NAME]


def addressing(message: Raw, me: BotIdentity) -> Addressing:
    """Find out whether the words name us.

    Only entities count, never a search for "@name" in the text: the latter also finds code,
    links, mail addresses and longer names ([B164]).
    """
    if "forward_origin" in message or "via_bot" in message:
        return Addressing()
    text = message.get("text") or message.get("caption") or ""
    entities = message.get("entities") or message.get("caption_entities")
    if not entities or not isinstance(entities, list):
        return Addressing()
    units = text.encode("utf-16-le", "surrogatepass")
    found = Addressing()
    for entity in entities:
        if isinstance(entity, dict):
            found = _with(found, entity, _part(units, entity), me)
    return found


def without_suffix(text: str, call: Addressing) -> str:
    """The text with our name taken off its leading command: "/new@gwbot x" -> "/new x"."""
    return text.replace(call.suffix, "", 1)


def _with(found: Addressing, entity: Raw, part: str, me: BotIdentity) -> Addressing:
    kind = entity.get("type")
    if kind == "text_mention":
        user = entity.get("user")
        named = isinstance(user, dict) and str(user.get("id")) == me.user_id
        return _naming(found) if named and part else found
    if not me.user_name:
        return found
    ours = f"@{me.user_name}".casefold()
    if kind == "mention":
        return _naming(found) if part.casefold() == ours else found
    if kind == "bot_command" and part.startswith("/"):
        return _commanded(found, entity, part, ours)
    return found


def _commanded(found: Addressing, entity: Raw, part: str, ours: str) -> Addressing:
    _, at, name = part.partition("@")
    is_ours = f"@{name}".casefold() == ours
    if not at or (entity["offset"] != 0 and not is_ours):
        return found
    if entity["offset"] != 0:
        return _naming(found)
    if is_ours:
        return Addressing(is_mention=found.is_mention, is_ours=True, suffix=f"@{name}")
    return Addressing(is_mention=found.is_mention, is_for_other=True)


def _naming(found: Addressing) -> Addressing:
    return Addressing(True, found.is_ours, found.is_for_other, found.suffix)


def _part(units: bytes, entity: Raw) -> str:
    """The entity's part of the text; empty unless its range lies wholly on whole characters.

    Args:
        units: The text in UTF-16, little-endian: entities count in its units of two bytes.
        entity: An entity as it came in.
    """
    offset, length = entity.get("offset"), entity.get("length")
    if type(offset) is not int or type(length) is not int:
        return ""
    if offset < 0 or length < 1 or 2 * (offset + length) > len(units):
        return ""
    try:
        return units[2 * offset : 2 * (offset + length)].decode("utf-16-le")
    except UnicodeDecodeError:
        return ""


def _described(message: Raw) -> str:
    """In words, what came without any: a venue (which repeats its place), a place, a contact."""
    if "venue" in message:
        venue = message["venue"]
        return f"Venue: {venue['title']}, {venue['address']} ({_place(venue['location'])})"
    if "location" in message:
        return f"Location: {_place(message['location'])}"
    if "contact" in message:
        contact = message["contact"]
        names = (contact["first_name"], contact.get("last_name"))
        return f"Contact: {' '.join(filter(None, names))}, {contact['phone_number']}"
    if "poll" in message:
        poll = message["poll"]
        return "\n".join(
            [f"Poll: {poll['question']}", *(f"- {o['text']}" for o in poll["options"])]
        )
    if "dice" in message:
        return f"{message['dice']['emoji']} {int(message['dice']['value'])}"
    return ""


def _place(location: Raw) -> str:
    return f"{float(location['latitude'])}, {float(location['longitude'])}"


def _written_by(message: Raw) -> str:
    """The inline bot whose words somebody has sent, in one line; empty for their own words.

    What the bot shows in its list of results need not be what is sent.

    Source: https://core.telegram.org/bots/api#message, the field `via_bot`
    """
    bot = message.get("via_bot")
    if not bot:
        return ""
    name = bot.get("username") or bot.get("first_name") or "a bot"
    return f"the bot {one_line(name)}".replace("]", ")")


def _forwarded_from(message: Raw) -> str:
    """Who said it first, in one line; empty for what was not forwarded.

    Source: https://core.telegram.org/bots/api#messageorigin
    """
    origin = message.get("forward_origin")
    if not origin:
        return ""
    user = origin.get("sender_user") or {}
    chat = origin.get("sender_chat") or origin.get("chat") or {}
    full = " ".join(filter(None, (user.get("first_name"), user.get("last_name"))))
    name = full or origin.get("sender_user_name") or chat.get("title") or "somebody"
    return one_line(name).replace("]", ")")
