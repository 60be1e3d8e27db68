"""The parts of a script for a shell. Pure."""

from dataclasses import dataclass, field

#: Words that stand before a command without being one.
RESERVED = frozenset(
    {"!", "{", "}", "do", "done", "elif", "else", "esac", "fi", "if", "in", "then"}
)
RESERVED |= {"until", "while", "time", "coproc"}


@dataclass
class Word:
    """One word.

    Attributes:
        text: Without its quotes; what would be expanded stands there as it is written.
        is_literal: A shell takes it for exactly `text`.
        is_bare: No part of it was quoted.
        may_split: A part of it that was not quoted may become several words.
        inner: The scripts of its substitutions.
    """

    text: str = ""
    is_literal: bool = True
    is_bare: bool = True
    may_split: bool = False
    inner: list["Script"] = field(default_factory=list)

    def expand(self, written: str) -> None:
        """Add something that will be something else when it runs."""
        self.text += written
        self.is_literal = False


@dataclass
class Redirection:
    """One redirection; a here-document has a `body`, and its delimiter as `target`."""

    operator: str
    target: Word
    body: str = ""


@dataclass
class Command:
    """One simple command: its words in order, and its redirections."""

    words: list[Word] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)


@dataclass
class Pipeline:
    """One command or several, the output of each piped to the next."""

    commands: list[Command] = field(default_factory=list)
    is_background: bool = False


@dataclass
class Script:
    """A list of commands.

    Attributes:
        pipelines: In order.
        functions: The names of the functions it defines.
        is_plain: It holds no operator, no line end and no comment.
    """

    pipelines: list[Pipeline] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    is_plain: bool = True


Token = str | Word | Redirection  # an operator, a word, a redirection


def parse(tokens: list[Token], *, has_comment: bool) -> Script:
    """The script that consists of `tokens`."""
    script = Script(is_plain=not has_comment)
    parser = _Parser(script)
    for index, token in enumerate(tokens):
        if isinstance(token, Word):
            parser.command.words.append(token)
        elif isinstance(token, Redirection):
            parser.command.redirections.append(token)
        else:
            script.is_plain = False
            parser.operate(token, is_empty=tokens[index + 1 : index + 2] == [")"])
    parser.end_pipeline(is_background=False)
    return script


class _Parser:
    """Collects commands into pipelines."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.pipeline = Pipeline()
        self.command = Command()
        self.opened = 0

    def operate(self, operator: str, *, is_empty: bool) -> None:
        """Take in an operator; `is_empty` if a bracket closes right after it."""
        if operator == "(" and is_empty and self.command.words:
            self.script.functions.add(self.command.words.pop().text)
        if operator == ")" and not self.opened:  # what was taken for a command is a pattern
            self.command.words.insert(0, Word("case"))
        self.opened += (operator == "(") - (operator == ")" and self.opened > 0)
        self._end_command()
        if operator not in {"|", "|&", "(", ")"}:
            self.end_pipeline(is_background=operator == "&")

    def _end_command(self) -> None:
        if self.command.words or self.command.redirections:
            self.pipeline.commands.append(self.command)
            self.command = Command()

    def end_pipeline(self, *, is_background: bool) -> None:
        """The pipeline is complete."""
        self._end_command()
        if self.pipeline.commands:
            self.pipeline.is_background = is_background
            self.script.pipelines.append(self.pipeline)
            self.pipeline = Pipeline()
