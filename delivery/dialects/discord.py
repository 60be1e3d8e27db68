"""Discord's Markdown ([D14], [D15]). Pure.

Source: support.discord.com "Markdown Text 101", and the API documents on message formatting and on
messages (discord/discord-api-docs at c98d64bc, read 2026-08): 2000 characters; bold, italic,
strike, code, fences with a language, quotes, headings, lists, masked links; no tables and no
pictures. A backslash before a sign makes it a sign. Whom a message notifies is the adapter's to
say (`allowed_mentions`); a mass mention is broken up here all the same.

Headings are bold lines and bullets are signs, as on every platform that is sent lines. Links are
written with angle brackets, so that an answer with ten sources has no ten previews.
"""

import regex

from delivery.content import Limit, Unit
from delivery.dialects.marked import MarkedDialect
from delivery.dialects.marks import APART, Marks
from delivery.dialects.targets import around_urls, is_web, quoted
from delivery.layout import Kind, is_same_target, target_note
from delivery.splitting import measure

MAXIMUM_LENGTH = 2000
# Signs that mark something wherever they stand. An underscore within a word marks nothing.
_SIGNS = regex.compile(r"[\\*~|`\[\]<]|(?<![^\W_])_|_(?![^\W_])")
_AT_LINE_START = regex.compile(r"[#>+-]")
_MASS_MENTION = regex.compile(r"@(?=everyone|here)")


def discord(limit: Limit | None = None) -> MarkedDialect:
    """The dialect of Discord, at most 2000 characters a message."""
    return MarkedDialect(limit or Limit(MAXIMUM_LENGTH, Unit.CHARACTERS), _MARKS, is_web)


def _escape(text: str, is_line_start: bool) -> str:
    escaped = around_urls(text, _words)
    return "\\" + escaped if is_line_start and _AT_LINE_START.match(escaped) else escaped


def _words(text: str) -> str:
    escaped: str = _SIGNS.sub(r"\\\g<0>", text)
    broken_up: str = _MASS_MENTION.sub(f"@{APART}", escaped)
    return broken_up


def _link(words: str, escaped: str, target: str) -> str:
    # Words that look like an address are not shown as a link to another one.
    if "://" not in words:
        return f"[{escaped}](<{quoted(target)}>)"
    if target.removesuffix("/") in words or is_same_target(words, target):
        return escaped
    return escaped + target_note(words, target).replace(target, f"<{quoted(target)}>")


_MARKS = Marks(
    measure=lambda text: measure(text, Unit.CHARACTERS),
    pairs={Kind.BOLD: "**", Kind.ITALIC: "_", Kind.STRIKE: "~~"},
    escape=_escape,
    costs=dict.fromkeys([*"\\*~|`[]<_#>+-@", "://"], 1),
    link=_link,
    link_cost=lambda target: len(quoted(target)) + len(" (<>)") + 1,
)
