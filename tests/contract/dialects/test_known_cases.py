"""Answers that other gateways are known to show wrongly, in the dialects they concern."""

import json

import pytest
import regex

from delivery.dialects import DIALECTS, MINIMUM_ROOM
from delivery.splitting import is_visible
from gateway.platforms.telegram.formatting import TelegramDialect
from tests.contract.dialects.readers import READERS
from tests.contract.dialects.test_dialects import dialect, each_dialect, pages

CALCULATIONS = "\n".join(f"v{n} = calc({n})" for n in range(300))


def text(name: str, markdown: str) -> str:
    (part,) = dialect(name).render(markdown)
    return part.text


# B092, B100
@each_dialect
@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("***bold italic***", "bold italic"),
        ("**bold *italic* text**", "bold italic text"),
        ("**bold\ntext**", "bold\ntext"),
        ("a * b * c", "a * b * c"),
        ("****", "****"),
        ("a**b", "a**b"),
        ("**a _b** c_", "a _b c_"),
        ("__a *b__ c*", "a *b c*"),
        ("***x***", "x"),
    ],
)
def test_crossed_emphasis_is_well_nested_or_words(name, markdown, words):
    (page,) = pages(name, markdown, 4096)

    shown = page.words.replace("\u200b", "").strip()
    assert " ".join(shown.split()) in {" ".join(words.split()), words.replace("\n", "")}


# B094
@each_dialect
def test_a_rule_does_not_spoil_what_stands_around_it(name):
    (page,) = pages(name, "Part **1**\n\n---\n\nPart 2", 4096)

    assert regex.fullmatch(r"Part 1\s*(———)?\s*Part 2\s*", page.words)


# B096
@each_dialect
@pytest.mark.parametrize("marker", ["1.", "-", "*"])
def test_code_after_an_item_is_code_and_nothing_else_appears(name, marker):
    (page,) = pages(name, f"{marker} Foo:\n\n```\nBar\n```", 4096)

    assert "<!--" not in page.words
    if name not in {"plain", "weixin"}:
        assert page.code == ["Bar"]


# B098
@each_dialect
@pytest.mark.parametrize(
    ("markdown", "numbers"),
    [
        ("1. a\n2. b\n3. c", ["1.", "2.", "3."]),
        ("3. x\n4. y", ["3.", "4."]),
        ("1) a", ["1)"]),
        ("2024. was a good year", ["2024."]),
    ],
)
def test_numbers_are_kept(name, markdown, numbers):
    (part,) = dialect(name).render(markdown)

    assert regex.findall(r"^(\d+[.)]) ", part.plain, regex.MULTILINE) == numbers


# B102
@pytest.mark.parametrize("name", ["discord", "slack", "wecom", "mattermost"])
def test_code_in_a_table_is_not_bold(name):
    table = "| name | state |\n|---|---|\n| `web` | up |\n| **`db`** | down |"

    assert not regex.search(r"\*`|`\*", text(name, table))


# B104
def test_slack_is_sent_mrkdwn():
    markdown = "**b** *i* ~~s~~ [t](https://e.com?a=1&b=2) if a<b && c>d"

    assert text("slack", markdown) == (
        "*b* _i_ ~s~ <https://e.com?a=1&amp;b=2|t> if a&lt;b &amp;&amp; c&gt;d"
    )
    assert text("slack", "`**not bold**`") == "`**not bold**`"


# B108
def test_nobody_is_called_who_was_only_quoted():
    markdown = 'ok @everyone @here <@&123> <!channel> <!here> <at user_id="all"></at>'

    assert not regex.search(r"@(everyone|here)|(?<!\\)<@", text("discord", markdown))
    assert "&lt;!channel&gt; &lt;!here&gt;" in text("slack", markdown)
    assert "@here" not in text("mattermost", markdown)
    for name in DIALECTS:
        (page,) = pages(name, markdown, 4096)
        assert page.words.replace("\u200b", "").strip() == markdown


# B110
def test_signal_says_where_a_link_leads_with_its_case_and_styles_still_fit():
    markdown = (
        "**bold** 👍🏽 [ex.com/Report](https://ex.com/report) [https://ex.com](https://ex.com/)"
        " [Doc](https://Ex.com/AbC?Tok=XyZ) *it*"
    )

    (part,) = dialect("signal").render(markdown)

    assert part.text == (
        "bold 👍🏽 ex.com/Report (https://ex.com/report) https://ex.com"
        " Doc (https://Ex.com/AbC?Tok=XyZ) it"
    )
    end = len(part.text.encode("utf-16-le")) // 2
    assert part.format["styles"] == ["0:4:BOLD", f"{end - 2}:2:ITALIC"]


