"""The Control UI's dialect: HTML that is safe to put into the page ([D14]). Pure.

All text is escaped as it is written here; nh3 then lets through only what this module writes,
so that a mistake above cannot become a script in an operator's browser.
"""

import re
from dataclasses import replace
from urllib.parse import urlsplit

import nh3

from delivery.content import Limit, Rendered, Unit
from delivery.document import Blocks, Emphasis, Paragraph, Text
from delivery.html import to_html
from delivery.markdown import parse
from delivery.portions import portions, text_of
from delivery.rendering import empty_reply, with_marker
from delivery.splitting import MINIMUM_ROOM, Scale, is_visible, measure

# The page has no limit of its own; this keeps one message from stalling a browser.
MAXIMUM_LENGTH = 200_000
_SCHEMES = {"http", "https", "mailto"}
_FILE = re.compile(r"/file/[0-9]{1,18}/")  # of `gateway.console.urls`; it asks who wants it

_CLEANER = nh3.Cleaner(
    tags={
        *("p", "br", "hr", "pre", "code", "blockquote", "ul", "ol", "li", "strong", "em", "s"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "a"),
    },
    attributes={
        "a": {"href"},
        "code": {"class"},
        "ol": {"start"},
        "th": {"align"},
        "td": {"align"},
    },
    url_schemes=_SCHEMES,
    link_rel="noopener noreferrer nofollow",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)


def can_link(target: str) -> bool:
    """Whether the page may lead to `target`: the web, mail, files; nothing else that is here."""
    if _FILE.fullmatch(target):
        return True
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return "@" in parts.path
    return parts.scheme in _SCHEMES and bool(parts.netloc)


class ConsoleDialect:
    """Sanitised HTML beside the plain text; the limit is on the plain text."""

    def __init__(self, limit: Limit | None = None) -> None:
        self.limit = limit or Limit(MAXIMUM_LENGTH, Unit.CHARACTERS)
        self._scale = Scale(self.measure)

    def render(self, markdown: str, *, reserve: int = 0) -> list[Rendered]:
        """Render and split; see `delivery.ports.Dialect`."""
        room = max(self.limit.size - reserve, MINIMUM_ROOM)
        parts = [
            self._rendered(text, html_of(blocks))
            for blocks in portions(parse(markdown), room, self._scale)
            if is_visible(text := text_of(blocks))
        ]
        if parts:
            return parts
        words = empty_reply(room, self._scale)
        return [self._rendered(words, html_of((Paragraph((Text(words),)),)))]

    def mark(self, part: Rendered, marker: str) -> Rendered:
        """The same part under a paragraph that says `marker`."""
        line = html_of((Paragraph((Emphasis((Text(marker),)),)),))
        html = f"{line}{part.format.get('html', '')}"
        marked = self._rendered(with_marker(part.text, marker), html)
        return replace(marked, plain=with_marker(part.plain, marker))

    def measure(self, text: str) -> int:
        """The length of `text` in the limit's unit."""
        return measure(text, self.limit.unit)

    def _rendered(self, text: str, html: str) -> Rendered:
        return Rendered(text=text, plain=text, length=self.measure(text), format={"html": html})


def html_of(blocks: Blocks) -> str:
    """The blocks as HTML that is safe in any page."""
    return _CLEANER.clean(to_html(blocks, can_link))
