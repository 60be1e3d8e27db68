"""The Markdown that every client of WeCom shows ([D14], [D15]). Pure.

Source: developer.work.weixin.qq.com, documents 90236 (application messages) and 101463 (AI bots),
read 2026-08: bold, links, code, quotes and headings everywhere; a reply of an AI bot holds 20,480
bytes of UTF-8, a message of an application 2048. Italic and struck words are shown by newer
clients only, so they are left plain. No escape is documented: marks that are words are kept apart.
"""

import regex

from delivery.content import Limit, Unit
from delivery.dialects.marked import MarkedDialect
from delivery.dialects.marks import APART, Marks
from delivery.dialects.targets import around_urls, is_web, quoted
from delivery.layout import Kind
from delivery.splitting import measure

MAXIMUM_LENGTH = 20_480
_SIGNS = regex.compile(r"[*`\[]|\](?=\()|(?<![^\W_])_|_(?![^\W_])")
_AT_LINE_START = regex.compile(r"[#>]")


def wecom(limit: Limit | None = None) -> MarkedDialect:
    """The dialect of WeCom, at most 20,480 bytes a message."""
    return MarkedDialect(limit or Limit(MAXIMUM_LENGTH, Unit.BYTES), _MARKS, is_web)


def _escape(text: str, is_line_start: bool) -> str:
    escaped = around_urls(text, _apart)
    return APART + escaped if is_line_start and _AT_LINE_START.match(escaped) else escaped


def _apart(text: str) -> str:
    kept_apart: str = _SIGNS.sub(rf"{APART}\g<0>{APART}", text)
    return kept_apart


def _link(_words: str, escaped: str, target: str) -> str:
    return f"[{escaped}]({_target(target)})"


def _target(target: str) -> str:
    return quoted(target).replace("(", "%28").replace(")", "%29")


_MARKS = Marks(
    measure=lambda text: measure(text, Unit.BYTES),
    pairs={Kind.BOLD: "**"},
    escape=_escape,
    costs=dict.fromkeys([*"*`[]_#>", "://"], 2 * len(APART.encode())),
    link=_link,
    link_cost=lambda target: len(_target(target).encode()) + len("[]()"),
)