# B111
@pytest.mark.parametrize("name", ["discord", "mattermost", "matrix", "wecom"])
def test_code_longer_than_a_message_is_closed_and_opened_again(name):
    parts = pages(name, f"Module:\n```py\n{CALCULATIONS}\n```\nDone.", 2000)

    assert len(parts) > 2
    assert "\n".join(code for page in parts for code in page.code) == CALCULATIONS
    assert {language for page in parts for language in page.languages} == {"py"}
    assert parts[-1].words.strip().endswith("Done.")


def test_code_in_a_quote_stays_in_it_where_the_platform_can():
    markdown = "> Said:\n>\n> ```py\n> a\n>\n> b\n> ```"

    for name in ("discord", "wecom", "mattermost"):
        assert all(line.startswith(">") for line in text(name, markdown).split("\n"))
    assert text("slack", markdown).endswith("\n```\na\n\nb\n```")


# B113, B115
@each_dialect
@pytest.mark.parametrize(
    ("markdown", "letter", "count"),
    [
        ("```\n" + "A" * 10_000 + "\n```", "A", 10_000),
        ("```\n" + "B\n" * 9000, "B", 9000),
        ("```python\n" + "X" * 3000, "X", 3000),
        ("intro ```" + "Y" * 3000, "Y", 3000),
    ],
)
def test_code_without_a_place_to_cut_is_cut_and_ends(name, markdown, letter, count):
    parts = pages(name, markdown, 2000)

    assert sum(page.words.count(letter) for page in parts) == count
    assert all(is_visible(page.words) for page in parts)


# B117; B080: what is longer than one message is two, and together they are all of it.
@pytest.mark.parametrize(("size", "count"), [(4096, 1), (4097, 2), (4681, 2), (8192, 2), (8193, 3)])
@pytest.mark.parametrize("name", ["plain", "discord", "slack", "signal", "wecom", "weixin"])
def test_an_answer_without_a_place_to_cut_has_no_part_too_many(name, size, count):
    parts = pages(name, "x" * size, 4096)

    assert len(parts) == count
    assert "".join(page.words for page in parts) == "x" * size


def test_dots_that_are_escaped_elsewhere_stay_one_message():
    assert all(len(DIALECTS[name](None).render("." * 1900)) == 1 for name in DIALECTS)


# B119
@pytest.mark.parametrize(
    ("words", "size"), [("汉" * 6827, 20_480), ("汉" * 683, 2048), ("a" + "汉" * 682 + "😀", 2048)]
)
def test_wecom_counts_bytes(words, size):
    parts = dialect("wecom", size).render(words)

    assert [len(part.text.encode()) <= size for part in parts] == [True, True]
    assert "".join(part.text for part in parts) == words


# B121
@pytest.mark.parametrize("name", ["discord", "slack", "mattermost", "matrix", "signal", "wecom"])
def test_indented_yaml_means_the_same_after_a_cut(name):
    yaml = "root:\n" + "\n".join(
        f"  key{n}:\n    list:\n      - item\n      - {json.dumps(str(n))}" for n in range(150)
    )

    parts = pages(name, f"```yaml\n{yaml}\n```", 4096)

    assert len(parts) > 1
    assert "\n".join(code for page in parts for code in page.code) == yaml


# B122
@pytest.mark.parametrize("words", ["😀" * 2049, "𠀀" * 2049, "a" * 4095 + "😀"])
def test_signal_and_telegram_count_utf16_units(words):
    for chosen in (dialect("signal", 4096), TelegramDialect()):
        parts = chosen.render(words)

        assert [len(part.text.encode("utf-16-le")) // 2 <= 4096 for part in parts] == [True, True]
        assert "".join(part.text for part in parts) == words


# B124
@each_dialect
def test_broken_surrogates_are_mended_everywhere(name):
    markdown = "\ud83c\udfa9 hat \udfa9 " + "w " * 2500

    parts = dialect(name).render(markdown)

    json.dumps([part.as_dict() for part in parts]).encode()
    "".join(part.text for part in parts).encode()
    assert parts[0].plain.startswith("\U0001f3a9 hat \ufffd")


# B128
@each_dialect
@pytest.mark.parametrize(
    "cluster",
    ["e\u0301", "👨\u200d👩\u200d👧\u200d👦", "🇩🇪", "👍🏽", "1\ufe0f\u20e3", "क\u094dष\u093f"],
)
@pytest.mark.parametrize("before", range(3))
def test_a_cluster_at_a_seam_is_kept_whole(name, cluster, before):
    parts = dialect(name, MINIMUM_ROOM).render("a" * before + cluster * 60)

    pieces = [READERS[name](part).words.strip() for part in parts]
    assert "".join(pieces) == "a" * before + cluster * 60
    assert all(set(regex.findall(r"\X", piece)) <= {"a", cluster} for piece in pieces)
