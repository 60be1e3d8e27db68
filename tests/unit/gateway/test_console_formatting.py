from html.parser import HTMLParser

import pytest
from hypothesis import given

from delivery.content import Limit, Unit
from delivery.ports import Dialect
from delivery.rendering import EMPTY_REPLY
from gateway.platforms.console.formatting import ConsoleDialect
from tests.unit.delivery.writings import SAMPLES, markdowns, small_limits, squeezed

CONSOLE: Dialect = ConsoleDialect()
LINK = 'target="_blank" rel="noopener noreferrer nofollow"'
VOID = {"br", "hr"}
TAGS = {
    *("p", "br", "hr", "pre", "code", "blockquote", "ul", "ol", "li", "strong", "em", "s", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}


def html(markdown: str) -> str:
    (part,) = CONSOLE.render(markdown)
    return part.format["html"]


class _Page(HTMLParser):
    """Fails on anything but balanced, allowed tags with allowed attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS
        for name, value in attrs:
            assert name in {"href", "target", "rel", "class", "start", "align"}
            assert name != "href" or value.lower().startswith(("http://", "https://", "mailto:"))
        if tag not in VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_comment(self, data):
        raise AssertionError(data)

    def handle_data(self, data):
        self.words.append(data)


def words_on(page: str) -> str:
    parser = _Page()
    parser.feed(page)
    parser.close()
    assert not parser.opened
    return squeezed("".join(parser.words))


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**a** *b* ~~c~~ `d`", "<strong>a</strong> <em>b</em> <s>c</s> <code>d</code>"),
        ("a\nb", "a<br>b"),
        ("<b>x</b> & y", "&lt;b&gt;x&lt;/b&gt; &amp; y"),
        ("[a](https://b.c?d=1&e=2)", f'<a href="https://b.c?d=1&amp;e=2" {LINK}>a</a>'),
        ("[m](mailto:a@b.co)", f'<a href="mailto:a@b.co" {LINK}>m</a>'),
        ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
        ("[x](tg://resolve)", "x (tg://resolve)"),
        ("[x](//evil.com)", "x (//evil.com)"),
        ("![cat](https://b.c/d.png)", f'<a href="https://b.c/d.png" {LINK}>cat</a>'),
        ("[![i](j)](https://k.l)", f'<a href="https://k.l" {LINK}>i</a>'),
    ],
)
def test_a_paragraph_becomes_safe_html(markdown, expected):
    assert html(markdown) == f"<p>{expected}</p>"


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("## A\n\n---", "<h2>A</h2><hr>"),
        ("- a\n- b\n  - c", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"),
        ("3. a\n\n4. b", '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>'),
        ("- [x] a\n- [ ] b", "<ul><li>☑ a</li><li>☐ b</li></ul>"),
        ("> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"),
        ("```py x\n a<b\n```", '<pre><code class="language-py"> a&lt;b\n</code></pre>'),
        ('```"><script>\nx\n```', "<pre><code>x\n</code></pre>"),
        (
            "|a|b|\n|-|-:|\n|1|*2*|",
            (
                '<table><thead><tr><th>a</th><th align="right">b</th></tr></thead>'
                '<tbody><tr><td>1</td><td align="right"><em>2</em></td></tr></tbody></table>'
            ),
        ),
    ],
)
def test_a_block_becomes_safe_html(markdown, expected):
    assert html(markdown) == expected


def test_the_plain_text_goes_along():
    (part,) = CONSOLE.render("# A\n\n[b](https://c.d)")

    assert part.text == part.plain == "A\n\nb (https://c.d)"
    assert part.length == len(part.text)


def test_an_answer_beyond_the_limit_is_split_into_whole_documents():
    dialect = ConsoleDialect(Limit(2000, Unit.CHARACTERS))

    parts = dialect.render("1. item\n" * 600)

    assert len(parts) == 4
    assert all(part.length <= 2000 for part in parts)
    assert sum(part.format["html"].count("<li>") for part in parts) == 600
    assert all(part.format["html"].startswith("<ol start=") for part in parts[1:])


def test_a_marker_is_a_paragraph_of_its_own():
    (part,) = CONSOLE.render("# A", reserve=20)

    marked = CONSOLE.mark(part, "♻️ <again>")

    assert marked.text == marked.plain == "♻️ <again>\nA"
    assert marked.format["html"] == "<p><em>♻️ &lt;again&gt;</em></p><h1>A</h1>"
    assert marked.length == CONSOLE.measure(marked.text)


@pytest.mark.proves("X1")
def test_of_our_own_pages_only_files_are_linked():
    assert 'href="/file/12/"' in html("[a](/file/12/)")
    for page in ("/admin/", "/logout/", "//evil.org/file/12/", "/file/12/../../x", "/file/1x/"):
        assert "href" not in html(f"[a]({page})")


def test_an_empty_answer_says_so():
    assert html(" \n") == f"<p>{EMPTY_REPLY}</p>"


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_becomes_balanced_and_allowed_html(sample):
    for part in CONSOLE.render(sample):
        words_on(part.format["html"])


@pytest.mark.proves("X1")
@given(markdowns, small_limits)
def test_any_markdown_becomes_balanced_and_allowed_html(markdown, size):
    for part in ConsoleDialect(Limit(size, Unit.CHARACTERS)).render(markdown):
        assert part.text.strip()
        assert part.length <= size
        words_on(part.format["html"])
