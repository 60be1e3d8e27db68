"""Conversation keys: deterministic, bijective, parseable back ([S2]); names of turns. Pure."""

from dataclasses import dataclass
from urllib.parse import quote, unquote

from gateway.messages import ChatType, Source

LONGEST = 2500


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """Who shares one history ([S3]); the defaults are the product's.

    Attributes:
        group_per_participant: Each member of a group has their own session.
        thread_per_participant: Each participant of a thread has their own session.
    """

    group_per_participant: bool = True
    thread_per_participant: bool = False


@dataclass(frozen=True, kw_only=True)
class KeyFields:
    """What a key says; an empty text means "none"."""

    profile: str
    platform: str
    account: str
    scope_id: str
    chat_type: str
    chat_id: str
    thread_id: str = ""
    participant_id: str = ""


def fields_of(source: Source, sharing: Sharing) -> KeyFields:
    """The fields of the key that `source` belongs to: the one place where sharing is decided."""
    in_thread = bool(source.thread_id)
    if source.chat_type in {ChatType.DM, ChatType.CONSOLE, ChatType.WEBHOOK, ChatType.CHANNEL}:
        per_participant = False
    else:
        per_participant = (
            sharing.thread_per_participant if in_thread else sharing.group_per_participant
        )
    return KeyFields(
        profile=source.profile,
        platform=source.platform,
        account=source.account,
        scope_id=source.scope_id,
        chat_type=source.chat_type.value,
        chat_id=source.chat_id,
        thread_id=source.thread_id,
        participant_id=(source.user_id_alt or source.user_id) if per_participant else "",
    )


def _escaped(field: str) -> str:
    return quote(field, safe="", errors="surrogatepass")


def to_key(fields: KeyFields) -> str:
    """The key that says exactly `fields`."""
    words = [
        "agent",
        fields.profile,
        fields.platform,
        fields.account,
        fields.scope_id,
        fields.chat_type,
        fields.chat_id,
    ]
    if fields.thread_id or fields.participant_id:
        words.append(fields.thread_id)
    if fields.participant_id:
        words.append(fields.participant_id)
    return ":".join(_escaped(word) for word in words)


def from_key(key: str) -> KeyFields:
    """The fields that `to_key` wrote.

    Raises:
        ValueError: It is not such a key.
    """
    words = [unquote(word, errors="surrogatepass") for word in key.split(":")]
    if not 7 <= len(words) <= 9 or words[0] != "agent":
        message = "not a conversation key"
        raise ValueError(message)
    words += [""] * (9 - len(words))
    return KeyFields(
        profile=words[1],
        platform=words[2],
        account=words[3],
        scope_id=words[4],
        chat_type=words[5],
        chat_id=words[6],
        thread_id=words[7],
        participant_id=words[8],
    )


def correlation_of(turn_id: int) -> str:
    """How the lower apps name a turn."""
    return str(turn_id)


def turn_of(correlation: str) -> int | None:
    """The turn that the lower apps name so; None if it is the name of none."""
    is_number = correlation.isascii() and correlation.isdigit() and len(correlation) < 19
    return int(correlation) if is_number else None
