"""Markdown in, our tree out ([D14]). Pure, linear in the length, and any text at all can be read.

The grammar is CommonMark with GFM tables, strikethrough and task lists, read by markdown-it-py.
What the agent wrote may not vanish, so three things differ from a web page: raw HTML stays text,
a link definition that nothing uses is shown, and so are a table row's surplus cells.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import regex
from markdown_it import MarkdownIt
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from delivery.document import (
    Align,
    Block,
    Blocks,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Image,
    Inline,
    Inlines,
    Item,
    ItemList,
    Link,
    Paragraph,
    Quote,
    Row,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
    lines_of,
)

# A list inside a list costs two levels, so this is fifteen lists deep. The parser throws away
# what lies deeper; see `parse`.
MAXIMUM_NESTING = 30
# Emphasis within emphasis beyond this is read as plain words: the parser itself sets no bound.
MAXIMUM_EMPHASIS = 16
# Each "[" may cost the parser a look through MAXIMUM_NESTING more; no honest answer has so many.
MAXIMUM_BRACKETS = 4000

_SPACES = regex.compile(r"[\s\x00-\x1f]")
_TASK = regex.compile(r"\[([ xX])\](?:\s+|$)")
_YEAR_AND_UP = 1000
_LINE_END = regex.compile(r"\r\n|\n|\r")
# A rule by the grammar, but really bold with nothing in it, or a blank to be filled in.
_EMPTY_BOLD = frozenset({"****", "____"})
# TeX between single dollars: has a TeX sign in it, so that two prices in a line are not taken.
_FORMULA = regex.compile(
    r"\$\$[^`]{1,2000}?\$\$|\$(?![\s$])(?=[^$\n]{0,200}?[\\^_{}])[^$\n`\[\]]{1,200}(?<!\s)\$(?!\d)"
)


def parse(markdown: str) -> Blocks:
    """Read Markdown.

    Args:
        markdown: Any text. Lone surrogates become U+FFFD, as does NUL.

    Returns:
        The blocks in order; none for a text without visible words. A text nested deeper than
        anybody can follow comes back as paragraphs of its own source.
    """
    source = _whole_characters(markdown)
    parser = _CAUTIOUS if source.count("[") > MAXIMUM_BRACKETS else _PARSER
    tokens = parser.parse(source)
    if any(token.nesting == 1 and token.level >= MAXIMUM_NESTING - 1 for token in tokens):
        return plain_paragraphs(source)
    return _Reader(tokens, source).read()


def plain_paragraphs(source: str) -> Blocks:
    """The same words with no markup read in them: paragraphs at blank lines, lines kept."""
    paragraphs = regex.split(r"\n[ \t]*\n\s*", source.replace("\r\n", "\n"))
    return tuple(
        Paragraph(lines_of(paragraph.strip("\n"))) for paragraph in paragraphs if paragraph.strip()
    )


def _whole_characters(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _read_formula(state: StateInline, silent: bool) -> bool:
    """Leave TeX as it stands: its stars and underscores are not emphasis."""
    if state.src[state.pos] != "$":
        return False
    match = _FORMULA.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.append_pending(match.group())
    state.pos = match.end()
    return True


class _Grammar(MarkdownIt):
    """The parser, with targets kept as written: which may be followed differs by platform."""

    def validateLink(self, url: str) -> bool:  # type: ignore[explicit-override]  # noqa: N802, ARG002
        """Any target makes a link."""
        return True

    def normalizeLink(self, url: str) -> str:  # type: ignore[explicit-override]  # noqa: N802
        """The target as written; spaces and controls, which no URL has, are escaped."""
        quoted: str = _SPACES.sub(lambda match: f"%{ord(match.group()):02X}", url)
        return quoted

    def normalizeLinkText(self, link: str) -> str:  # type: ignore[explicit-override]  # noqa: N802
        """An autolink reads as it was written."""
        return link


def _build_parser(*, reads_links: bool) -> MarkdownIt:
    parser = _Grammar(
        "commonmark",
        {
            "html": False,
            "maxNesting": MAXIMUM_NESTING,
            "inline_definitions": True,
            "store_labels": True,
        },
    )
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    if not reads_links:
        parser.disable(["link", "image", "reference"])
    parser.inline.ruler.before("escape", "formula", _read_formula)
    return parser


_PARSER = _build_parser(reads_links=True)
_CAUTIOUS = _build_parser(reads_links=False)


class _Reader:
    """Turns the parser's flat tokens into blocks; block nesting is bounded, so it may recurse."""

    def __init__(self, tokens: Sequence[Token], source: str) -> None:
        self._tokens = tokens
        self._next = 0
        self._source = source
        self._source_lines: list[str] = []
        self._hidden = _used_definitions(tokens)
        self._containers: dict[str, Callable[[Token], Iterable[Block]]] = {
            "paragraph_open": self._paragraph,
            "heading_open": self._heading,
            "fence": self._code,
            "code_block": self._code,
            "blockquote_open": self._quote,
            "bullet_list_open": self._list,
            "ordered_list_open": self._list,
            "table_open": self._table,
            "definition": self._definition,
        }

    def read(self) -> Blocks:
        """All blocks."""
        return self._blocks("")

    def _blocks(self, closing: str) -> Blocks:
        blocks: list[Block] = []
        while self._next < len(self._tokens):
            token = self._take()
            if token.type == closing:
                break
            if token.type == "hr":
                blocks.append(self._rule(token))
            elif token.type in self._containers:
                blocks.extend(self._containers[token.type](token))
        return tuple(blocks)

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _inlines(self, closing: str) -> Inlines:
        inlines: Inlines = ()
        while (token := self._take()).type != closing:
            inlines = _read_inlines(token.children or ())
        return inlines

    def _paragraph(self, _token: Token) -> Iterator[Block]:
        inlines = self._inlines("paragraph_close")
        if inlines:
            yield Paragraph(inlines)

    def _heading(self, token: Token) -> Iterator[Block]:
        inlines = self._inlines("heading_close")
        if inlines:
            yield Heading(int(token.tag[1:]), inlines)

    def _rule(self, token: Token) -> Block:
        line = self._source_line(token).strip()
        return Paragraph((Text(line),)) if line in _EMPTY_BOLD else Rule()

    def _source_line(self, token: Token) -> str:
        """The first line of the source that a token was read from."""
        if not token.map:
            return ""
        self._source_lines = self._source_lines or _LINE_END.split(self._source)
        return self._source_lines[token.map[0]]

    def _code(self, token: Token) -> Iterator[Block]:
        words = token.info.split()
        yield CodeBlock(token.content.removesuffix("\n"), words[0] if words else "")

    def _quote(self, _token: Token) -> Iterator[Block]:
        blocks = self._blocks("blockquote_close")
        if blocks:
            yield Quote(blocks)

    def _list(self, token: Token) -> Iterable[Block]:
        is_ordered = token.type == "ordered_list_open"
        start = int(token.attrs.get("start", 1)) if is_ordered else None
        first = self._next
        items: list[Item] = []
        while self._take().type == "list_item_open":
            items.append(_item(self._blocks("list_item_close")))
        opened = self._tokens[first : self._next]
        is_tight = not any(
            t.type == "paragraph_open" and not t.hidden and t.level == token.level + 2
            for t in opened
        )
        if start is not None and start >= _YEAR_AND_UP and len(items) == 1:
            return _sentence_with_year(f"{start}{token.markup} ", items[0])
        return (ItemList(tuple(items), start, token.markup if is_ordered else "", is_tight),)

    def _table(self, _token: Token) -> Iterator[Block]:
        rows: list[Row] = []
        alignments: tuple[Align, ...] = ()
        while (token := self._take()).type != "table_close":
            if token.type == "tr_open":
                row, leanings = self._row(token, len(alignments))
                alignments = alignments or leanings
                rows.append(row)
        yield Table(rows[0], tuple(rows[1:]), alignments)

    def _row(self, opened: Token, columns: int) -> tuple[Row, tuple[Align, ...]]:
        cells: list[Inlines] = []
        alignments: list[Align] = []
        while (token := self._take()).type != "tr_close":
            if token.type == "inline":
                cells.append(_read_inlines(token.children or ()))
            elif token.nesting == 1:
                style = str(token.attrs.get("style", ""))
                alignments.append(Align(style.removeprefix("text-align:") or "left"))
        surplus = self._surplus(opened, columns)
        if surplus:
            cells[-1] = (*cells[-1], Text(f" | {surplus}"))
        return tuple(cells), tuple(alignments)

    def _surplus(self, opened: Token, columns: int) -> str:
        """The cells of a body row that have no column; GFM would ignore them."""
        line = self._source_line(opened)
        if not columns or line.count("|") <= columns:
            return ""
        cells = [cell.strip() for cell in escapedSplit(line.strip().lstrip("> \t"))]
        if cells and not cells[0]:
            del cells[0]
        if cells and not cells[-1]:
            del cells[-1]
        return " | ".join(cells[columns:])

    def _definition(self, token: Token) -> Iterator[Block]:
        if id(token) in self._hidden:
            return
        meta = token.meta
        title = f' "{meta["title"]}"' if meta["title"] else ""
        link = Link((Text(meta["url"]),), meta["url"])
        words = Text(f"[{meta['label']}]: "), link, Text(title)
        yield Paragraph(words if title else words[:2])


