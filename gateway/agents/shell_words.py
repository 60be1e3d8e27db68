"""Shell text taken apart, as far as one can without running it. Pure.

It finds the simple commands of a script, those of loops, functions and substitutions among them,
and what is piped and redirected. What it cannot follow it refuses. It knows the grammar of POSIX
and, because `/bin/sh` may be one, most of what bash adds to it.

Source: POSIX.1-2024, Shell Command Language, sections 2.2 to 2.10.
"""

import re

from gateway.agents.shell_script import RESERVED, Redirection, Script, Token, Word, parse

_OPERATOR = re.compile(r"&&|\|\||\|&|;;&?|;&|&(?!>)|[;|()\n]")
_REDIRECTION = re.compile(r"&>>?|<<-|<<<|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\()")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_BARE = re.compile(r"[^ \t\n'\"\\$`;|&<>()]+")
_QUOTED = re.compile(r"[^\"\\$`]+")
_EXPANDED = re.compile(r"[*?\[{}~]")
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)")
_PARAMETER = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])", re.ASCII)
_ANSI_C = re.compile(r"\$'(?:[^'\\]|\\.)*+'", re.DOTALL)
_BACKQUOTED = re.compile(r"`((?:[^`\\]|\\.)*+)`", re.DOTALL)
_DEEPEST = 20  # substitutions inside one another


class Unreadable(Exception):
    """The text is no complete script, or one that cannot be followed."""


def read(text: str) -> Script:
    """The commands in `text`.

    Raises:
        Unreadable: A quote or a bracket is left open, or there are too many inside one another.
    """
    return _script(text, 0)


def _script(text: str, depth: int) -> Script:
    lexer = _Lexer(text, depth)
    tokens = lexer.tokens("")
    return parse(tokens, has_comment=lexer.has_comment)


# ---- words -------------------------------------------------------------------------------------


