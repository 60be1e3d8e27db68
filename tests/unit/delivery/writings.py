"""Markdown to try renderers on: by hand, at random, and hostile."""

from hypothesis import strategies as st

from delivery.splitting import is_visible

FAMILY = "👨\u200d👩\u200d👧\u200d👦"

SAMPLES = [
    "plain words",
    "***bold italic***",
    "**bold *italic* text**",
    "**bold\ntext**",
    "a * b * c",
    "****",
    "a**b",
    "**a _b** c_",
    "__a *b__ c*",
    "***x***",
    "**a****b** *c***d**",
    "**bold `code` bold** and *`only`*",
    "[`code`](https://ex.com) and **[bold](https://ex.com/x)**",
    "[**a** *b* `c`](https://ex.com)",
    "[![alt](https://ex.com/i.png)](https://ex.com)",
    "![](https://ex.com/i.png) ![cat *x*](u.png)",
    "[](https://ex.com) []() [ ](javascript:alert(1))",
    "[run](javascript:alert(1)) [data](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](<https://ex.com/a b>) [y](https://[bad) <https://ex.com> <a@b.co>",
    "~~gone~~ ~one~ ~~a *b~~ c*",
    "`a` ``b ` c`` ` ` `  `",
    "# One\n## Two **b**\nSetext\n===\n###### Six #\n#\n#no",
    "Part 1\n\n---\n\nPart 2\n***\n___",
    "1. Foo:\n\n```\nBar\n```",
    "- Foo:\n\n  ```py\n  Bar\n    indented\n  ```\n- two",
    "1. a\n2. b\n3. c",
    "3. x\n4. y",
    "1) a\n2) b",
    "2024. was a good year",
    "- a\n  - b\n    - c\n      1. d\n         1. e\n- f",
    "- a\n\n- b\n\n  second\n\n- c",
    "-\n- x\n-\n\n  y",
    "- - - deep\n- 1. mixed",
    "- [ ] open\n- [x] done\n- [X] **bold** done\n1. [ ] numbered\n- [] no\n- [ ]",
    "> quote\n> > nested\n> back\n\nout\n> - list\n> - in quote\n>\n> ```\n>   code\n> ```",
    "> a\n\n> b",
    "> ```\n>     only code\n> ```",
    "| name | state |\n|---|---|\n| `web` | up |\n| `db` | down |",
    "| 汉字 | e |\n|:-:|--:|\n| a | 👍🏽 |\n| [d](https://ex.com) | x \\| y |\n| short |",
    "|a|b|\n|-|-|\n|a|b|c|",
    "|a|\n|-|",
    "```python\nif x:\n    y\n\n\n    z\n```",
    "~~~\nunclosed\n  fence",
    "    indented code\n\n      more\n\nafter",
    "```\n```\n\n```\n   \n```",
    "<b>raw</b> <!-- comment --> <div>\nx\n</div> &amp; &lt;x&gt; &copy; &#0; &nope;",
    "line one\nline two  \nline three\\\nline four",
    "[ref][1] and [1] and [unused]\n\n[1]: https://ex.com 'title'\n[2]: https://never.used",
    "[only]: https://definition.com",
    "costs $5 and $10, math $a_1 * b_2 * c_3$ and $$\nx * y * z\n$$",
    "\\*not\\* \\[link\\](x) \\`code\\` \\\\",
    "e\u0301 👨‍👩‍👧‍👦 🇩🇪 👍🏽 1️⃣ क्षि 𠀀",
    "**👍🏽 bold**👨‍👩‍👧‍👦*it*",
    "\u200b \u00a0 \u3164 \u2800",
    "\x00 nul \x07 bell \x1b[31m red",
    "\ud83c\udfa9 hat \udfa9 lone",
    "a\r\nb\rc\n\n\n\nd\t\te",
    'ok @everyone @here <@&123> <!channel> <at user_id="all"></at>',
    "",
    "   \n\t\n",
    "&nbsp;",
    "__init__ and snake_case_name and 2*3*4",
    "* * *\n+ plus\n- minus",
    "[a]: b\n[a]: c\n\n[a]",
    "text\n[^1]: note",
    "**Sources:**\n1. [One](https://ex.com/1)\n2. [Two](https://ex.com/2)",
]

FRAGMENTS = [
    *("*", "**", "_", "__", "~~", "`", "``", "[", "]", "](https://e.co/x)", "![", "(", ")", "<"),
    *(">", "\n", "\n\n", "\n> ", "\n- ", "\n1. ", "\n  - ", "\n# ", "\n```\n", "\n```py\n", "  \n"),
    *("|", "\n|a|b|\n|-|-|\n", "\n---\n", "    ", "\t", "\\", "&amp;", "$", ":", ".", "。", "，"),
    *("word", "a", "b ", " ", "汉字", "👍🏽", "e\u0301", "🇩🇪", "𠀀", "\u200d", "\u0301", "\u00a0"),
    *("\ud800", "\x00", "- [ ] ", "[x]: y\n", "x" * 30, "some words. And more of them! "),
]

markdowns = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join)
small_limits = st.integers(min_value=20, max_value=120)

HOSTILE_UNITS = [
    *("[", "![", "*", "_", "`", "~~", "😀", "a", "*a ", "**a", "`a``", "> ", "- ", "1. ", "<"),
    *("[a](", "|a", "|a|\n", "|", "&", "\\", "$", "$$a", "#", "\n", " ", "\t", "[a](<b", "a\n"),
    *("> a\n", "- a\n", "e\u0301", FAMILY, "\u0301", "\u200d", "汉。", "a. ", "[a]: b\n"),
    *("```\n", "[a][b]", "![a](b)", "**[a](http://b.c)** `d` "),
]


def hostile(unit: str, size: int) -> str:
    """`unit` over and over, `size` characters in all."""
    return (unit * (size // len(unit) + 1))[:size]


def squeezed(text: str) -> str:
    """The text without any white space."""
    return "".join(text.split())


def seen(text: str) -> str:
    """The characters a person would see, without the white space between them."""
    return "".join(character for character in text if is_visible(character))


def is_subsequence(wanted: str, text: str) -> bool:
    """Whether all characters of `wanted` stand in `text`, in that order."""
    rest = iter(text)
    return all(character in rest for character in wanted)
