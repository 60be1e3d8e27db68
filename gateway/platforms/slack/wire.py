"""One raw payload of Slack's -> our words. Pure, and total: no payload at all makes it raise.

The same payloads come over a socket and over HTTP. One that is not what the documentation promises
becomes `Ignored` with the reason, so that a poisoned one never stops those behind it.

What the account itself says and edits comes back as events as well, dozens for a single streamed
answer; these are nobody's words, decide nothing, and give no event at all.

Source: https://docs.slack.dev/reference/events/message and /apis/events-api (read 2026-08). Plain
dictionaries are read rather than models: of some hundred optional fields a dozen matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.messages import (
    Attachment,
    ChatType,
    EditedMessage,
    Ignored,
    Inbound,
    InboundMessage,
    Membership,
    Source,
    clean,
)
from gateway.platforms.slack import interactions, words
from gateway.platforms.slack.places import PLATFORM, NotForUs, Raw, Us, chat_type_of

__all__ = ["EVENTS", "INTERACTIVE", "PLATFORM", "SLASH", "Us", "answer_to", "name_in", "normalise"]

EVENTS, INTERACTIVE, SLASH = "events_api", "interactive", "slash_commands"

COMMAND_HEARD = (
    "`{asked}` has been heard; the answer follows as a message. If none does, /invite me here, or "
    "write to me directly."
)

# Somebody said something; every other subtype tells that something happened.
# Source: https://docs.slack.dev/reference/events/message#subtypes
_SPOKEN = frozenset({"", "file_share", "me_message", "thread_broadcast", "bot_message"})
_KINDS = (("image/", "photo"), ("video/", "video"), ("audio/", "audio"))
# What a hostile or broken payload can make plain dictionary and number work raise.
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError)


@dataclass(frozen=True)
class _Heard:
    """One event of the Events API with what stands around it."""

    event: Raw
    outer: Raw
    us: Us

    @property
    def event_id(self) -> str:
        return clean(str(self.outer.get("event_id") or ""))[:255]

    @property
    def scope(self) -> str:
        """The workspace through which it reached us: in a shared channel not always the speaker's.

        Source: docs.slack.dev/apis/slack-connect, "context_team_id"
        """
        granted = self._authorization
        team = self.outer.get("context_team_id") or granted.get("team_id")
        return str(team or self.outer.get("team_id") or "")

    @property
    def bot_ids(self) -> frozenset[str]:
        """Under which ids we are mentioned there; Slack names ours beside every event."""
        granted = self._authorization
        other = str(granted.get("user_id") or "") if granted.get("is_bot") else ""
        return frozenset({self.us.user_id, other} - {""})

    @property
    def _authorization(self) -> Raw:
        found = self.outer.get("authorizations") or [{}]
        return found[0] if isinstance(found[0], dict) else {}


def normalise(kind: str, payload: Raw, us: Us) -> list[Inbound]:
    """Read one payload.

    Args:
        kind: `events_api`, `interactive` or `slash_commands`.
        payload: The `payload` of a socket's envelope, or the body of a request, decoded.
        us: Who the account is, and how it answers.

    Returns:
        What was said or done: `Ignored` where there is nothing to do; none for what the account
        itself did.
    """
    event_id = ""
    try:
        if kind != EVENTS:
            return interactions.read(kind, payload, us)
        heard = _Heard(payload["event"], payload, us)
        event_id = heard.event_id
        return [] if _is_own(heard) else [_read(heard)]
    except NotForUs as verdict:
        return [Ignored(event_id=event_id or verdict.event_id, reason=str(verdict))]
    except _MALFORMED as error:
        reason = f"malformed payload: {type(error).__name__}"
        return [Ignored(event_id=event_id, reason=reason)]


def answer_to(kind: str, payload: Raw) -> Raw | None:
    """What an acknowledgement says: to a command in a channel, that it was heard.

    Slack shows a slash command to nobody, its giver included, until something is answered; and we
    may not be allowed to write there.
    """
    channel = str(payload.get("channel_id") or "")
    if kind != SLASH or chat_type_of(channel) is ChatType.DM:
        return None
    asked = f"{payload.get('command') or ''} {payload.get('text') or ''}".strip()
    return {"response_type": "ephemeral", "text": COMMAND_HEARD.format(asked=asked[:500])}


def name_in(answer: Raw) -> str:
    """What to call the person that `users.info` tells of."""
    user = answer.get("user") or {}
    profile = user.get("profile") or {}
    name = profile.get("display_name") or profile.get("real_name") or user.get("name") or ""
    return words.one_line(str(name))


def _read(heard: _Heard) -> Inbound:
    kind = str(heard.event["type"])
    reader = _READERS.get(kind)
    if reader is None:
        raise NotForUs(f"an event we do not use: {clean(kind)[:40]}")
    return reader(heard)


def _is_own(heard: _Heard) -> bool:
    """Whether it tells what the account itself said or changed."""
    event = heard.event
    if event["type"] not in {"message", "app_mention"}:
        return False
    inner = event.get("message") or event.get("previous_message") or event
    is_ours = str(inner.get("user") or "") in heard.bot_ids
    app_id = heard.outer.get("api_app_id")
    by_app = bool(app_id) and inner.get("bot_id") and inner.get("app_id") == app_id
    return is_ours or bool(by_app)


def _message(heard: _Heard) -> Inbound:
    event = heard.event
    subtype = str(event.get("subtype") or "")
    if subtype == "message_changed":
        return _edited(heard)
    if subtype not in _SPOKEN:
        raise NotForUs(f"service message: {clean(subtype)[:40]}")
    if event.get("hidden"):
        raise NotForUs("a hidden message")
    attachments = _attachments(event)
    text = _text(heard)
    if not text and not attachments:
        raise NotForUs("no words and no files")
    thread = _thread(event)
    hangs_on_ours = bool(thread) and event.get("parent_user_id") in heard.bot_ids
    return InboundMessage(
        source=_source(heard),
        event_id=heard.event_id,
        text=text,
        sent_at=datetime.fromtimestamp(float(event["ts"]), UTC),
        mentions_bot=_names_us(heard) or hangs_on_ours,
        reply_to=thread if hangs_on_ours else "",
        attachments=attachments,
    )


def _edited(heard: _Heard) -> Inbound:
    """A person's own change of words; Slack also tells of links it has unfolded."""
    now, before = heard.event["message"], heard.event.get("previous_message") or {}
    if not now.get("edited") or now.get("bot_id") or now.get("text") == before.get("text"):
        raise NotForUs("a message changed, and its words did not")
    changed = {**now, "channel": heard.event["channel"]}
    changed["channel_type"] = heard.event.get("channel_type")
    inner = _Heard(changed, heard.outer, heard.us)
    text = _text(inner)
    if not text:
        raise NotForUs("an edit that left no words")
    return EditedMessage(source=_source(inner), event_id=heard.event_id, text=text)


