"""Mattermost's Markdown ([D14], [D15]). Pure.

Source: docs.mattermost.com, "Format text" (read 2026-08): CommonMark with tables, struck words,
headings, fences; a line end is a line end; a post holds 16,383 characters. `@all`, `@channel` and
`@here` call everybody, and no field of a post forbids it, so they are broken up.
"""

import regex

from delivery.content import Limit, Rendered, Unit
from delivery.dialects.commonmark import MarkdownWriter
from delivery.dialects.marks import APART, Marks
from delivery.dialects.targets import is_web_or_mail, quoted
from delivery.document import Blocks, Paragraph, Text
from delivery.layout import Kind, Look
from delivery.markdown import parse
from delivery.portions import portions, text_of
from delivery.rendering import empty_reply, with_marker
from delivery.splitting import Scale, is_visible, measure

MAXIMUM_LENGTH = 16_383
# With less room than this, marks and escapes could leave none for the words.
MINIMUM_ROOM = 32
_SIGNS = regex.compile(r"[\\`*\[\]<|~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|!(?=\[)")
_AT_LINE_START = regex.compile(r"[#>+=:-]|\d+(?=[.)])")
_TICKS = regex.compile(r"`+")
_MASS_MENTION = regex.compile(r"@(?=all\b|channel\b|here\b)", regex.IGNORECASE)


def _escape(text: str, is_line_start: bool) -> str:
    escaped = _words(text)
    start = _AT_LINE_START.match(escaped) if is_line_start else None
    if start is None:
        return escaped
    at = start.end() if start.group()[0].isdecimal() else 0
    return f"{escaped[:at]}\\{escaped[at:]}"


def _words(text: str) -> str:
    escaped: str = _SIGNS.sub(r"\\\g<0>", text)
    broken_up: str = _MASS_MENTION.sub(f"@{APART}", escaped)
    return broken_up


def _target(target: str) -> str:
    return quoted(target).replace("(", "%28").replace(")", "%29").replace("&", "&amp;")


def _link(_words: str, escaped: str, target: str) -> str:
    return f"[{escaped}]({_target(target)})"


def _ticked(code: str) -> str:
    """Code between more backticks than it has itself, as CommonMark has it."""
    ticks = "`" * (max((len(found) for found in _TICKS.findall(code)), default=0) + 1)
    blank = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{ticks}{blank}{code}{blank}{ticks}"


def _characters(text: str) -> int:
    return measure(text, Unit.CHARACTERS)


_MARKS = Marks(
    measure=_characters,
    pairs={Kind.BOLD: "**", Kind.ITALIC: "*", Kind.STRIKE: "~~"},
    escape=_escape,
    costs=dict.fromkeys([*"\\`*[]<|~$_&!#>+=:-.)@", "://"], 1),
    link=_link,
    link_cost=lambda target: len(_target(target)) + len("[]()"),
    ticked=_ticked,
    hugs_letters=True,
)
_SCALE = Scale(_characters)


class MattermostDialect:
    """Markdown written anew, at most 16,383 characters a post."""

    def __init__(self, limit: Limit | None = None) -> None:
        self.limit = limit or Limit(MAXIMUM_LENGTH, Unit.CHARACTERS)

    def render(self, markdown: str, *, reserve: int = 0) -> list[Rendered]:
        """Render and split; see `delivery.ports.Dialect`."""
        room = max(self.limit.size - reserve, MINIMUM_ROOM)
        writer = MarkdownWriter(_MARKS, _look(room))

        def longest(blocks: Blocks) -> str:
            return max(writer.write(blocks), text_of(blocks), key=_characters)

        parts = [
            _rendered(writer.write(blocks), plain)
            for blocks in portions(parse(markdown), room, _SCALE, longest)
            if is_visible(plain := text_of(blocks))
        ]
        if parts:
            return parts
        words = empty_reply(room, _MARKS.scale())
        return [_rendered(writer.write((Paragraph((Text(words),)),)), words)]

    def mark(self, part: Rendered, marker: str) -> Rendered:
        """The same part under a line that says `marker`."""
        text = f"{_escape(marker, True)}\n{part.text}"
        plain = with_marker(part.plain, marker)
        return Rendered(text=text, plain=plain, length=_characters(text))

    def measure(self, text: str) -> int:
        """The length of `text` in characters, escaped."""
        return _MARKS.escaped(text, ())


def _look(room: int) -> Look:
    def can_link(target: str) -> bool:
        return _MARKS.link_cost(target) <= room // 4 and is_web_or_mail(target)

    return Look(can_link=can_link, has_quotes=False)


def _rendered(text: str, plain: str) -> Rendered:
    return Rendered(text=text, plain=plain, length=_characters(text))
