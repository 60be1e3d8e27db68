"""The house rules that a program can check; CONTRIBUTING.md tells them to people."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
APPS = ("delivery", "clarify", "gateway", "hermes_site", "bin")
FILE_LINES, CLASS_LINES, BODY_LINES = 400, 200, 40

# What may be longer, how long, and why. Nothing gets onto these lists by being in a hurry.
LONG_FILES: dict[str, tuple[int, str]] = {}
LONG_CLASSES = {
    "gateway/console/consumers.py:ConsoleConsumer": (275, "a method a request, one line each"),
    "clarify/wording.py:Words": (215, "a table of texts"),
}
LONG_BODIES: dict[str, tuple[int, str]] = {}

# These start processes or are started as one; they name the settings or hand the environment on.
READERS_OF_THE_ENVIRONMENT = {"hermes_site/supervisor/main.py"}
# What a module that calls itself pure may not import.
IMPURE = {
    *("asyncio", "celery", "channels", "django", "httpcore", "httpx", "httpx2", "logging", "os"),
    *("random", "redis", "secrets", "socket", "subprocess", "threading", "time"),
}


def product_files() -> list[Path]:
    found = [path for app in APPS for path in sorted((PROJECT / app).rglob("*.py"))]
    return [path for path in found if "migrations" not in path.parts]


def name_of(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


TREES = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in product_files()}


def nodes(*kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield name, node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function's body, its docstring aside."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def sizes_of_files() -> dict[str, int]:
    return {name: len((PROJECT / name).read_text().splitlines()) for name in TREES}


def sizes_of_classes() -> dict[str, int]:
    return {
        f"{name}:{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for name, node in nodes(ast.ClassDef)
    }


def sizes_of_bodies() -> dict[str, int]:
    found: dict[str, int] = {}
    for name, node in nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        key = f"{name}:{node.name}"
        found[key] = max(found.get(key, 0), body_lines(node))
    return found


LIMITS = {
    "file": (sizes_of_files, FILE_LINES, LONG_FILES),
    "class": (sizes_of_classes, CLASS_LINES, LONG_CLASSES),
    "body": (sizes_of_bodies, BODY_LINES, LONG_BODIES),
}


@pytest.mark.parametrize("what", LIMITS)
def test_nothing_is_longer_than_it_may_be(what):
    measure, limit, allowed = LIMITS[what]

    too_long = {
        name: size
        for name, size in measure().items()
        if size > (allowed[name][0] if name in allowed else limit)
    }

    assert too_long == {}, f"split it, or give it a reason in {Path(__file__).name}"


@pytest.mark.parametrize("what", LIMITS)
def test_whatever_was_allowed_to_be_long_is_still_there(what):
    measure, _, allowed = LIMITS[what]

    assert set(allowed) - set(measure()) == set(), "take it off the list"


def test_each_error_says_what_is_true_when_it_is_raised():
    known = {"Exception", "BaseException", "RuntimeError", "ValueError", "ImproperlyConfigured"}
    classes = [(name, node) for name, node in nodes(ast.ClassDef)]
    grew = True
    while grew:
        errors = {node.name for _, node in classes if known & {base_name(b) for b in node.bases}}
        grew = not errors <= known
        known |= errors

    silent = [f"{n}:{c.name}" for n, c in classes if c.name in known and not ast.get_docstring(c)]

    assert silent == []


def base_name(base: ast.expr) -> str:
    return base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")


@pytest.mark.parametrize("name", [name for name in TREES if name.endswith("/errors.py")])
def test_the_tree_of_errors_shows_each_of_them(name):
    drawn = ast.get_docstring(TREES[name]) or ""
    classes = [node.name for node in TREES[name].body if isinstance(node, ast.ClassDef)]

    missing = [each for each in classes if not re.search(rf"\b{each}\b", drawn)]

    assert len(classes) < 2 or missing == []


def test_only_the_settings_read_the_environment():
    readers = set()
    for name, tree in TREES.items():
        if name.startswith(("hermes_site/settings/", "bin/")):
            continue
        named = {id(node.func.value) for node in ast.walk(tree) if names_the_settings(node)}
        for node in ast.walk(tree):
            if is_environment(node) and id(node) not in named:
                readers.add(name)

    assert readers <= READERS_OF_THE_ENVIRONMENT


def names_the_settings(node: ast.AST) -> bool:
    """`os.environ.setdefault("DJANGO_SETTINGS_MODULE", …)`, as every entry point has it."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "setdefault"
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == "DJANGO_SETTINGS_MODULE"
    )


def is_environment(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in {"environ", "environb", "getenv"} and base_name(node.value) == "os"
    if isinstance(node, ast.ImportFrom) and node.module == "os":
        return any(alias.name in {"environ", "environb", "getenv"} for alias in node.names)
    return False


def pure_modules() -> list[str]:
    return [name for name, tree in TREES.items() if says_pure(ast.get_docstring(tree) or "")]


def says_pure(docstring: str) -> bool:
    return re.search(r"\bPure\b", docstring) is not None


def test_a_module_that_calls_itself_pure_imports_nothing_impure():
    breaches = {
        name: sorted(found) for name in pure_modules() if (found := imported(TREES[name]) & IMPURE)
    }

    assert pure_modules(), "they say so in their docstrings"
    assert breaches == {}


def imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


def test_a_module_that_calls_itself_pure_does_not_look_at_the_clock():
    looks = {"now", "utcnow", "today"}
    breaches = [
        f"{name}:{node.lineno}"
        for name, node in nodes(ast.Call)
        if name in pure_modules()
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in looks
    ]

    assert breaches == []