def _membership(heard: _Heard) -> Inbound:
    event = heard.event
    kind = event["type"]
    if kind.startswith("member_") and event["user"] not in heard.bot_ids:
        raise NotForUs("somebody else came or went")
    channel = str(event["channel"])
    actor = str(event.get("inviter") or event.get("actor_id") or event.get("user") or "")
    source = Source(
        platform=PLATFORM,
        account=heard.us.account,
        scope_id=heard.scope,
        chat_type=chat_type_of(channel),
        chat_id=channel,
        user_id=actor,
    )
    is_member = kind == "member_joined_channel"
    return Membership(source=source, event_id=heard.event_id, is_member=is_member)


_READERS: dict[str, Callable[[_Heard], Inbound]] = {
    "message": _message,
    "app_mention": _message,
    "member_joined_channel": _membership,
    "member_left_channel": _membership,
    "channel_left": _membership,
    "group_left": _membership,
}


def _source(heard: _Heard) -> Source:
    event, us = heard.event, heard.us
    channel = str(event["channel"])
    # Without its type, as in `app_mention`, an id that begins with D is a direct message.
    chat_type = chat_type_of(channel, str(event.get("channel_type") or ""))
    thread = _thread(event)
    if not thread and chat_type is not ChatType.DM and us.replies_in_threads and _names_us(heard):
        thread = str(event["ts"])  # the talk that begins here goes on below this message
    is_bot = bool(event.get("bot_id")) or event.get("subtype") == "bot_message"
    profile = event.get("user_profile") or {}
    name = profile.get("display_name") or profile.get("real_name") or event.get("username") or ""
    return Source(
        platform=PLATFORM,
        account=us.account,
        scope_id=heard.scope,
        chat_type=chat_type,
        chat_id=channel,
        thread_id=thread,
        user_id=str(event.get("user") or event.get("bot_id") or ""),
        user_name=words.one_line(str(name)),
        message_id=str(event["ts"]),
        is_bot=is_bot,
    )


def _thread(event: Raw) -> str:
    """The message below which it stands; the first of a thread names itself there."""
    thread = str(event.get("thread_ts") or "")
    return thread if thread != str(event["ts"]) else ""


def _names_us(heard: _Heard) -> bool:
    is_mention = heard.event["type"] == "app_mention" if "type" in heard.event else False
    return is_mention or words.names(str(heard.event.get("text") or ""), heard.bot_ids)


def _text(heard: _Heard) -> str:
    event = heard.event
    raw = event.get("text") or ""
    if not isinstance(raw, str):
        raise TypeError("text is no text")
    text = words.plain(words.without_greeting(raw, heard.bot_ids))
    is_for_us = _names_us(heard) or bool(_thread(event)) or _is_private(event)
    own = words.as_command(text) if is_for_us else text
    return "\n".join(filter(None, (own, words.shared(event))))


def _is_private(event: Raw) -> bool:
    kind = chat_type_of(str(event["channel"]), str(event.get("channel_type") or ""))
    return kind is ChatType.DM


def _attachments(event: Raw) -> tuple[Attachment, ...]:
    """The files that can be fetched; one that is gone or too old for the plan has no name."""
    files = event.get("files") or ()
    return tuple(_attachment(file) for file in files if file.get("mode") not in _UNREACHABLE)


_UNREACHABLE = frozenset({"tombstone", "hidden_by_limit"})


def _attachment(file: Raw) -> Attachment:
    mime_type = clean(str(file.get("mimetype") or ""))
    kind = next((kind for prefix, kind in _KINDS if mime_type.startswith(prefix)), "document")
    if file.get("subtype") == "slack_audio":
        kind = "voice"
    return Attachment(
        kind=kind,
        file_id=str(file["id"]),
        name=words.one_line(str(file.get("name") or file.get("title") or "")),
        mime_type=mime_type,
        size=int(file.get("size") or 0),
    )
