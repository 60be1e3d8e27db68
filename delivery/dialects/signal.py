"""Signal's words with styled ranges ([D14], [D15]). Pure.

Source: the manual of signal-cli for JSON-RPC (AsamK/signal-cli at c26e0632, read 2026-07): a style
is `start:length:NAME` in UTF-16 units; no links, no quotes, no headings, no languages. The service
sends more than 2000 bytes as a long-text attachment by itself, which clients show as one message.
"""

from collections.abc import Sequence
from dataclasses import replace

from delivery.content import Limit, Rendered, Unit
from delivery.dialects.stretches import stretches_of, utf16_offsets
from delivery.layout import Kind, Look, Span, lay_out
from delivery.markdown import parse
from delivery.rendering import empty_reply, with_marker
from delivery.splitting import MINIMUM_ROOM, Scale, measure, pack

MAXIMUM_LENGTH = 4000
_NAMES = {
    Kind.BOLD: "BOLD",
    Kind.ITALIC: "ITALIC",
    Kind.STRIKE: "STRIKETHROUGH",
    Kind.CODE: "MONOSPACE",
    Kind.PRE: "MONOSPACE",
}
_LOOK = Look(can_link=lambda _target: False, has_quotes=False)


def _units(text: str) -> int:
    return measure(text, Unit.UTF16)


_SCALE = Scale(_units)


class SignalDialect:
    """Words and styled ranges, at most 4000 UTF-16 units a message."""

    def __init__(self, limit: Limit | None = None) -> None:
        self.limit = limit or Limit(MAXIMUM_LENGTH, Unit.UTF16)

    def render(self, markdown: str, *, reserve: int = 0) -> list[Rendered]:
        """Render and split; see `delivery.ports.Dialect`."""
        room = max(self.limit.size - reserve, MINIMUM_ROOM)
        parts = pack(lay_out(parse(markdown), _LOOK), room, _SCALE)
        return [_rendered(part) for part in parts or [[Span(empty_reply(room, _SCALE))]]]

    def mark(self, part: Rendered, marker: str) -> Rendered:
        """The same part with `marker` as its own first line; ranges move along."""
        moved = _units(with_marker("", marker))
        styles = []
        for style in part.format["styles"]:
            start, rest = style.split(":", 1)
            styles.append(f"{int(start) + moved}:{rest}")
        return replace(
            part,
            text=with_marker(part.text, marker),
            plain=with_marker(part.plain, marker),
            length=part.length + moved,
            format={"styles": styles},
        )

    def measure(self, text: str) -> int:
        """The length of `text` in UTF-16 code units."""
        return _units(text)


def _rendered(spans: Sequence[Span]) -> Rendered:
    text = "".join(span.text for span in spans)
    offsets = utf16_offsets(text)
    styles = [
        f"{offsets[start]}:{offsets[end] - offsets[start]}:{_NAMES[style.kind]}"
        for style, start, end in stretches_of(spans)
        if style.kind in _NAMES
    ]
    return Rendered(text=text, plain=text, length=_units(text), format={"styles": styles})
