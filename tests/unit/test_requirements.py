"""The table of requirements against the marks of the tests; the page says what both are."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = "docs/requirements.md"
NUMBER = re.compile(r"[A-Z]\d+b?")
ROW = re.compile(r"^\| ([A-Z]\d+b?) \| (.+?) \| (.+?) \|$", flags=re.MULTILINE)
STATE = re.compile(r"proved|partly: \S.*|later: issue \d")
TEST = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Mark:
    """One `pytest.mark.proves(…)`: where it stands, its arguments, and whether it marks a test."""

    place: str
    arguments: tuple[str, ...]
    is_on_a_test: bool


def marks_in(path: Path) -> Iterator[Mark]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    on_tests = {id(node) for owner in marked_places(tree) for node in ast.walk(owner)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.proves":
            yield mark(path, node, tree, on_tests)


def marked_places(tree: ast.Module) -> Iterator[ast.expr]:
    """The decorators of the tests, and what `pytestmark` is set to."""
    for node in ast.walk(tree):
        if isinstance(node, TEST) and node.name.lower().startswith("test"):
            yield from node.decorator_list
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            yield node.value


def mark(path: Path, name: ast.Attribute, tree: ast.Module, on_tests: set[int]) -> Mark:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func is name]
    arguments = calls[0].args if calls else []
    return Mark(
        f"{path.relative_to(PROJECT).as_posix()}:{name.lineno}",
        tuple(str(getattr(argument, "value", "?")) for argument in arguments),
        id(name) in on_tests,
    )


STATES = {number: state for number, _, state in ROW.findall((PROJECT / PAGE).read_text())}
MARKS = [
    mark
    for path in sorted((PROJECT / "tests").rglob("test_*.py"))
    if path != Path(__file__)
    for mark in marks_in(path)
]
PLACES = {
    number: [mark.place for mark in MARKS if number in mark.arguments]
    for mark in MARKS
    for number in mark.arguments
}


def test_each_requirement_has_one_row():
    rows = Counter(number for number, _, _ in ROW.findall((PROJECT / PAGE).read_text()))

    assert len(rows) > 50, f"the table in {PAGE} cannot be read: `| number | asks | state |`"
    assert [number for number, count in rows.items() if count > 1] == [], f"twice in {PAGE}"


def test_each_row_has_one_of_the_states():
    wrong = {number: state for number, state in STATES.items() if not STATE.fullmatch(state)}

    assert wrong == {}, f"in {PAGE} write `proved`, `partly: what is missing` or `later: issue N`"


def test_every_mark_names_numbers_and_hangs_on_a_test():
    nameless = [
        mark.place
        for mark in MARKS
        if not mark.arguments or not all(map(NUMBER.fullmatch, mark.arguments))
    ]
    astray = [mark.place for mark in MARKS if not mark.is_on_a_test]

    assert nameless == [], 'write @pytest.mark.proves("Q8"), with one number or several'
    assert astray == [], "a mark stands above a test, or in `pytestmark` of its module"


def test_every_number_that_a_test_is_marked_with_has_its_row():
    unknown = {number: places for number, places in PLACES.items() if number not in STATES}

    assert unknown == {}, f"correct the mark, or give the requirement a row in {PAGE}"


def test_what_is_said_to_be_proved_has_a_test_that_is_marked():
    claimed = [number for number, state in STATES.items() if not state.startswith("later")]

    unproved = [number for number in claimed if number not in PLACES]

    assert unproved == [], f"mark a test that would fail without it, or say `later` in {PAGE}"


def test_what_comes_later_has_no_test_that_is_marked():
    postponed = [number for number, state in STATES.items() if state.startswith("later")]

    early = {number: PLACES[number] for number in postponed if number in PLACES}

    assert early == {}, f"it is built, it seems: say `proved` or `partly: …` in {PAGE}"
