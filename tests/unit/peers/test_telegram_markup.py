"""What counts as well-formed text in Telegram."""

from typing import Any

import pytest

from tests.peers.telegram.entities import check, read
from tests.peers.telegram.markup import Malformed


def entity(kind: str, offset: int, length: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length, **more}


def seen(text: str, mode: str) -> tuple[str, list[tuple[str, str]]]:
    """The plain text, and each entity's type with the words it covers."""
    plain, entities = read(text, mode, None)
    units = plain.encode("utf-16-le")
    return plain, [
        (e["type"], units[e["offset"] * 2 : (e["offset"] + e["length"]) * 2].decode("utf-16-le"))
        for e in entities
    ]


@pytest.mark.parametrize(
    ("source", "plain", "found"),
    [
        ("<b>a <i>b</i></b> c", "a b c", [("bold", "a b"), ("italic", "b")]),
        ("&lt;b&gt; &amp; &quot; &#128512; &nope;", '<b> & " 😀 &nope;', []),
        ('<a href="https://x.org/?a=1&amp;b=2">link</a>', "link", [("text_link", "link")]),
        ('<pre><code class="language-py">x = 1</code></pre>', "x = 1", [("pre", "x = 1")]),
        ("<blockquote expandable>q</blockquote>", "q", [("expandable_blockquote", "q")]),
        ('😀<span class="tg-spoiler">s</span>', "😀s", [("spoiler", "s")]),
    ],
)
def test_html_is_read(source: str, plain: str, found: list[tuple[str, str]]) -> None:
    assert seen(source, "HTML") == (plain, found)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("<div>x</div>", "Unsupported start tag"),
        ("1 < 2", "Unsupported start tag"),
        ("<b>x", "Can't find end tag"),
        ("x</b>", "Unexpected end tag"),
        ("<b><i>x</b></i>", "Unmatched end tag"),
        ("<b><code>x</code></b>", "can't be nested"),
    ],
)
def test_broken_html_is_refused(source: str, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        read(source, "HTML", None)


@pytest.mark.parametrize(
    ("source", "plain", "found"),
    [
        (r"*bold _both_* 1\.5", "bold both 1.5", [("bold", "bold both"), ("italic", "both")]),
        (
            "__u__ ~s~ ||p||",
            "u s p",
            [("underline", "u"), ("strikethrough", "s"), ("spoiler", "p")],
        ),
        (r"[a\.b](https://x.org/a\)b)", "a.b", [("text_link", "a.b")]),
        ("`a.b!` c", "a.b! c", [("code", "a.b!")]),
        ("```py\nx = 1\n```", "x = 1", [("pre", "x = 1")]),
        (">one\n>two\nthree", "one\ntwo\nthree", [("blockquote", "one\ntwo\n")]),
    ],
)
def test_markdown_is_read(source: str, plain: str, found: list[tuple[str, str]]) -> None:
    assert seen(source, "MarkdownV2") == (plain, found)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("1.5", "Character '.' is reserved"),
        ("a - b", "Character '-' is reserved"),
        ("a > b", "Character '>' is reserved"),
        ("*open", "Can't find end of bold"),
        ("`open", "Can't find end of Code"),
        ("*a _b* c_", "Can't find end of italic"),
    ],
)
def test_broken_markdown_is_refused(source: str, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        read(source, "MarkdownV2", None)


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("abc", [entity("bold", 0, 4)]),
        ("abc", [entity("bold", 3, 1)]),
        ("abc", [entity("bold", -1, 2)]),
        ("abc", [entity("bold", 0, 0)]),
        ("abc", [entity("sparkling", 0, 1)]),
        ("abc", [entity("text_link", 0, 1)]),
        ("a😀c", [entity("bold", 0, 2)]),
        ("abcd", [entity("bold", 0, 3), entity("italic", 2, 2)]),
        ("abcd", [entity("code", 0, 3), entity("bold", 1, 1)]),
        ("abcd", [entity("bold", 0, 3), entity("pre", 1, 1)]),
        ("abcd", [entity("blockquote", 0, 4), entity("expandable_blockquote", 1, 1)]),
        ("abcd", [entity("text_link", 0, 4, url="u"), entity("text_link", 1, 1, url="v")]),
    ],
)
def test_an_entity_out_of_place_is_refused(text: str, entities: list[dict[str, Any]]) -> None:
    with pytest.raises(Malformed):
        check(text, entities)


@pytest.mark.parametrize(
    "entities",
    [
        [entity("bold", 0, 4), entity("italic", 0, 4), entity("text_link", 1, 2, url="u")],
        [entity("blockquote", 0, 4), entity("pre", 0, 2), entity("bold", 2, 2)],
        [entity("italic", 2, 2), entity("bold", 0, 2)],
        [entity("text_link", 0, 4, url="u"), entity("bold", 1, 2)],
    ],
)
def test_entities_that_nest_well_pass(entities: list[dict[str, Any]]) -> None:
    check("abcd", entities)


def test_space_around_a_text_is_cut_off_and_entities_follow() -> None:
    assert read("\n  bold  \n", None, [entity("bold", 3, 6)]) == (
        "bold",
        [entity("bold", 0, 4)],
    )


def test_the_hundred_and_first_entity_is_ignored() -> None:
    entities = [entity("bold", 2 * n, 1) for n in range(120)]

    assert len(read("a " * 120, None, entities)[1]) == 100


def test_an_unknown_parse_mode_is_refused() -> None:
    with pytest.raises(Malformed, match="unsupported parse_mode"):
        read("x", "BBCode", None)
