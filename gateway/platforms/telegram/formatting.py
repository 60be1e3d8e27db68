"""The Telegram dialect: text and entities ([D14], [D15]). Pure.

Entities need no escaping, so no text can break them. Offsets count UTF-16 code units.

Source: core.telegram.org/bots/api#messageentity and #formatting-options (Bot API 10.0, read
2026-05): `pre` and `code` hold no other entity, quotes are not nested, and of two entities that
meet one holds the other. At most 100 entities count in one message; the rest is ignored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import regex

from delivery.content import Limit, Rendered, Unit
from delivery.dialects.stretches import Stretch, stretches_of, utf16_offsets
from delivery.layout import Kind, Look, Span, Style, lay_out
from delivery.markdown import parse
from delivery.rendering import empty_reply, plain_text, with_marker
from delivery.splitting import MINIMUM_ROOM, Scale, is_visible, measure, pack

# The server counts code points, which are never more than UTF-16 units.
MAXIMUM_LENGTH = 4096
MAXIMUM_ENTITIES = 100
_TYPES = {
    Kind.BOLD: "bold",
    Kind.ITALIC: "italic",
    Kind.STRIKE: "strikethrough",
    Kind.CODE: "code",
    Kind.PRE: "pre",
    Kind.LINK: "text_link",
    Kind.QUOTE: "blockquote",
}
_CODE_KINDS = frozenset({Kind.CODE, Kind.PRE})
# Losing one of these loses a way or a shape; losing another loses only looks.
_NEEDED = frozenset({Kind.PRE, Kind.LINK})
_LANGUAGE = regex.compile(r"[\w+#.\-]{1,32}")
_NO_BREAK_SPACE = "\u00a0"

Entity = dict[str, Any]


def _units(text: str) -> int:
    return measure(text, Unit.UTF16)


def can_link(target: str) -> bool:
    """Whether Telegram follows a link to `target`."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    if parts.scheme in {"http", "https", "tg"}:
        return bool(parts.netloc)
    return parts.scheme == "mailto" and "@" in parts.path


_LOOK = Look(can_link=can_link, has_quotes=True)
_SCALE = Scale(_units)


class TelegramDialect:
    """Text with entities, at most 4096 UTF-16 units a message."""

    def __init__(self, limit: Limit | None = None) -> None:
        self.limit = limit or Limit(MAXIMUM_LENGTH, Unit.UTF16)

    def render(self, markdown: str, *, reserve: int = 0) -> list[Rendered]:
        """Render and split; see `delivery.ports.Dialect`."""
        room = max(self.limit.size - reserve, MINIMUM_ROOM)
        parts = pack(lay_out(parse(markdown), _LOOK), room, _SCALE)
        rendered = [
            _rendered(smaller, room)
            for part in parts
            for smaller in _within_entity_limit([_legal(span) for span in part])
        ]
        return rendered or [_rendered([Span(empty_reply(room, _SCALE))], room)]

    def mark(self, part: Rendered, marker: str) -> Rendered:
        """The same part with `marker` as its own first line; entities move along."""
        moved = _units(with_marker("", marker))
        entities = [
            {**entity, "offset": entity["offset"] + moved}
            for entity in part.format.get("entities", [])
        ]
        return replace(
            part,
            text=with_marker(part.text, marker),
            plain=with_marker(part.plain, marker),
            length=part.length + moved,
            format={"entities": entities},
        )

    def measure(self, text: str) -> int:
        """The length of `text` in UTF-16 code units."""
        return _units(text)


def _legal(span: Span) -> Span:
    """The span without the styles that may not meet."""
    if not span.styles:
        return span
    kinds = {style.kind for style in span.styles}
    if kinds.isdisjoint(_CODE_KINDS):
        return span
    if Kind.LINK in kinds:
        # A link cannot hold code either, and where it leads is worth more than its face.
        return span._replace(styles=tuple(s for s in span.styles if s.kind not in _CODE_KINDS))
    kept = tuple(s for s in span.styles if s.kind in _CODE_KINDS or s.kind is Kind.QUOTE)
    return span._replace(styles=kept)


def _within_entity_limit(spans: list[Span]) -> Iterator[list[Span]]:
    """The part, or pieces of it that have no more entities than count and cannot lose one."""
    # A span begins at most one entity of the needed kinds, for they do not hold one another.
    if len(spans) <= MAXIMUM_ENTITIES or _count_needed(spans) <= MAXIMUM_ENTITIES:
        yield spans
        return
    middle = len(spans) // 2
    for half in (spans[:middle], spans[middle:]):
        if is_visible("".join(span.text for span in half)):
            yield from _within_entity_limit(_without_outer_spaces(half))


def _count_needed(spans: list[Span]) -> int:
    return sum(style.kind in _NEEDED for style, _start, _end in stretches_of(spans))


def _without_outer_spaces(spans: list[Span]) -> list[Span]:
    spans = list(spans)
    first, last = spans[0], spans[-1]
    if not _is_code(first):
        spans[0] = first._replace(text=first.text.lstrip("\n"))
    if not _is_code(last):
        spans[-1] = spans[-1]._replace(text=spans[-1].text.rstrip())
    return spans


def _is_code(span: Span) -> bool:
    # No style is inside code, so code is the last.
    return bool(span.styles) and span.styles[-1].kind in _CODE_KINDS


def _rendered(spans: list[Span], room: int) -> Rendered:
    spans = _with_kept_indentation(spans)
    text = "".join(span.text for span in spans)
    return Rendered(
        text=text,
        plain=plain_text(spans, room, _SCALE),
        length=_units(text),
        format={"entities": _entities(spans, text)},
    )


def _with_kept_indentation(spans: list[Span]) -> list[Span]:
    """Telegram drops spaces a message begins with, so an indented first line needs harder ones."""
    first = spans[0]
    if _is_code(first) or not first.text.startswith(" "):
        return spans
    words = first.text.lstrip(" ")
    indented = _NO_BREAK_SPACE * (len(first.text) - len(words)) + words
    return [first._replace(text=indented), *spans[1:]]


def _entities(spans: Sequence[Span], text: str) -> list[Entity]:
    # Spaces at the ends of an entity are left out of it, but those in code are code.
    shadow = "".join("x" * len(s.text) if _is_code(s) else s.text for s in spans)
    offsets = utf16_offsets(text)
    entities: list[Entity] = []
    for style, start, end in _most_needed(stretches_of(spans)):
        if style.kind in _CODE_KINDS:
            first, last = (start, end) if text[start:end].strip() else (start, start)
        else:
            words = shadow[start:end]
            first = start + len(words) - len(words.lstrip())
            last = end - len(words) + len(words.rstrip())
        if first < last:
            entities.append(_entity(style, offsets[first], offsets[last]))
    return entities


def _most_needed(stretches: list[Stretch]) -> list[Stretch]:
    if len(stretches) <= MAXIMUM_ENTITIES:
        return stretches
    ranked = sorted(
        range(len(stretches)),
        key=lambda place: (
            stretches[place][0].kind not in _NEEDED,
            stretches[place][0].kind is not Kind.CODE,
            place,
        ),
    )
    return [stretches[place] for place in sorted(ranked[:MAXIMUM_ENTITIES])]


def _entity(style: Style, start: int, end: int) -> Entity:
    entity: Entity = {"type": _TYPES[style.kind], "offset": start, "length": end - start}
    if style.kind is Kind.LINK:
        entity["url"] = style.value
    if style.kind is Kind.PRE and _LANGUAGE.fullmatch(style.value):
        entity["language"] = style.value
    return entity
