"""The written side against the code: what it names exists, and what it shows is so."""

import argparse
import ast
import importlib.util
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from clarify.choices import read_one
from clarify.readings import Chosen, Declined, Own, Reading, Unclear
from clarify.schema import Option, Question
from gateway import launching
from gateway.agents import demo_script
from gateway.commands import COMMANDS
from gateway.platforms.telegram import conf, refusals
from gateway.ports import AccountConfig
from hermes_site.settings import base
from hermes_site.supervisor import errors
from hermes_site.supervisor.home import Home
from hermes_site.supervisor.state import StateFile
from tests.unit.gateway.agents.driving import EVERY_TOOL

PROJECT = Path(__file__).resolve().parents[2]
PAGES = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md")])
OPERATING = (PROJECT / "docs" / "operating.md").read_text()
QUESTIONS = (PROJECT / "docs" / "questions.md").read_text()
TELEGRAM = (PROJECT / "docs" / "platforms" / "telegram.md").read_text()

SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A path of ours in a code span; `<kind>` stands for any platform, Telegram among them.
PATH = re.compile(
    r"(?:bin|clarify|delivery|docs|gateway|hermes_site|static|templates|tests)/[\w./<>-]*"
    r"|[\w-]+\.(?:toml|txt|in)"
)
SETUP_NAMES = {"HERMES_PYTHON", "HERMES_VENV"}  # read by bin/, before there are settings
NAME = re.compile(r"\b(?:HERMES|TELEGRAM|SLACK|OPENAI)_[A-Z_]+\b|\b(?:DATABASE|REDIS)_URL\b")


def spans(page: Path) -> list[str]:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return SPAN.findall(prose)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_every_file_that_a_page_names_is_there(page):
    named = [span.replace("<kind>", "telegram") for span in spans(page) if PATH.fullmatch(span)]

    assert [name for name in named if not (PROJECT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page):
    targets = [link for link in LINK.findall(page.read_text()) if "://" not in link]

    assert [target for target in targets if not leads_somewhere(page, target)] == []


def leads_somewhere(page: Path, target: str) -> bool:
    path, _, anchor = unquote(target).partition("#")
    there = (page.parent / path).resolve() if path else page
    if not there.exists():
        return False
    return not anchor or anchor in anchors(there.read_text())


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_reached_from_the_index():
    index = PROJECT / "docs" / "README.md"
    seen: set[Path] = set()
    waiting = [index]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = [link.partition("#")[0] for link in LINK.findall(page.read_text())]
        waiting += [(page.parent / link).resolve() for link in links if link and ":" not in link]

    assert set(PAGES) - seen == set()


def test_the_drawn_states_are_those_of_the_code():
    place = PROJECT / "docs" / "draw_states.py"
    spec = importlib.util.spec_from_file_location("draw_states", place)
    assert spec
    assert spec.loader
    draw_states = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw_states)

    assert draw_states.PAGE.read_text() == draw_states.page(), "run docs/draw_states.py"


def settings_names() -> set[str]:
    """Every name that the settings read from the environment."""
    text = (PROJECT / "hermes_site" / "settings" / "base.py").read_text()
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    names = {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "env"
        if isinstance(call.args[0], ast.Constant)
    }
    assert names
    return names


def test_every_name_of_the_environment_is_documented():
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", OPERATING, flags=re.MULTILINE))

    assert documented == settings_names()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_no_page_names_a_variable_that_nobody_reads(page):
    known = settings_names() | SETUP_NAMES
    from_files = {f"{name}_FILE" for name in known}

    assert set(NAME.findall(page.read_text())) - known - from_files == set()


def test_every_command_of_ours_is_documented():
    folder = PROJECT / "gateway" / "management" / "commands"
    names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    documented = set(re.findall(r"^\| `(\w+)", OPERATING, flags=re.MULTILINE))

    assert names <= documented


@pytest.mark.parametrize("page", ["README.md", "docs/operating.md"])
def test_a_page_starts_each_process_as_bin_up_does(page):
    text = (PROJECT / page).read_text()

    assert [line for line in launching.COMMANDS.values() if f"`{line}`" not in text] == []


@pytest.mark.parametrize("name", ["account", "allow", "ledger", "prompts"])
def test_every_verb_of_a_command_is_documented(name):
    row = re.search(rf"^\| `{name} [^|]*\|", OPERATING, flags=re.MULTILINE)
    assert row

    assert [verb for verb in verbs(name) if f"`{verb}`" not in row[0].replace(f"{name} ", "")] == []


def verbs(name: str) -> list[str]:
    module = importlib.import_module(f"gateway.management.commands.{name}")
    parser = module.Command().create_parser("manage.py", name)
    actions = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return list(actions[0].choices)


