"""What Telegram accepts as formatted text. Pure.

Stricter than Telegram on purpose in one place: Telegram quietly repairs entities that overlap or
nest in a forbidden way, so a renderer's mistake shows as lost formatting that no test would see.
Here it is refused.

Source: core.telegram.org/bots/api#formatting-options and #messageentity (read 2026-11).
"""

from typing import Any

from tests.peers.telegram.markup import Malformed, parse_html, parse_markdown, utf16_length

MAX_TEXT = 4096
MAX_CAPTION = 1024
MAX_ENTITIES = 100

_STYLES = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler"})
_QUOTES = frozenset({"blockquote", "expandable_blockquote"})
_ALONE = frozenset({"code", "pre"})
_FOUND_BY_THE_SERVER = frozenset(
    {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card"}
)
_TYPES = (
    _STYLES
    | _QUOTES
    | _ALONE
    | _FOUND_BY_THE_SERVER
    | {"text_link", "text_mention", "custom_emoji", "date_time"}
)


def read(
    text: str, parse_mode: str | None, entities: list[dict[str, Any]] | None
) -> tuple[str, list[dict[str, Any]]]:
    """What a person would see: the text without markup, trimmed, and its entities.

    Raises:
        Malformed: Telegram would refuse it.
    """
    mode = (parse_mode or "").lower()
    if mode == "html":
        text, found = parse_html(text)
    elif mode == "markdownv2":
        text, found = parse_markdown(text)
    elif mode:
        # The legacy "Markdown" mode is left out: nothing new may be written for it.
        raise Malformed("unsupported parse_mode")
    else:
        found = list(entities or [])
    if found:
        check(text, found)
        found = found[:MAX_ENTITIES]
    return _trimmed(text, found)


def check(text: str, entities: list[dict[str, Any]]) -> None:
    """Look at each entity alone, then at how they nest.

    Raises:
        Malformed: One is outside the text, cuts a character in two, or nests in another wrongly.
    """
    starts, length = _character_starts(text)
    for entity in entities:
        _check_one(entity, starts, length)
    stack: list[dict[str, Any]] = []
    for entity in sorted(entities, key=lambda e: (e["offset"], -e["length"])):
        while stack and _end(stack[-1]) <= entity["offset"]:
            stack.pop()
        if stack:
            _check_nesting(entity, stack)
        stack.append(entity)


def _check_one(entity: dict[str, Any], starts: frozenset[int] | None, length: int) -> None:
    kind, offset, size = entity.get("type"), entity.get("offset"), entity.get("length")
    if kind not in _TYPES:
        raise Malformed(f'can\'t parse MessageEntity: unsupported type "{kind}"')
    if not isinstance(offset, int) or not isinstance(size, int) or offset < 0 or size <= 0:
        raise Malformed("can't parse entities: receive an entity with incorrect offset or length")
    if kind == "text_link" and not entity.get("url"):
        raise Malformed("can't parse MessageEntity: Can't find field \"url\"")
    where = f"entity beginning at UTF-16 offset {offset} ends"
    if offset + size > length:
        raise Malformed(
            f"can't parse entities: {where} after the end of the text at UTF-16 offset {length}"
        )
    if starts is not None and offset not in starts:
        raise Malformed(
            f"can't parse entities: entity begins in a middle of a UTF-16 symbol at offset {offset}"
        )
    if starts is not None and offset + size not in starts:
        raise Malformed(f"can't parse entities: {where} in a middle of a UTF-16 symbol")


def _check_nesting(inner: dict[str, Any], around: list[dict[str, Any]]) -> None:
    outer = around[-1]
    kinds = {entity["type"] for entity in around}
    kind = inner["type"]
    where = f"{kind} at UTF-16 offset {inner['offset']}"
    if _end(inner) > _end(outer):
        raise Malformed(f"can't parse entities: {where} overlaps {outer['type']}")
    if kinds & _ALONE or (kind in _ALONE and kinds - _QUOTES):
        raise Malformed(f"can't parse entities: {where} can't be nested in {outer['type']}")
    if kind in _QUOTES and kinds & _QUOTES:
        raise Malformed(f"can't parse entities: {where}: blockquotes can't be nested")
    plain = kinds - _STYLES - _QUOTES
    if kind not in _STYLES and plain:
        raise Malformed(f"can't parse entities: {where} can't be nested in {outer['type']}")


def _end(entity: dict[str, Any]) -> int:
    return int(entity["offset"] + entity["length"])


def _character_starts(text: str) -> tuple[frozenset[int] | None, int]:
    """Where characters start in UTF-16 units, and the length; None where every offset is one."""
    if text.isascii() or max(text, default="") <= "\uffff":
        return None, len(text)
    starts, at = [], 0
    for character in text:
        starts.append(at)
        at += 2 if character > "\uffff" else 1
    return frozenset([*starts, at]), at


def _trimmed(text: str, entities: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """The text without trailing white space, nor leading before the first entity."""
    kept = text.rstrip(" \n\t\r")
    first = min((entity["offset"] for entity in entities), default=len(kept))
    lead = 0
    while lead < min(first, len(kept)) and kept[lead] in " \n\t\r":
        lead += 1
    kept = kept[lead:]
    if not entities:
        return kept, []
    length = utf16_length(kept)
    moved = []
    for entity in entities:
        offset = entity["offset"] - lead
        size = min(entity["length"], length - offset)
        if size > 0:
            moved.append({**entity, "offset": offset, "length": size})
    return kept, moved
