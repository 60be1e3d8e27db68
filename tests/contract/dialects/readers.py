"""How people read what each dialect sends: written from the platforms' documents, not our writers.

A reader gives the words that a client would show and the code blocks it would show as code. It
fails on what no client could make sense of: a mark that is not closed, an escape of nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser

import regex
from markdown_it import MarkdownIt

from delivery.content import Rendered


@dataclass
class Page:
    """What one message shows."""

    words: str
    code: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)


def read_plain(part: Rendered) -> Page:
    return Page(part.text)


def read_signal(part: Rendered) -> Page:
    units = part.text.encode("utf-16-le")
    code = []
    for style in part.format["styles"]:
        start, length, name = style.split(":")
        at, size = int(start), int(length)
        assert name in {"BOLD", "ITALIC", "STRIKETHROUGH", "MONOSPACE"}
        assert size > 0
        assert at >= 0
        assert at + size <= len(units) // 2
        covered = units[at * 2 : (at + size) * 2].decode("utf-16-le")  # fails inside of a pair
        if name == "MONOSPACE":
            code.append(covered.removesuffix("\n"))
    return Page(part.text, code)


class Document(HTMLParser):
    """The words of an HTML page, and its `pre` elements; fails if a tag is left open."""

    VOID = {"br", "hr", "img", "input"}

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.opened: list[str] = []
        self.words: list[str] = []
        self.prose: list[str] = []
        self.code: list[str] = []
        self.languages: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(html)
        self.close()
        assert not self.opened

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.words += [value or "" for name, value in attrs if name == "alt"]
        if tag not in self.VOID:
            self.opened.append(tag)
        if tag == "pre":
            self.code.append("")
        if tag == "code" and "pre" in self.opened:
            names = [value or "" for name, value in attrs if name == "class"]
            self.languages.append("".join(names).removeprefix("language-"))

    def handle_startendtag(self, tag, attrs):
        assert tag in self.VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if "code" not in self.opened:
            self.prose.append(data)
        if "pre" in self.opened:
            self.code[-1] += data


MATRIX_TAGS = {
    *("p", "br", "hr", "pre", "code", "blockquote", "ul", "ol", "li", "strong", "em", "s", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}


def read_matrix(part: Rendered) -> Page:
    assert part.format["format"] == "org.matrix.custom.html"
    page = Document(part.format["formatted_body"])
    for tag, name, value in page.attributes:
        assert tag in MATRIX_TAGS
        assert name != "href" or value.lower().startswith(("http://", "https://", "mailto:"))
    code = [each.removesuffix("\n") for each in page.code]
    return Page("".join(page.words), code, page.languages)


def read_mattermost(part: Rendered) -> Page:
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True})
    parser.enable(["table", "strikethrough"])
    page = Document(parser.render(part.text))
    code = [each.removesuffix("\n") for each in page.code]
    assert not regex.search(r"(?i)@(all|channel|here)\b", "".join(page.prose))
    return Page("".join(page.words), code, page.languages)


def lines_and_code(text: str, *, quoted_fences: bool) -> tuple[list[str], Page]:
    """The lines outside of fences with a mark where a fence stood, and what was in the fences."""
    page = Page("")
    lines: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        sign = "> " if line.startswith("> ") else ""
        bare = line[len(sign) :]
        if fence is None and bare.startswith("```"):
            assert quoted_fences or not sign
            fence = sign
            page.languages.append(bare[3:])
            assert "`" not in bare[3:]
            page.code.append("")
            lines.append("\0")
        elif fence is None:
            assert "```" not in line
            lines.append(line)
        elif line == fence + "```":
            page.code[-1] = page.code[-1].removesuffix("\n")
            fence = None
        else:
            assert line.startswith(fence)
            assert "```" not in line
            page.code[-1] += line[len(fence) :] + "\n"
    assert fence is None
    return lines, page


class Marked:
    """One line of marked words, token by token; `marks` are closed in the order of opening."""

    def __init__(self, marks: tuple[str, ...]) -> None:
        self.marks = marks
        self.opened: list[str] = []
        self.shown = ""

    def turn(self, mark: str) -> None:
        assert mark in self.marks
        if mark in self.opened:
            assert self.opened.pop() == mark
        else:
            self.opened.append(mark)

    def end(self) -> str:
        assert self.opened == []
        return self.shown


DISCORD = regex.compile(
    r"\\(?P<escaped>[^0-9A-Za-z\s])|(?P<url>https?://[^\s<>\\|`\[\]()]+)|`(?P<code>(?:\u200b`\u200b|[^`\u200b]|\u200b(?!`\u200b))*)`"
    r"|\[(?P<label>(?:\\.|[^\]\\])*)\]\(<(?P<target>[^\s<>]*)>\)|(?P<mark>\*\*|~~|(?<![^\W_])_|_(?![^\W_]))"
    r"|<(?P<bare>https?://[^\s<>]*)>|(?P<other>.)"
)


def discord_line(line: str, *, is_label: bool = False) -> str:
    found = Marked(("**", "_", "~~"))
    line = line.removeprefix("> ")
    assert is_label or not regex.match(r"[#>+-]", line), line
    for token in DISCORD.finditer(line):
        kind, text = token.lastgroup, token.group()
        if kind in {"escaped", "url", "code", "bare"}:
            found.shown += token.group(kind)
        elif token.group("label") is not None:
            found.shown += discord_line(token.group("label"), is_label=True)
        elif kind == "mark":
            found.turn(text)
        else:
            assert text not in "\\*~|`[]<", line
            found.shown += text
    assert not regex.search(r"@(everyone|here)", regex.sub(r"`[^`]*`", "", line)) or "://" in line
    return found.end()


def read_discord(part: Rendered) -> Page:
    return read_lines(part, discord_line, quoted_fences=True)


def read_lines(
    part: Rendered, line: Callable[[str], str], *, quoted_fences: bool, code: Callable = str
) -> Page:
    lines, page = lines_and_code(part.text, quoted_fences=quoted_fences)
    page.code = [code(each) for each in page.code]
    blocks = iter(page.code)
    page.words = "\n".join(next(blocks) if each == "\0" else line(each) for each in lines)
    return page


ENTITY = regex.compile(r"&(amp|lt|gt);")
SLACK = regex.compile(
    r"<(?P<target>[^<>|]+)\|(?P<label>[^<>]*)>|(?P<url>https?://[^\s<>\\|`\[\]()]+)"
    r"|`(?P<code>(?:\u200b`\u200b|[^`\u200b]|\u200b(?!`\u200b))*)`"
    r"|(?P<guarded>[\u200b ][*_~`]\u200b)"
    r"|(?P<mark>(?<![^\W_])[*_~]|[*_~](?![^\W_]))|(?P<other>.)"
)


def entities(text: str) -> str:
    assert not regex.search(r"[<>]|&(?!(?:amp|lt|gt);)", text), text
    return ENTITY.sub(lambda found: {"amp": "&", "lt": "<", "gt": ">"}[found.group(1)], text)


def slack_line(line: str, *, is_label: bool = False) -> str:
    found = Marked(("*", "_", "~"))
    for token in SLACK.finditer(line.removeprefix("> ")):
        kind, text = token.lastgroup, token.group()
        if token.group("label") is not None:
            assert not is_label
            found.shown += slack_line(token.group("label"), is_label=True)
        elif kind == "mark":
            found.turn(text)
        else:
            found.shown += token.group(kind)
    return found.end() if is_label else entities(found.end())


def read_slack(part: Rendered) -> Page:
    page = read_lines(part, slack_line, quoted_fences=False, code=entities)
    assert set(page.languages) <= {""}
    return page


WECOM = regex.compile(
    r"\[(?P<label>(?:[\u200b ]\[\u200b|\](?!\()|[^\[\]])*)\]\((?P<target>[^\s()<>]*)\)"
    r"|(?P<url>https?://[^\s<>\\|`\[\]()]+)"
    r"|`(?P<code>(?:\u200b`\u200b|[^`\u200b]|\u200b(?!`\u200b))*)`"
    r"|(?P<guarded>[\u200b ][*`_\[\]]\u200b)"
    r"|(?P<mark>\*\*)|(?P<other>.)"
)


def wecom_line(line: str, *, is_label: bool = False) -> str:
    found = Marked(("**",))
    line = line.removeprefix("> ")
    assert is_label or not regex.match(r"[#>]", line)
    for token in WECOM.finditer(line):
        kind, text = token.lastgroup, token.group()
        if token.group("label") is not None:
            found.shown += wecom_line(token.group("label"), is_label=True)
        elif kind == "mark":
            found.turn(text)
        else:
            assert text not in "*`"
            found.shown += token.group(kind)
    return found.end()


def read_wecom(part: Rendered) -> Page:
    return read_lines(part, wecom_line, quoted_fences=True)


READERS: dict[str, Callable[[Rendered], Page]] = {
    "discord": read_discord,
    "matrix": read_matrix,
    "mattermost": read_mattermost,
    "plain": read_plain,
    "signal": read_signal,
    "slack": read_slack,
    "wecom": read_wecom,
    "weixin": read_plain,
}
