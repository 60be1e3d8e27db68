"""How much harm a shell command can do, judged by its words alone. Pure.

A command that runs on a machine is never harmless here: the least is HIGH. CRITICAL is what
destroys, what takes over, and whatever cannot be followed.
"""

import posixpath
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import islice, pairwise

from clarify.redaction import visible
from clarify.risks import RiskLevel
from gateway.agents.shell_places import is_connection, is_device, is_protected, is_vital
from gateway.agents.shell_rules import (
    CONNECTS,
    DELETES,
    DROPS,
    EDITS,
    FETCHERS,
    FETCHES,
    INTERPRETERS,
    MULTIPLIES,
    SHELLS,
    WIPES,
    WRAPPERS,
    deletes_trees,
    drops_data,
    inline_code,
    rule_of,
    scripts_in_options,
)
from gateway.agents.shell_script import RESERVED, Command, Pipeline, Script, Word
from gateway.agents.shell_words import Unreadable, read

UNREADABLE = "cannot be taken apart"
UNKNOWN_PROGRAM = "runs a program whose name is known only when it runs"
HIDES = "holds characters that hide what it does"

_DEEPEST = 6  # scripts that are arguments inside one another
_MOST_STARTS = 24  # arguments of a wrapper that are tried as the command it runs
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=", re.ASCII)
# Direction marks, and controls other than line ends and tabs.
_DECEPTIVE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_KNOWN_FOLDER = re.compile(r"\$(?:HOME|PWD|\{HOME\}|\{PWD\})(?:/[\w.+-]+)+$")
_LOADER = re.compile(r"ld(?:-linux|-musl|64)?[\w.-]*\.so[\d.]*")
_SOURCING = frozenset({"eval", "source", "."})
_LATER = frozenset({"at", "batch"})
_FEEDS = frozenset({"xargs", "parallel"})
_WRITING = frozenset({">", ">>", ">|", "<>", "&>", "&>>", ">&"})


@dataclass(frozen=True)
class Judgement:
    """How bad a command can be; `reason` completes "This command …", empty for nothing special."""

    level: RiskLevel
    reason: str = ""


def judge(command: str) -> Judgement:
    """The risk of a shell command: HIGH, or CRITICAL with a reason."""
    if _DECEPTIVE.search(command):
        return Judgement(RiskLevel.CRITICAL, HIDES)
    try:
        reason = next(_reasons(read(command), 0), "")
    except Unreadable:
        reason = UNREADABLE
    return Judgement(RiskLevel.CRITICAL if reason else RiskLevel.HIGH, reason)


def exact_words(command: str) -> tuple[str, ...] | None:
    """The words of a command that a shell takes exactly as they stand; None for any other.

    It is one simple command: nothing in it is expanded, assigned, redirected or chained, and
    nothing in it is invisible.
    """
    if "\n" in command or "\\\n" in command or visible(command) != command:
        return None
    try:
        script = read(command)
    except Unreadable:
        return None
    commands = [one for pipeline in script.pipelines for one in pipeline.commands]
    if not script.is_plain or len(commands) != 1 or commands[0].redirections:
        return None
    words = commands[0].words
    first = words[0]
    if not all(word.is_literal for word in words) or _ASSIGNMENT.match(first.text):
        return None
    return None if first.text in _KEYWORDS else tuple(word.text for word in words)


_KEYWORDS = RESERVED | {"case", "for", "function", "select", "[["}


def _reasons(script: Script, depth: int) -> Iterator[str]:
    """What is critical in a script, and in the scripts inside of it."""
    if depth > _DEEPEST:
        raise Unreadable("too many scripts inside one another")
    yield from _from_a_vital_place(script)
    for pipeline in script.pipelines:
        if _multiplies(pipeline, script.functions):
            yield MULTIPLIES
        yield from _of_pipeline(pipeline)
        for index, command in enumerate(pipeline.commands):
            yield from _of_command(command, depth, is_fed=index > 0)


def _from_a_vital_place(script: Script) -> Iterator[str]:
    """Whether a tree is deleted where another command has gone, or what another has named."""
    commands = [one.words for pipeline in script.pipelines for one in pipeline.commands]
    texts = [[_name(words), *_texts(words[1:])] for words in map(_stripped, commands)]
    deleting = [text for text in texts if deletes_trees(text)]
    goes = [text for text in texts if text[0] in {"cd", "pushd"} and len(text) > 1]
    if deleting and any(is_vital(text[-1]) for text in goes):
        yield DELETES
    named = {operand for text in deleting for operand in text[1:] if operand.startswith("$")}
    if named & _names_of_vital(commands):
        yield DELETES


def _names_of_vital(commands: list[list[Word]]) -> set[str]:
    """The variables that are set to vital places, as they are written when they are used."""
    found = set()
    for words in commands:
        for text in _texts(words):
            name, is_set, value = text.partition("=")
            if is_set and is_vital(value):
                found |= {f"${name}", f"${{{name}}}"}
        looped = _texts(words)
        if looped[:1] == ["for"] and len(looped) > 3 and any(map(is_vital, looped[3:])):
            found |= {f"${looped[1]}", f"${{{looped[1]}}}"}
    return found


def _multiplies(pipeline: Pipeline, functions: Set[str]) -> bool:
    names = [_name(_stripped(command.words)) for command in pipeline.commands]
    calls = [name for name in names if name in functions]
    return bool(calls) and (len(calls) > 1 or pipeline.is_background)


