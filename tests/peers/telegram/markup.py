"""Telegram's two markup languages, read into text and entities. Pure.

Source: core.telegram.org/bots/api#formatting-options (read 2026-11).
"""

import re
from dataclasses import dataclass, field
from typing import Any

_RESERVED = frozenset("_*[]()~`>#+-=|{}.!")
_HTML_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "tg-emoji": "custom_emoji",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
}
_HTML_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_HTML_TOKEN = re.compile(r"<(/?)([A-Za-z-]*)([^>]*)>|<|&(#x?[0-9A-Fa-f]+|[A-Za-z]+);|[^<&]+|&")
_HTML_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)|(\S+)""")


class Malformed(Exception):
    """Telegram would not read this text; the message is Telegram's own description."""


def utf16_length(text: str) -> int:
    """How long `text` is in the unit of entity offsets."""
    return len(text) + sum(character > "\uffff" for character in text)


@dataclass
class _Writer:
    """Text being read, with the entities that are open in it."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    entities: list[dict[str, Any]] = field(default_factory=list)
    open: list[tuple[str, str, int, int, dict[str, Any]]] = field(default_factory=list)

    def write(self, text: str) -> None:
        self.pieces.append(text)
        self.length += utf16_length(text)

    def begin(self, mark: str, kind: str, at: int, **extra: Any) -> None:
        self.open.append((mark, kind, self.length, at, extra))

    def end(self) -> None:
        _, kind, offset, _, extra = self.open.pop()
        if self.length > offset and kind:
            found = {"type": kind, "offset": offset, "length": self.length - offset, **extra}
            self.entities.append(found)

    def done(self) -> tuple[str, list[dict[str, Any]]]:
        ordered = sorted(self.entities, key=lambda e: (e["offset"], -e["length"]))
        return "".join(self.pieces), ordered


def parse_html(text: str) -> tuple[str, list[dict[str, Any]]]:
    """Telegram's HTML.

    Raises:
        Malformed: A tag is unknown, unclosed or closed out of turn, or a `<` is bare.
    """
    out = _Writer()
    for token in _HTML_TOKEN.finditer(text):
        closing, tag, rest, reference = token.groups()
        whole = token.group()
        if reference:
            out.write(_character(reference, whole))
        elif not whole.startswith("<"):
            out.write(whole)
        elif closing:
            _close_tag(out, tag.lower(), token.start())
        else:
            _open_tag(out, (tag or "").lower(), rest or "", token.start())
    if out.open:
        raise Malformed(
            "can't parse entities: Can't find end tag corresponding to start tag "
            f'"{out.open[-1][0]}"'
        )
    return out.done()


def _character(reference: str, whole: str) -> str:
    if not reference.startswith("#"):
        return _HTML_NAMED.get(reference, whole)
    digits = reference[1:]
    code = int(digits[1:], 16) if digits[:1] in "xX" else int(digits)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else whole


def _open_tag(out: _Writer, tag: str, rest: str, at: int) -> None:
    kind = _HTML_TAGS.get(tag)
    if kind is None:
        raise Malformed(f'can\'t parse entities: Unsupported start tag "{tag}" at byte offset {at}')
    given = {
        (name or flag): (value or "").strip("\"'")
        for name, value, flag in _HTML_ATTRIBUTE.findall(rest)
    }
    extra: dict[str, Any] = {}
    if tag == "a":
        extra = {"url": _unescaped(given.get("href", ""))}
        kind = kind if extra["url"] else ""
    elif tag == "span" and given.get("class") != "tg-spoiler":
        raise Malformed(f'can\'t parse entities: Tag "span" must have class "tg-spoiler" at {at}')
    elif tag == "blockquote" and "expandable" in given:
        kind = "expandable_blockquote"
    elif tag == "tg-emoji":
        extra = {"custom_emoji_id": given.get("emoji-id", "")}
    elif tag == "code" and out.open and out.open[-1][0] == "pre":
        # <pre><code class="language-x"> is one entity: the language belongs to the pre.
        language = given.get("class", "").removeprefix("language-")
        if language:
            out.open[-1][4]["language"] = language
        kind = ""
    out.begin(tag, kind, at, **extra)


def _unescaped(text: str) -> str:
    return re.sub(r"&(#x?[0-9A-Fa-f]+|[A-Za-z]+);", lambda m: _character(m[1], m[0]), text)


def _close_tag(out: _Writer, tag: str, at: int) -> None:
    if not out.open:
        raise Malformed(f"can't parse entities: Unexpected end tag at byte offset {at}")
    expected = out.open[-1][0]
    if tag and tag != expected:
        raise Malformed(
            f"can't parse entities: Unmatched end tag at byte offset {at}, "
            f'expected "</{expected}>", found "</{tag}>"'
        )
    out.end()


_MARKS = {
    "*": "bold",
    "_": "italic",
    "__": "underline",
    "~": "strikethrough",
    "||": "spoiler",
}


def parse_markdown(text: str) -> tuple[str, list[dict[str, Any]]]:
    """Telegram's MarkdownV2.

    Raises:
        Malformed: A reserved character is not escaped, or an entity is not closed.
    """
    out, at = _Writer(), 0
    while at < len(text):
        if _at_line_start(text, at) and not _is_quote(text, at):
            _end_quote(out)
        at = _markdown_step(out, text, at)
    _end_quote(out)
    if out.open:
        mark, kind, _, began, _ = out.open[-1]
        raise Malformed(
            f"can't parse entities: Can't find end of {kind or mark} entity at byte offset {began}"
        )
    return out.done()


def _markdown_step(out: _Writer, text: str, at: int) -> int:
    character = text[at]
    if character == "\\" and at + 1 < len(text) and text[at + 1].isascii():
        out.write(text[at + 1])
        return at + 2
    if character == "`":
        return _code(out, text, at)
    if _at_line_start(text, at) and _is_quote(text, at):
        return _begin_quote(out, text, at)
    link = _link_step(out, text, at)
    if link:
        return link
    mark = next((m for m in ("__", "||", "*", "_", "~") if text.startswith(m, at)), "")
    if mark:
        return _toggle(out, mark, at)
    if character in _RESERVED:
        raise _reserved(character)
    out.write(character)
    return at + 1


def _link_step(out: _Writer, text: str, at: int) -> int:
    """Where reading goes on after the bracket of a link at `at`; 0 if there is none."""
    if text[at] == "[" or text.startswith("![", at):
        out.begin("[", "text_link", at)
        return at + (1 if text[at] == "[" else 2)
    if text[at] == "]" and any(entry[0] == "[" for entry in out.open):
        return _end_link(out, text, at)
    return 0


def _reserved(character: str) -> Malformed:
    return Malformed(
        f"can't parse entities: Character '{character}' is reserved "
        "and must be escaped with the preceding '\\'"
    )


def _toggle(out: _Writer, mark: str, at: int) -> int:
    if out.open and out.open[-1][0] == mark:
        out.end()
    elif any(entry[0] == mark for entry in out.open):
        _, kind, _, began, _ = out.open[-1]
        raise Malformed(
            f"can't parse entities: Can't find end of {kind} entity at byte offset {began}"
        )
    else:
        out.begin(mark, _MARKS[mark], at)
    return at + len(mark)


def _code(out: _Writer, text: str, at: int) -> int:
    fence = "```" if text.startswith("```", at) else "`"
    kind = "pre" if fence == "```" else "code"
    out.begin(fence, kind, at)
    began, at = at, at + len(fence)
    if kind == "pre":
        language = re.compile(r"([^\s`]*)\n").match(text, at)
        if language:
            at = language.end()
            if language[1]:
                out.open[-1][4]["language"] = language[1]
    while at < len(text) and not text.startswith(fence, at):
        if text[at] == "\\" and at + 1 < len(text) and text[at + 1].isascii():
            at += 1
        out.write(text[at])
        at += 1
    if at >= len(text):
        raise Malformed(
            f"can't parse entities: Can't find end of {kind.title()} entity at byte offset {began}"
        )
    out.end()
    return at + len(fence)


def _end_link(out: _Writer, text: str, at: int) -> int:
    if out.open[-1][0] != "[":
        _, kind, _, began, _ = out.open[-1]
        raise Malformed(
            f"can't parse entities: Can't find end of {kind} entity at byte offset {began}"
        )
    target = re.compile(r"\(((?:\\.|[^\\)])*)\)").match(text, at + 1)
    if target is None:
        out.open.pop()
        return at + 1
    url = re.sub(r"\\(.)", r"\1", target[1])
    out.open[-1][4]["url"] = url
    if url.startswith("tg://emoji?id="):
        mark, _, offset, began, _ = out.open.pop()
        out.open.append(
            (mark, "custom_emoji", offset, began, {"custom_emoji_id": url.rpartition("=")[2]})
        )
    out.end()
    return target.end()


def _at_line_start(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _is_quote(text: str, at: int) -> bool:
    return text[at] == ">" or text.startswith("**>", at)


def _begin_quote(out: _Writer, text: str, at: int) -> int:
    expandable = text[at] != ">"
    in_quote = any(entry[0] == ">" for entry in out.open)
    if in_quote and expandable:
        _end_quote(out)
        in_quote = False
    if not in_quote:
        out.begin(">", "expandable_blockquote" if expandable else "blockquote", at)
    return at + (3 if expandable else 1)


def _end_quote(out: _Writer) -> None:
    if not any(entry[0] == ">" for entry in out.open):
        return
    if out.open[-1][0] == "||" and out.open[-1][2] == out.length:
        # `||` at the very end of a quotation makes it expandable.
        out.open.pop()
        mark, _, offset, began, extra = out.open.pop()
        out.open.append((mark, "expandable_blockquote", offset, began, extra))
    if out.open[-1][0] != ">":
        _, kind, _, began, _ = out.open[-1]
        raise Malformed(
            f"can't parse entities: Can't find end of {kind} entity at byte offset {began}"
        )
    out.end()
