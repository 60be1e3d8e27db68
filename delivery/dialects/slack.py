"""Slack's mrkdwn ([D14], [D15]). Pure.

Source: docs.slack.dev, "Formatting message text" (read 2026-08): `*bold*`, `_italic_`, `~struck~`,
code, fences without a language, `>` before a quoted line, `<address|words>`; no headings, no
tables; only `&`, `<` and `>` are escaped, which also takes the power from `<!channel>` and its
like. There is no escape for the marks themselves: slackhq/slack-api-docs#34 says so, and that a
blank beside one undoes it; a zero width space does too (anneschuth/claude-threads#92). Text up to
4000 characters is advised; more than 40,000 is cut off by the server.
"""

import regex

from delivery.content import Limit, Unit
from delivery.dialects.marked import MarkedDialect
from delivery.dialects.marks import APART, Marks
from delivery.dialects.targets import around_urls, is_web_or_mail, quoted
from delivery.layout import Kind
from delivery.splitting import measure

MAXIMUM_LENGTH = 4000
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Marks that could be taken for marks: not those within a word.
_SIGNS = regex.compile(r"(?<![^\W_])[*_~`]|[*_~`](?![^\W_])")


def slack(limit: Limit | None = None) -> MarkedDialect:
    """The dialect of Slack's text, at most 4000 characters a message."""
    return MarkedDialect(limit or Limit(MAXIMUM_LENGTH, Unit.CHARACTERS), _MARKS, is_web_or_mail)


def _entities(text: str) -> str:
    for sign, entity in _ENTITIES.items():
        text = text.replace(sign, entity)
    return text


def _escape(text: str, _is_line_start: bool) -> str:
    return around_urls(text, _words, _entities)


def _words(text: str) -> str:
    kept_apart: str = _SIGNS.sub(rf"{APART}\g<0>{APART}", text)
    return _entities(kept_apart)


def _link(_words: str, escaped: str, target: str) -> str:
    return f"<{_entities(quoted(target))}|{escaped}>"


_MARKS = Marks(
    measure=lambda text: measure(text, Unit.CHARACTERS),
    pairs={Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~"},
    escape=_escape,
    costs={"&": 4, "<": 3, ">": 3, "*": 2, "_": 2, "~": 2, "`": 2, "://": 1},
    link=_link,
    link_cost=lambda target: len(_entities(quoted(target))) + len("<|>"),
    code=_entities,
    code_costs={"&": 4, "<": 3, ">": 3},
    shy="*_~`",
    has_languages=False,
    quotes_code=False,
)
