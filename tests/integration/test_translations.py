"""What the Control UI and the gateway itself say stands in every language that is offered."""

import ast
import gettext
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation import to_locale

from gateway.commands import COMMANDS

PROJECT = Path(__file__).resolve().parent.parent.parent
LOCALE = PROJECT / "gateway" / "locale"
PAGES = PROJECT / "templates"
TEMPLATES = sorted([*PAGES.glob("*.html"), *PAGES.glob("watch/*.html")])
HANDLERS = ("about", "choosing", "ruling", "saying", "working")
MODULES = [
    *(PROJECT / "gateway" / "console").glob("*.py"),
    *(PROJECT / "gateway" / "watch").glob("*.py"),
    *(PROJECT / "gateway" / "logins").glob("*.py"),
    *(PROJECT / "gateway" / f"{name}.py" for name in ("routing", "wording")),
    *(PROJECT / "gateway" / "handlers" / f"{name}.py" for name in HANDLERS),
]
LANGUAGES = [to_locale(code) for code, _ in settings.LANGUAGES if code != "en"]
MARKS = {"_", "gettext_lazy"}
VALUE = re.compile(r"\{\}|%\(\w+\)s")


def words_in_python():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            is_said = isinstance(node, ast.Call) and getattr(node.func, "id", "") in MARKS
            if is_said and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value


def words_in_templates():
    for path in TEMPLATES:
        for _, words in re.findall(r"{% translate (['\"])(.*?)\1 %}", path.read_text()):
            yield words


SUMMARIES = {spec.summary for spec in COMMANDS}
WORDS = {*words_in_python(), *words_in_templates(), *SUMMARIES}


def catalogue(language):
    return gettext.translation("django", LOCALE, [language])


def written(language):
    """The pairs of a `.po` as its translator wrote them."""
    text = (LOCALE / language / "LC_MESSAGES" / "django.po").read_text()
    pairs = re.findall(r'^msgid ((?:".*"\n)+)msgstr ((?:".*"\n)+)', f"{text}\n", re.MULTILINE)
    return {join(key): join(value) for key, value in pairs if join(key)}


def join(lines):
    return "".join(ast.literal_eval(line) for line in lines.splitlines())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_is_translated(language):
    assert len(WORDS) > 100
    found = catalogue(language)
    missing = [words for words in WORDS if found.gettext(words) == words]
    allowed = {"Webhook", "webhook"}
    assert set(missing) - allowed == set(), f"write these into {LOCALE}/{language}, then msgfmt"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_keeps_the_places_of_its_values(language):
    found = catalogue(language)
    wrong = [
        words
        for words in WORDS
        if sorted(VALUE.findall(words)) != sorted(VALUE.findall(found.gettext(words)))
    ]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_the_written_one_and_has_nothing_that_nobody_says(language):
    pairs, found = written(language), catalogue(language)
    assert {words: found.gettext(words) for words in pairs} == pairs, "run msgfmt"
    assert set(pairs) - WORDS == set()