def _of_pipeline(pipeline: Pipeline) -> Iterator[str]:
    words = [word for command in pipeline.commands for word in command.words]
    bodies = [one.body for command in pipeline.commands for one in command.redirections]
    strings = [one.target for command in pipeline.commands for one in command.redirections]
    names = [posixpath.basename(word.text) for word in words]
    together = " ".join(word.text for word in words)
    if drops_data(names, [together, *(word.text for word in [*words, *strings]), *bodies]):
        yield DROPS


def _of_command(command: Command, depth: int, *, is_fed: bool) -> Iterator[str]:
    words = _stripped(command.words)
    yield from _of_redirections(command)
    yield from _of_program(words, depth)
    yield from _of_interpreter(command, words, is_fed=is_fed)
    if _name(words) in SHELLS | _SOURCING:
        yield from _of_shell(command, words, depth)
    for word in [*command.words, *(one.target for one in command.redirections)]:
        for inner in word.inner:
            yield from _reasons(inner, depth + 1)


def _of_interpreter(command: Command, words: list[Word], *, is_fed: bool) -> Iterator[str]:
    """What an interpreter reads: what is piped, what a substitution fetches, code in a word."""
    name = _name(words)
    is_given = name in _LATER or (name in INTERPRETERS and _runs_its_input(words))
    reads_words = name in INTERPRETERS | _SOURCING
    fetched = reads_words and any(_fetches(inner) for word in words for inner in word.inner)
    if (is_fed and is_given) or fetched:
        yield FETCHES
    bodies = [one.body or one.target.text for one in command.redirections if "<<" in one.operator]
    reason = inline_code([name, *_texts(words[1:])], bodies)
    if reason:
        yield reason


def _of_redirections(command: Command) -> Iterator[str]:
    for one in command.redirections:
        if is_connection(one.target.text):
            yield CONNECTS
        elif one.operator in _WRITING and is_device(one.target.text):
            yield WIPES
        elif one.operator in _WRITING and is_protected(one.target.text):
            yield EDITS


def _of_program(words: list[Word], depth: int) -> Iterator[str]:
    if not words:
        return
    name = _name(words)
    if _is_unknown(words[0]):
        yield UNKNOWN_PROGRAM
    yield from _by_the_rules(words)
    for text in scripts_in_options([name, *_texts(words[1:])]):
        yield from _reasons(read(text), depth + 1)
    if name in WRAPPERS or _LOADER.fullmatch(name):
        for start in range(1, min(len(words), _MOST_STARTS)):
            yield from _of_wrapped(words[start:], depth)
            if name in _FEEDS and deletes_trees(
                [_name(words[start:]), *_texts(words[start + 1 :])]
            ):
                yield DELETES


def _is_unknown(word: Word) -> bool:
    """Whether one cannot tell which program a word names, or whether it is one word at all."""
    if word.is_literal:
        return False
    if word.may_split and not _KNOWN_FOLDER.match(word.text):
        return True
    name = posixpath.basename(word.text)
    return not name or re.search(r"[$`*?\[{]", name) is not None


def _by_the_rules(words: list[Word]) -> Iterator[str]:
    rule = rule_of(_name(words))
    texts = [_name(words), *_texts(words[1:])]
    reason = rule(texts) if rule is not None else ""
    if reason:
        yield reason
    if deletes_trees(texts) and any(word.inner for word in words[1:]):
        yield DELETES  # what it deletes is known only when it runs


def _of_wrapped(words: list[Word], depth: int) -> Iterator[str]:
    """What a wrapper may run: a program with its arguments, or a script in one word."""
    first = words[0]
    yield from _by_the_rules(words)
    yield from _of_interpreter(Command(words), words, is_fed=False)
    if _name(words) in SHELLS:
        yield from _of_shell(Command(words), words, depth)
    elif " " in first.text and depth < _DEEPEST:
        try:
            inner = read(first.text)
        except Unreadable:
            return  # words for people are no script
        yield from _reasons(inner, depth + 1)


def _of_shell(command: Command, words: list[Word], depth: int) -> Iterator[str]:
    """What a shell is given to run: words, a here-document, what a substitution fetches."""
    texts = [one.body or one.target.text for one in command.redirections if "<<" in one.operator]
    if _name(words) == "eval":
        texts.append(" ".join(word.text for word in words[1:]))
    elif _name(words) in SHELLS:
        texts += _scripts_of(words)
    for text in texts:
        yield from _reasons(read(text), depth + 1)


def _scripts_of(words: list[Word]) -> list[str]:
    """The word after `-c`, which may stand among other letters."""
    for word, after in pairwise(words[1:]):
        if re.fullmatch(r"-[a-z]*c[a-z]*", word.text):
            return [after.text]
    return []


def _runs_its_input(words: list[Word]) -> bool:
    """Whether an interpreter is given neither a script nor code, so that it reads what is piped."""
    texts = [word.text for word in words[1:]]
    if any(re.fullmatch(r"-[a-z]*s|-", text) for text in texts):
        return True
    return not any(not text.startswith("-") for text in texts)


def _fetches(script: Script) -> bool:
    commands = (one for pipeline in script.pipelines for one in pipeline.commands)
    return any(_name(_stripped(command.words)) in FETCHERS for command in commands)


def _stripped(words: list[Word]) -> list[Word]:
    """The words of a command without what may stand before its name."""
    start, before = 0, ""
    for word in words:
        is_keyword = word.is_bare and word.text in RESERVED | {"function"}
        is_of_keyword = before == "function" or (before == "time" and word.text[:1] == "-")
        if not (is_keyword or is_of_keyword or _ASSIGNMENT.match(word.text)):
            break
        start, before = start + 1, word.text
    return list(islice(words, start, None))


def _texts(words: list[Word]) -> list[str]:
    return [word.text for word in words]


def _name(words: list[Word]) -> str:
    return posixpath.basename(words[0].text) if words else ""
