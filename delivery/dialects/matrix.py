"""Matrix's HTML beside plain text ([D14], [D15]). Pure.

Source: the client-server specification, module "Instant messaging" (read 2026-07): a body, and a
`formatted_body` in `org.matrix.custom.html` with the tags that `delivery.html` writes; links to
http, https, ftp, mailto and magnet. An event holds 65,536 bytes of JSON, envelope included; the
limit here is on body and formatted body together and leaves room for quotes and line ends, which
JSON doubles.
"""

from dataclasses import replace

from delivery.content import Limit, Rendered, Unit
from delivery.dialects.targets import is_web_or_mail
from delivery.document import Blocks, Emphasis, Paragraph, Text
from delivery.html import to_html
from delivery.markdown import parse
from delivery.portions import portions, text_of
from delivery.rendering import empty_reply, with_marker
from delivery.splitting import Scale, is_visible, measure

MAXIMUM_LENGTH = 30_000
# With less room than this, tags could leave none for the words.
MINIMUM_ROOM = 128


def _bytes(text: str) -> int:
    return measure(text, Unit.BYTES)


_SCALE = Scale(_bytes)


class MatrixDialect:
    """A body and its HTML, together at most 30,000 bytes a message."""

    def __init__(self, limit: Limit | None = None) -> None:
        self.limit = limit or Limit(MAXIMUM_LENGTH, Unit.BYTES)

    def render(self, markdown: str, *, reserve: int = 0) -> list[Rendered]:
        """Render and split; see `delivery.ports.Dialect`."""
        room = max(self.limit.size - reserve, MINIMUM_ROOM)
        parts = [
            _rendered(text, _html(blocks))
            for blocks in portions(parse(markdown), room, _SCALE, _written)
            if is_visible(text := text_of(blocks))
        ]
        words = empty_reply(room, _SCALE)
        return parts or [_rendered(words, _html((Paragraph((Text(words),)),)))]

    def mark(self, part: Rendered, marker: str) -> Rendered:
        """The same part under a paragraph that says `marker`."""
        html = _html((Paragraph((Emphasis((Text(marker),)),)),)) + part.format["formatted_body"]
        marked = _rendered(with_marker(part.text, marker), html)
        return replace(marked, plain=with_marker(part.plain, marker))

    def measure(self, text: str) -> int:
        """The length of `text` in UTF-8 bytes, as body and as a paragraph of the HTML."""
        return _bytes(_written((Paragraph((Emphasis((Text(text),)),)),)))


def _html(blocks: Blocks) -> str:
    return to_html(blocks, is_web_or_mail)


def _written(blocks: Blocks) -> str:
    return text_of(blocks) + _html(blocks)


def _rendered(text: str, html: str) -> Rendered:
    return Rendered(
        text=text,
        plain=text,
        length=_bytes(text) + _bytes(html),
        format={"format": "org.matrix.custom.html", "formatted_body": html},
    )