class _Words:
    """Reads words from left to right."""

    def __init__(self, text: str, depth: int) -> None:
        if depth > _DEEPEST:
            raise Unreadable("too many substitutions inside one another")
        self.text, self.depth, self.at = text, depth, 0

    def _expect(self, is_so: object) -> None:
        if not is_so:
            raise Unreadable("a quote or a bracket is left open")

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[0]

    def word(self) -> Word:
        word = Word()
        start = self.at
        while self.at < len(self.text) and self._part(word):
            pass
        self._expect(self.at > start)
        return word

    def _part(self, word: Word) -> bool:
        """Read one part of a word; False at the word's end."""
        bare = self._take(_BARE)
        if bare:
            word.text += bare
            word.is_literal = word.is_literal and not _EXPANDED.search(bare)
            word.may_split = word.may_split or _BRACES.search(bare) is not None
            return True
        character = self.text[self.at]
        if character in "<>" and self.text.startswith("(", self.at + 1):
            self._substitution(word)
            return True
        read_part = {
            "'": self._single_quoted,
            '"': self._double_quoted,
            "\\": self._escaped,
            "$": self._dollar,
            "`": self._backquoted,
        }.get(character)
        if read_part is not None:
            read_part(word)
            word.may_split = word.may_split or character in "$`"
        return read_part is not None

    def _single_quoted(self, word: Word) -> None:
        end = self.text.find("'", self.at + 1)
        self._expect(end > 0)
        word.text += self.text[self.at + 1 : end]
        word.is_bare = False
        self.at = end + 1

    def _double_quoted(self, word: Word) -> None:
        self.at += 1
        word.is_bare = False
        self.quoted(word, until='"')

    def quoted(self, word: Word, *, until: str) -> None:
        """Read what stands between double quotes, up to `until`; nothing for the end."""
        while self.at < len(self.text) or until:
            self._expect(self.at < len(self.text))
            character = self.text[self.at]
            if character == until:
                self.at += 1
                return
            if character == "\\":
                self._escaped_in_quotes(word)
            elif character == "$":
                self._dollar(word, in_quotes=True)
            elif character == "`":
                self._backquoted(word)
            else:
                word.text += self._take(_QUOTED) or self._one()

    def _one(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def _escaped(self, word: Word) -> None:
        self._expect(self.at + 1 < len(self.text))
        escaped = self.text[self.at + 1]
        word.text += "" if escaped == "\n" else escaped
        word.is_bare = False
        self.at += 2

    def _escaped_in_quotes(self, word: Word) -> None:
        escaped = self.text[self.at + 1 : self.at + 2]
        word.text += {"\n": ""}.get(escaped, escaped if escaped in '$`"\\' else "\\" + escaped)
        self.at += 2

    # ---- expansions

    def _dollar(self, word: Word, *, in_quotes: bool = False) -> None:
        start = self.at
        if self.text.startswith("$((", start) and self._arithmetic(word):
            return
        if self.text.startswith("$(", start):
            self._substitution(word)
        elif self.text.startswith("${", start):
            self.at += 2
            self._braces(word, self.depth + 1)
            word.expand(self.text[start : self.at])
        elif not in_quotes and (written := self._take(_ANSI_C)):
            word.is_bare = False
            word.expand(written)
        elif written := self._take(_PARAMETER):
            word.expand(written)
        else:
            self._expect(in_quotes or not self.text.startswith("$'", start))
            word.text += self._one()

    def _substitution(self, word: Word) -> None:
        """`$(…)`, `<(…)` or `>(…)`."""
        start = self.at
        inside = _Lexer(self.text, self.depth + 1)
        inside.at = start + 2
        tokens = inside.tokens(")")
        word.inner.append(parse(tokens, has_comment=inside.has_comment))
        self.at = inside.at
        word.expand(self.text[start : self.at])

    def _arithmetic(self, word: Word) -> bool:
        """`$((…))`; False if it is a substitution that begins with a subshell."""
        start, opened = self.at, 0
        for at in range(start + 1, len(self.text)):
            opened += {"(": 1, ")": -1}.get(self.text[at], 0)
            if not opened:
                break
        else:
            raise Unreadable("a bracket is left open")
        if self.text[at - 1] != ")":
            return False
        inside = _Lexer(self.text[start + 3 : at - 1], self.depth + 1)
        numbers = Word()
        inside.quoted(numbers, until="")
        word.inner += numbers.inner
        self.at = at + 1
        word.expand(self.text[start : self.at])
        return True

    def _braces(self, word: Word, depth: int) -> None:
        """What follows `${`, up to its bracket."""
        self._expect(depth <= _DEEPEST)
        inside = Word(inner=word.inner)
        while not self.text.startswith("}", self.at):
            self._expect(self.at < len(self.text))
            if self.text.startswith("${", self.at):
                self.at += 2
                self._braces(word, depth + 1)
            elif not (self.text[self.at] in "'\"\\$`" and self._part(inside)):
                self.at += 1
        self.at += 1

    def _backquoted(self, word: Word) -> None:
        start = self.at
        found = _BACKQUOTED.match(self.text, start)
        if found is None:
            raise Unreadable("a quote is left open")
        self.at = found.end()
        word.inner.append(_script(re.sub(r"\\([`\\$])", r"\1", found[1]), self.depth + 1))
        word.expand(found[0])


# ---- tokens -------------------------------------------------------------------------------------


class _Lexer(_Words):
    """Reads a script from left to right."""

    def __init__(self, text: str, depth: int) -> None:
        super().__init__(text, depth)
        self.has_comment = False
        self._bodies: list[Redirection] = []  # here-documents that begin at the next line end

    def tokens(self, until: str) -> list[Token]:
        """The tokens up to `until`, which is taken too: `)`, or nothing for the end."""
        found: list[Token] = []
        opened = cases = 0
        while self._is_before_a_token():
            operator = self._take(_OPERATOR)
            if not operator:
                found.append(self._redirection(found) or self.word())
                cases += _begins_or_ends_case(found)
            elif operator == ")" and not (opened or cases):
                self._expect(until == ")")
                return found
            else:
                # What closes a pattern of `case` has no partner.
                opened += (operator == "(") - (operator == ")" and opened > 0)
                found.append(operator)
                self._read_bodies(operator)
        self._expect(not (until or opened or cases or self._bodies))
        return found

    def _is_before_a_token(self) -> bool:
        self._take(_BLANKS)
        if self.text.startswith("#", self.at):
            self.has_comment = True
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        return self.at < len(self.text)

    def _redirection(self, found: list[Token]) -> Redirection | None:
        start = self.at
        operator = self._take(_REDIRECTION)
        if not operator:
            return None
        last = found[-1] if found else None
        if isinstance(last, Word) and last.text.isdigit() and self.text[start - 1].isdigit():
            found.pop()  # the number of a descriptor
        self._take(_BLANKS)
        redirection = Redirection(operator, self.word())
        if operator in {"<<", "<<-"}:
            self._bodies.append(redirection)
        return redirection

    def _read_bodies(self, operator: str) -> None:
        if operator != "\n":
            return
        for document in self._bodies:
            lines: list[str] = []
            while (line := self._line(document.operator)) != document.target.text:
                lines.append(line)
            document.body = "\n".join(lines)
            if document.target.is_bare:
                inside = Word()
                _Lexer(document.body, self.depth + 1).quoted(inside, until="")
                document.target.inner += inside.inner
        self._bodies = []

    def _line(self, operator: str) -> str:
        self._expect(self.at < len(self.text))
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        line = self.text[self.at : end]
        self.at = end + 1
        return line.lstrip("\t") if operator == "<<-" else line


def _begins_or_ends_case(found: list[Token]) -> int:
    """One more or one less `case` that is open, after the last token."""
    last = found[-1]
    if not (isinstance(last, Word) and last.is_bare and last.text in {"case", "esac"}):
        return 0
    if last.text == "esac":
        return -1 if len(found) > 1 and isinstance(found[-2], str) else 0
    before = found[-2] if len(found) > 1 else ";"
    is_first = isinstance(before, str) or (isinstance(before, Word) and before.text in RESERVED)
    return 1 if is_first else 0