def _used_definitions(tokens: Sequence[Token]) -> set[int]:
    """Which definition tokens need not be shown, by identity: the first of each used label."""
    definitions = [token for token in tokens if token.type == "definition"]
    if not definitions:
        return set()
    used = {
        child.meta["label"]
        for token in tokens
        for child in _with_pictures(token.children or ())
        if "label" in child.meta
    }
    first: dict[str, Token] = {}
    for token in definitions:
        first.setdefault(token.meta["id"], token)
    return {
        id(token)
        for token in definitions
        if token.meta["id"] in used and token.meta["url"] == first[token.meta["id"]].meta["url"]
    }


def _with_pictures(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens, and those inside a picture's description."""
    waiting = list(tokens)
    while waiting:
        token = waiting.pop()
        yield token
        waiting.extend(token.children or ())


def _item(blocks: Blocks) -> Item:
    match blocks:
        case (Paragraph((Text(text), *rest)), *others) if mark := _TASK.match(text):
            words = (Text(text[mark.end() :]), *rest)
            return Item((Paragraph(words), *others), mark.group(1) != " ")
        case _:
            return Item(blocks)


def _sentence_with_year(number: str, item: Item) -> Blocks:
    """A line that begins with a year and a full stop is a sentence, not entry 2024 of a list."""
    match item.blocks:
        case (Paragraph(inlines), *others):
            return (Paragraph((Text(number), *inlines)), *others)
        case others:
            return (Paragraph((Text(number.strip()),)), *others)


_STYLES: dict[str, type[Strong | Emphasis | Strike]] = {
    "strong_open": Strong,
    "em_open": Emphasis,
    "s_open": Strike,
}


def _read_inlines(tokens: Iterable[Token]) -> Inlines:
    """Nest the flat inline tokens, on our own stack: emphasis may be thousands deep."""
    found: list[Inline] = []
    outer: list[tuple[Token, list[Inline]]] = []
    for token in tokens:
        if token.nesting == 1:
            outer.append((token, found))
            found = []
        elif token.nesting == -1:
            opened, enclosing = outer.pop()
            enclosing.extend(_wrapped(opened, found, len(outer)))
            found = enclosing
        else:
            found.extend(_leaf(token))
    return tuple(found)


def _wrapped(opened: Token, children: list[Inline], depth: int) -> Inlines:
    if opened.type == "link_open":
        return (Link(tuple(children), str(opened.attrs["href"])),)
    if depth >= MAXIMUM_EMPHASIS:
        return tuple(children)
    return (_STYLES[opened.type](tuple(children)),)


def _leaf(token: Token) -> Inlines:
    match token.type:
        case "softbreak" | "hardbreak":
            return (Break(),)
        case "code_inline":
            return (Code(token.content),)
        case "image":
            return (Image(_description(token), str(token.attrs["src"])),)
        case _:
            if "\n" in token.content:  # in a formula
                return lines_of(token.content)
            return (Text(token.content),) if token.content else ()


def _description(image: Token) -> str:
    """A picture's description as words; markup inside it does not show."""
    words = [
        " " if "break" in child.type else child.content
        for child in image.children or ()
        if not child.nesting
    ]
    return "".join(words)