def test_the_changelog_tells_of_something():
    text = (PROJECT / "CHANGELOG.md").read_text()

    assert re.search(r"^## \[.+\]", text, flags=re.MULTILINE)
    assert re.search(r"^- \S", text, flags=re.MULTILINE)


def test_the_changelog_names_each_command_of_a_chat():
    text = (PROJECT / "CHANGELOG.md").read_text()

    assert [spec.name for spec in COMMANDS if f"/{spec.name}" not in text] == []


def test_the_readme_shows_what_the_demo_agent_can_do():
    text = (PROJECT / "README.md").read_text()
    words = set(re.findall(r"`([a-z]+)[ `]", demo_script.help_text(EVERY_TOOL)))

    assert {word for word in words if f"`{word}" not in text} == set()


# --- the examples of docs/questions.md --------------------------------------------------------

ONE = Question(
    key="where",
    header="Where",
    text="Where shall we deploy?",
    options=(Option("Staging (Recommended)"), Option("Production"), Option("Both")),
)
SEVERAL = Question(
    key="toppings",
    header="Toppings",
    text="What shall be on the pizza?",
    options=tuple(Option(label) for label in ("Cheese", "Mushrooms", "Olives", "Chili")),
    multi_select=True,
)


def examples(heading: str) -> list[tuple[str, str]]:
    """The rows of the table under a heading: a reply, and what it is taken as."""
    section = QUESTIONS.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+`) \| (.+) \|$", section, flags=re.MULTILINE)
    assert rows
    return [(reply, taken) for replies, taken in rows for reply in SPAN.findall(replies)]


def in_words(reading: Reading) -> list[str]:
    """What a reading may be called in the table."""
    match reading:
        case Chosen():
            return [", ".join(reading.values) or "none of them"]
        case Own():
            return ["own words"]
        case Declined():
            return ["declined"]
        case Unclear():
            return ["a hint"]
        case _:
            return ["nothing"]


@pytest.mark.parametrize(("reply", "taken"), examples("One question, one choice"))
def test_an_example_of_one_choice_is_read_as_the_page_says(reply, taken):
    readings = in_words(read_one(ONE, reply))

    assert any(taken.startswith(words) for words in readings) or taken in readings


@pytest.mark.parametrize(("reply", "taken"), examples("One question, several choices"))
def test_an_example_of_several_choices_is_read_as_the_page_says(reply, taken):
    assert [taken] == in_words(read_one(SEVERAL, reply))


# --- the words of docs/platforms/telegram.md ---------------------------------------------------


def quoted() -> list[str]:
    """The errors the page quotes, up to an ellipsis."""
    section = TELEGRAM.partition("## Common errors")[2]
    whole = re.findall(r'^\| "(.+?)"', section, flags=re.MULTILINE)
    return [words.partition("…")[0].strip() for words in whole]


@pytest.mark.parametrize("words", quoted())
def test_an_error_that_the_page_quotes_is_one_that_the_product_says(words):
    folder = Path(refusals.__file__).parent
    said = " ".join(
        node.value
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ).replace("{code}", "401")
    wrong = AccountConfig(slug="main", secret="", options={"api_base_url": "http://here/bot1:a"})
    said += " ".join(conf.problems(wrong))

    assert words in said


def test_every_option_of_an_account_is_documented():
    rows = set(re.findall(r"^\| `(\w+)` \|", TELEGRAM, flags=re.MULTILINE))

    assert {setting.name for setting in conf.SETTINGS} - {"secret"} == rows


# --- what docs/operating.md tells of the supervisor ----------------------------------------------


def test_every_exit_code_of_up_is_documented():
    row = re.search(r"^\| it does not start \|.*$", OPERATING, flags=re.MULTILINE)
    assert row
    codes = {each.exit_code for each in errors.CannotStart.__subclasses__()}

    assert {code for code in codes if not re.search(rf"\b{code} \w", row[0])} == set()


def test_every_place_in_the_data_directory_is_documented(tmp_path):
    home = Home(tmp_path / "data")
    home.make()
    home.lock()
    home.secret_key()
    StateFile(home.state_file, {}).update()
    home.unlock()

    section = OPERATING.partition("## The data directory")[2].partition("\n## ")[0]
    assert [place.name for place in home.root.iterdir() if f"`{place.name}" not in section] == []


def test_the_levels_of_the_log_are_those_that_are_documented():
    row = re.search(r"^\| `HERMES_LOG_LEVEL` \|.*$", OPERATING, flags=re.MULTILINE)
    assert row

    assert tuple(re.findall(r"`([A-Z]+)`", row[0].rpartition("|")[0].rpartition("|")[2])) == (
        base.LOG_LEVELS
    )
