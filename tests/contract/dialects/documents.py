"""Markdown as agents write it, at random: structures in structures, and every script."""

from hypothesis import strategies as st

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
WORDS = [
    *("word", "a", "snake_case_name", "2*3*4", "C:\\dir", "x" * 90, "1.", "2)", "-", "#", "+", ">"),
    *(
        "汉字",
        "、，。",
        "שלום",
        "سلام\u200cها",
        "العربية",
        "e\u0301a\u0308",
        "क्षि",
        FAMILY,
        "👍🏽",
        "🇩🇪",
        "𠀀",
    ),
    *("**bold**", "*it*", "***both***", "~~gone~~", "`code`", "``a`b``", "`**no**`", "`|`"),
    *(
        "in**side**word",
        "**“引”**号",
        '**"q"**x',
        "*a*.",
        "**a *b***",
        "_x_",
        "__init__",
        "a_b_",
        "*",
    ),
    *("**", "~", "~~~", "`", "[", "]", "[x]", "![", "|", "<", "&", "&lt;", "&copy;", "\\*", "$5"),
    *("$a_1 * b$", "[^1]", "<b>", "<@&1>", "<!channel>", "@everyone", "@here", "@all", "a@b.co"),
    *("[link](https://e.co/x)", "[a **b** `c`](https://e.co/p_(q)?a=1&lt=2)", "[j](javascript:x)"),
    *("[](https://e.co)", "[https://e.co](https://e.co/)", "[https://a.co](https://b.co)"),
    *(
        "![cat](https://e.co/c.png)",
        "[![i](https://e.co/i.png)](https://e.co)",
        "<https://e.co/a_b>",
    ),
    *("https://e.co/a_b_c?x=*y*&z", "https://e.co/_x_", "[long](https://e.co/" + "p" * 60 + ")"),
    *(
        "[t](<https://e.co/a b>)",
        "[r](../rel)",
        "[m](mailto:a@b.co)",
        "*https://e.co/a_b*",
        "===",
        ":-:",
    ),
]
LANGUAGES = ["", "py", "c++", "yaml title=x", "<b>"]
CODE = [
    *(
        "def f():",
        "    return 1",
        "\tx",
        "",
        "  - item:",
        "```",
        "``",
        "`",
        "~~~",
        "汉字 = '👍🏽'",
        "a | b",
    ),
    *("<b>&amp;</b>", "# no heading", "> no quote", "*no* _no_", "y" * 120, "    " * 6 + "deep"),
]

words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)
sentences = words.map(" ".join) | words.map("".join)
paragraphs = st.lists(sentences, min_size=1, max_size=3).map("\n".join)


def fenced(language: str, lines: list[str]) -> str:
    code = "\n".join(lines)
    return f"````{language}\n{code}\n````"


def table(header: list[str], rows: list[list[str]]) -> str:
    def row(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("\n", " ") for cell in cells) + " |"

    across = "|" + "|".join([":-:", "--:", "---"][n % 3] for n in range(len(header))) + "|"
    return "\n".join([row(header), across, *(row(cells) for cells in rows)])


fences = st.builds(
    fenced, st.sampled_from(LANGUAGES), st.lists(st.sampled_from(CODE), min_size=1, max_size=12)
)
cells = st.lists(sentences, min_size=1, max_size=3)
tables = st.builds(table, cells, st.lists(cells, max_size=6))
headings = st.builds(lambda n, text: "#" * n + " " + text, st.integers(1, 6), sentences)
odd = st.sampled_from(
    ["---", "<div>\nhtml\n</div>", "<!-- comment -->", "[^1]: a note", "[d]: https://e.co 'title'"]
)
leaves = paragraphs | fences | tables | headings | odd


def indented(blocks: str, marker: str) -> str:
    first, *others = blocks.split("\n")
    hang = " " * len(marker)
    return "\n".join([marker + first, *(hang + line if line else "" for line in others)])


def listed(items: list[str], start: int | None, box: str, between: str) -> str:
    return between.join(
        indented(item, f"- {box}" if start is None else f"{start + n}. {box}")
        for n, item in enumerate(items)
    )


def quoted(blocks: str) -> str:
    return "\n".join(f"> {line}" for line in blocks.split("\n"))


def inside(blocks: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(blocks, min_size=1, max_size=3)
    return several.map("\n\n".join).map(quoted) | st.builds(
        listed,
        several,
        st.none() | st.sampled_from([1, 3, 98]),
        st.sampled_from(["", "", "[ ] ", "[x] "]),
        st.sampled_from(["\n", "\n\n"]),
    )


blocks = st.recursive(leaves, inside, max_leaves=6)
documents = st.lists(blocks, min_size=1, max_size=5).map("\n\n".join)
