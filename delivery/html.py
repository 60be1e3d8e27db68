"""A document as HTML ([D14]). Pure.

All text is escaped here. Whoever puts the result into a page cleans it once more all the same.
"""

from collections.abc import Callable, Iterable
from html import escape

import regex

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
    Strike,
    Strong,
    Table,
    Text,
    words_of,
)
from delivery.layout import DONE, TODO, target_note

_LANGUAGE = regex.compile(r"[\w+#.\-]{1,32}")
_TAGS: dict[type[Inline], str] = {Strong: "strong", Emphasis: "em", Strike: "s"}


def to_html(blocks: Blocks, can_link: Callable[[str], bool]) -> str:
    """Write HTML.

    Args:
        blocks: The document.
        can_link: Whether a link to this target may be made; if not, the target is written out.

    Returns:
        HTML with p, h1-h6, pre, code, blockquote, ul, ol, li, table parts, hr, br, strong, em,
        s and a; the attributes are href, start, align, and class="language-…" on code.
    """
    return _Writer(can_link).blocks(blocks)


class _Writer:
    def __init__(self, can_link: Callable[[str], bool]) -> None:
        self._can_link = can_link

    def blocks(self, blocks: Blocks) -> str:
        return "".join(self._block(block) for block in blocks)

    def _block(self, block: Block) -> str:
        match block:
            case Paragraph(inlines):
                html = f"<p>{self._inlines(inlines)}</p>"
            case Heading(level, inlines):
                html = f"<h{level}>{self._inlines(inlines)}</h{level}>"
            case CodeBlock(code, language):
                html = _pre(code, language)
            case Quote(blocks):
                html = f"<blockquote>{self.blocks(blocks)}</blockquote>"
            case ItemList():
                html = self._list(block)
            case Table():
                html = self._table(block)
            case _:
                html = "<hr>"
        return html

    def _list(self, block: ItemList) -> str:
        items = "".join(self._item(item, block.is_tight) for item in block.items)
        if block.start is None:
            return f"<ul>{items}</ul>"
        start = "" if block.start == 1 else f' start="{block.start}"'
        return f"<ol{start}>{items}</ol>"

    def _item(self, item: Item, is_tight: bool) -> str:
        box = "" if item.is_done is None else f"{DONE if item.is_done else TODO} "
        match item.blocks:
            case (Paragraph(inlines), *others):
                words = box + self._inlines(inlines)
                first = words if is_tight else f"<p>{words}</p>"
                return f"<li>{first}{self.blocks(tuple(others))}</li>"
            case _:
                return f"<li>{box}{self.blocks(item.blocks)}</li>"

    def _table(self, table: Table) -> str:
        head = self._row(table.header, table.alignments, "th")
        rows = "".join(self._row(row, table.alignments, "td") for row in table.rows)
        body = f"<tbody>{rows}</tbody>" if rows else ""
        return f"<table><thead>{head}</thead>{body}</table>"

    def _row(self, row: Row, alignments: Iterable[Align], tag: str) -> str:
        cells = "".join(
            f"<{tag}{_align(leaning)}>{self._inlines(cell)}</{tag}>"
            for cell, leaning in zip(row, alignments, strict=True)
        )
        return f"<tr>{cells}</tr>"

    def _inlines(self, inlines: Inlines, *, is_inside_link: bool = False) -> str:
        return "".join(self._inline(inline, is_inside_link) for inline in inlines)

    def _inline(self, inline: Inline, is_inside_link: bool) -> str:
        match inline:
            case Text(text):
                return escape(text)
            case Code(text):
                return f"<code>{escape(text)}</code>"
            case Break():
                return "<br>"
            case Link(children, target):
                return self._link(children, target, is_inside_link)
            case Image(alt, target):
                return self._link((Text(alt or target),), target, is_inside_link)
            case _:
                tag = _TAGS[type(inline)]
                inner = self._inlines(inline.children, is_inside_link=is_inside_link)
                return f"<{tag}>{inner}</{tag}>"

    def _link(self, children: Inlines, target: str, is_inside_link: bool) -> str:
        children = children if words_of(children).strip() else (Text(target),)
        words = self._inlines(children, is_inside_link=True)
        if is_inside_link:
            return words
        if self._can_link(target):
            return f'<a href="{escape(target)}">{words}</a>'
        return words + escape(target_note(words_of(children), target))


def _pre(code: str, language: str) -> str:
    named = f' class="language-{language}"' if _LANGUAGE.fullmatch(language) else ""
    return f"<pre><code{named}>{escape(code)}\n</code></pre>"


def _align(leaning: Align) -> str:
    return "" if leaning is Align.LEFT else f' align="{leaning.value}"'
