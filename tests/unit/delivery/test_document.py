from html.parser import HTMLParser

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from delivery.document import (
    Align,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Image,
    Item,
    Link,
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
)
from delivery.markdown import parse
from delivery.portions import text_of
from tests.unit.delivery.writings import (
    HOSTILE_UNITS,
    SAMPLES,
    hostile,
    is_subsequence,
    markdowns,
    squeezed,
)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name == "alt"]


def words_on_a_web_page(markdown: str) -> str:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = lambda _url: True  # ours follows none of them, but shows the words
    words = _Words()
    words.feed(parser.render(markdown))
    words.close()
    return squeezed("".join(words.found))


def paragraph(*inlines) -> Paragraph:
    return Paragraph(tuple(inlines))


def test_emphasis_nests_as_written():
    (block,) = parse("**bold *italic* text** ~~gone~~ `code`")

    assert block == paragraph(
        Strong((Text("bold "), Emphasis((Text("italic"),)), Text(" text"))),
        Text(" "),
        Strike((Text("gone"),)),
        Text(" "),
        Code("code"),
    )


def test_a_line_end_in_a_paragraph_is_a_break():
    assert parse("a\nb  \nc") == (paragraph(Text("a"), Break(), Text("b"), Break(), Text("c")),)


def test_a_link_keeps_its_target_as_written():
    (block,) = parse("[Doc](https://Ex.com/AbC?Tok=XyZ) [j](javascript:x) [s](<a b>)")

    targets = [inline.target for inline in block.inlines if isinstance(inline, Link)]
    assert targets == ["https://Ex.com/AbC?Tok=XyZ", "javascript:x", "a%20b"]


def test_a_picture_is_its_description_and_target():
    assert parse("![a *b*](c.png)") == (paragraph(Image("a b", "c.png")),)


def test_a_list_keeps_its_first_number_and_delimiter():
    (block,) = parse("3) x\n4) y")

    assert (block.start, block.delimiter, len(block.items)) == (3, ")", 2)


def test_a_list_with_blank_lines_is_loose():
    (loose,) = parse("- a\n\n- b")
    (tight,) = parse("- a\n- b\n  - c\n\n    d")

    assert (loose.is_tight, tight.is_tight) == (False, True)


def test_a_task_is_read_from_the_start_of_an_item():
    (block,) = parse("- [ ] open\n- [x] done\n- [] neither")

    assert block.items == (
        Item((paragraph(Text("open")),), is_done=False),
        Item((paragraph(Text("done")),), is_done=True),
        Item((paragraph(Text("[] neither")),)),
    )


def test_a_paragraph_that_starts_with_a_year_is_no_list():
    assert parse("2024. was a good year") == (paragraph(Text("2024. "), Text("was a good year")),)


def test_code_keeps_every_byte_and_its_language():
    (block,) = parse("```py title=x\n\n  a\n\n\tb \n\n```")

    assert block == CodeBlock("\n  a\n\n\tb \n", "py")


def test_a_table_row_keeps_its_surplus_cells():
    (table,) = parse("|a|b|\n|:-:|-:|\n|1|2|3|4|\n|5|")

    assert table == Table(
        header=((Text("a"),), (Text("b"),)),
        rows=(((Text("1"),), (Text("2"), Text(" | 3 | 4"))), ((Text("5"),), ())),
        alignments=(Align.CENTER, Align.RIGHT),
    )


def test_quotes_and_rules_and_headings_are_blocks():
    assert parse("# A\n> b\n\n---") == (
        Heading(1, (Text("A"),)),
        Quote((paragraph(Text("b")),)),
        Rule(),
    )


def test_raw_html_is_text():
    assert parse("<b>x</b> <!-- y -->") == (paragraph(Text("<b>x</b> <!-- y -->")),)


def test_an_unused_definition_is_shown_and_a_used_one_is_not():
    used, unused = parse("[one]\n\n[one]: https://a.b\n[two]: https://c.d 'title'")

    assert used == paragraph(Link((Text("one"),), "https://a.b"))
    assert text_of((unused,)) == '[two]: https://c.d "title"'


def test_a_formula_keeps_its_stars_and_prices_are_no_formula():
    (formula,) = parse("$a_1 * b*c*d$ and $$x *y* z$$")
    (prices,) = parse("from $5 *now* to $6")

    assert formula == paragraph(Text("$a_1 * b*c*d$ and $$x *y* z$$"))
    assert Emphasis((Text("now"),)) in prices.inlines


def test_a_text_nested_too_deep_is_shown_as_it_was_written():
    source = ">" * 5000 + " words"

    assert text_of(parse(source)) == source


def test_thousands_of_nested_emphases_are_read():
    source = "*a " * 3000 + "b*" * 3000

    assert text_of(parse(source)).count("a") == 3000


def test_broken_surrogates_are_mended():
    assert text_of(parse("\ud83c\udfa9 \udfa9")) == "\U0001f3a9 \ufffd"


def without_tasks(markdown: str) -> str:
    """The web page of the plain grammar would show the brackets of a task."""
    for box in ("[ ]", "[x]", "[X]"):
        markdown = markdown.replace(box, "")
    return markdown.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_shows_all_the_words_a_web_page_would_show(sample):
    markdown = without_tasks(sample)

    assert is_subsequence(words_on_a_web_page(markdown), text_of(parse(markdown)))


@pytest.mark.proves("D14")
@given(markdowns.map(without_tasks))
def test_any_markdown_shows_all_the_words_a_web_page_would_show(markdown):
    assert is_subsequence(words_on_a_web_page(markdown), text_of(parse(markdown)))


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_hostile_repetitions_show_all_their_words(unit):
    source = hostile(unit, 2000)

    assert is_subsequence(words_on_a_web_page(source), text_of(parse(source)))
