"""What is shown to people: no secrets, nothing invisible, and not too much of it. Pure.

Hiding may never hide what will happen. So a hidden value is one word or one quoted string, and no
operator, expansion or second command of a shell is taken for a part of it.
"""

import re

import regex

from clarify.credentials import BARE, CREDENTIAL, HEADS, PRIVATE_KEY, QUOTED, URL_PASSWORD, Head

HIDDEN = "[secret hidden]"

# Stands for what is hidden while the search goes on. Unicode will never give it a meaning, and
# the shapes of values leave it out.
_SEAL = "\ufdd0"
_SEALS = re.compile(f"{_SEAL}+")
_COOKIES = re.compile(
    r"(?i:cookie)[ \t]*+:[ \t]*+(?:[\w.-]++=[^\s\"'`;|&<>()$\\\ufdd0]++;?[ \t]*+)++"
)
_COOKIE = re.compile(r"(?<==)[^\s\"'`;|&<>()$\\\ufdd0]+")
# Hiding one thing may show where another one ends; what is never reached is a bound, not a wish.
_MOST_ROUNDS = 8

_EXPANSION = re.compile(r"\$[A-Za-z_({]|`")
# What makes a program of a string: there, several words after "password=" may be commands.
_RUNS_STRINGS = re.compile(
    r"(?<![\w.-])(?:eval|source|\.(?=[ \t])|trap|watch|parallel|script|flock|su|runuser|ssh|tmux"
    r"|screen|expect|make|(?:ba|da|z|k|mk|a|c|tc|fi|pw)?sh|[gm]?awk|sed|vim?|ed|ex|emacs|git|rsync"
    r"|gdb|socat|nc|ncat|lua|tclsh|perl|ruby|node|php|python[\d.]*|busybox|toybox|crontab|at|batch"
    r"|env[ \t][^\n;|&]{0,300}?-[a-z]*S|tar[ \t][^\n;|&]{0,300}?-action)(?![\w-])"
)
# What makes a program of a variable or an alias: there, even one word may be a command. What
# stands after an option is its value, and what ends with a quote it did not begin with is part of
# a string.
_VARIABLE = (
    r"(?:^|[;|&({`]|(?<!\S)(?:\w+=|(?:--|-[a-z]*c|-exec\w*|[^-\s]\S*)[ \t]))[ \t]*+(?P<mark>[\"']?)"
    r"(?:\$\{?\w+\}?)*?\$(?:\{!|\{?\w*?(?i:pass|pwd|secret|token|key|auth|cred|sess|sig))"
)
_RUNS_VALUES = re.compile(
    rf"{_VARIABLE}\w*+\}}?(?P=mark)(?=[\s;|&()`]|$)|\balias(?:[ \t]|\.)", re.MULTILINE
)
_RUNS_VALUES_OF_STRINGS = re.compile(_VARIABLE, re.MULTILINE)
# Whatever makes the counting of quotes between two of them a guess.
_UNSURE = re.compile(r"['\"\\\n#$`]")
_FARTHEST_QUOTE = 20_000  # characters, between a quote and a string in it
_PLAIN = re.compile(r"[^\s;|&<>()$`]+")
_PATH = re.compile(r"(?:~|\.{0,2})(?:/[\w.-]+){2,}/?")
_NO_SECRET = re.compile(
    r"(?i:true|false|null|nil|none|undefined|yes|no|on|off|required|optional|str|string|bytes|int"
    r"|bool|boolean|number|any|text|object|bearer|basic|digest|changed|redacted|hidden"
    r"|\d{1,3}|\*+|x{3,}|\.{3,}|…|-+|(?:self|os|env|process|secrets|vars|var|config|settings|request)\."
    r"[\w.]+\[?)"
)


def redact(text: str) -> str:
    """`text` with `[secret hidden]` in place of each secret that can be told by its looks.

    It takes time in proportion to the text, and redacting twice is redacting once.
    """
    sealed = text.replace(_SEAL, "\ufffd").replace(HIDDEN, _SEAL)
    for _ in range(_MOST_ROUNDS):
        before, sealed = sealed, _one_round(sealed)
        if sealed == before:
            break
    return _SEALS.sub(HIDDEN, sealed)


def _one_round(text: str) -> str:
    text = PRIVATE_KEY.sub(_SEAL, text)
    text = _COOKIES.sub(lambda found: _COOKIE.sub(_SEAL, found[0]), text)
    text = URL_PASSWORD.sub(rf"\g<before>{_SEAL}", text)
    for head in () if _runs_values(text) else HEADS:
        text = _without_values(text, head)
    return CREDENTIAL.sub(_SEAL, text)


def _runs_values(text: str) -> bool:
    """Whether one of the values that are to be hidden may be what is run."""
    if _RUNS_VALUES.search(text):
        return True
    return bool(_RUNS_VALUES_OF_STRINGS.search(text) and _RUNS_STRINGS.search(text))


def _without_values(text: str, head: Head) -> str:
    """`text` with the values after each `head` sealed."""
    reader = _Values(text)
    pieces: list[str] = []
    done = 0
    for found in head.pattern.finditer(text):
        if found.start() < done:
            continue
        span = reader.at(found.end(), head)
        if span is not None:
            pieces += (text[done : span[0]], _SEAL)
            done = span[1]
    return "".join([*pieces, text[done:]])


class _Values:
    """Reads the values in one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._quotes: str | None = None
        self._runs_strings: bool | None = None

    def at(self, start: int, head: Head) -> tuple[int, int] | None:
        """From where to where the secret stands that begins at `start`; None if none does."""
        quoted = QUOTED.match(self._text, start)
        if quoted is not None:
            is_secret = _may_be_secret(quoted["inner"], head) and self._is_one_string(quoted)
            return quoted.span("inner") if is_secret else None
        bare = BARE.match(self._text, start)
        value = bare["value"].rstrip(",]}") if bare is not None else ""
        return (start, start + len(value)) if value and _may_be_secret(value, head) else None

    def _is_one_string(self, quoted: "re.Match[str]") -> bool:
        """Whether what looks like a quoted string is one, and a shell would run nothing in it.

        In `X="password=" rm -rf "$HOME"` the words between two quotes are a command, and those
        of `eval password="a; reboot"` are one although they are one string.
        """
        inner, mark = quoted["inner"], quoted["mark"]
        if _PLAIN.fullmatch(inner):
            return True
        if self._runs_strings is None:
            self._runs_strings = _RUNS_STRINGS.search(self._text) is not None
        if self._runs_strings:
            return False
        around = self._around(quoted.start())
        if _EXPANSION.search(inner) and not (mark == "'" and around == " "):
            return False
        if around != " " and not self._is_begun_inside(quoted, around):
            return False
        if mark.startswith("\\"):
            return "'" not in inner and '"' not in inner
        return around == " " or (around != mark and around not in inner)

    def _is_begun_inside(self, quoted: "re.Match[str]", around: str) -> bool:
        """Whether the mark begins a string within the quote around it, and does not end one."""
        begin, mark = quoted.start(), quoted["mark"]
        opened = self._text.rfind(around, 0, begin)
        while opened >= 0 and self._around(opened) != " ":
            if begin - opened > _FARTHEST_QUOTE:
                return False
            opened = self._text.rfind(around, 0, opened)
        before = self._text[opened + 1 : begin].split(mark)
        return len(before) % 2 == 1 and not any(map(_UNSURE.search, before))

    def _around(self, position: int) -> str:
        """The quote in which a position lies; a space outside of all."""
        if self._quotes is None:
            self._quotes = _quotes(self._text)
        return self._quotes[position]


def _may_be_secret(value: str, head: Head) -> bool:
    if _NO_SECRET.fullmatch(value) or _PATH.fullmatch(value) or value[0] in "$%{[<(:=":
        return False
    if head.is_weak:
        return len(value) >= 20 or (len(value) >= 8 and any(c.isdigit() for c in value))
    return True


def _quotes(text: str) -> str:
    """For each position the quote around it, as a shell counts them; a space outside of all."""
    around: list[str] = []
    now, is_escaped = " ", False
    for character in text:
        around.append(now)
        if is_escaped:
            is_escaped = False
        elif character == "\\" and now != "'":
            is_escaped = True
        elif now == " " and character in "'\"":
            now = character
        elif character == now:
            now = " "
    return "".join(around)


# ---- what cannot be seen ------------------------------------------------------------------------

# They show nothing although Unicode classes them as letters, marks or symbols: the combining
# grapheme joiner, the Hangul fillers, the Khmer inherent vowels, the Braille blank.
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_UNSEEN = regex.compile(rf"[\p{{C}}\p{{Z}}\p{{Variation_Selector}}{_BLANKS}--[\n\t ]]", regex.V1)


def visible(text: str) -> str:
    r"""`text` with every character that shows nothing, or another order, as `\u{202E}`.

    Spaces, line ends and tabs stay; every other kind of space is shown, because a shell takes it
    for a letter.
    """
    shown: str = _UNSEEN.sub(lambda found: f"\\u{{{ord(found[0]):04X}}}", text)
    return shown


# ---- how much of it -----------------------------------------------------------------------------

# A character as a person counts them; what is hidden counts as one that is not cut. Its last
# bracket may carry marks, and its first one may hang on a sign that is written before a number.
_UNIT = regex.compile(rf"\p{{GCB=Prepend}}*{regex.escape(HIDDEN[:-1])}(?=\])\X|\X")


def excerpt(text: str, longest: int) -> tuple[str, int]:
    """The head and the tail of `text`, with a line in between that tells of the rest.

    Args:
        text: What was redacted and made visible.
        longest: Characters of `text` to keep, as a person counts them; the line comes on top.

    Returns:
        The excerpt, and how many characters it leaves out.
    """
    if len(text) <= longest:
        return text, 0
    units = _UNIT.findall(text)
    sizes = [len(HIDDEN) if HIDDEN in unit else 1 for unit in units]
    if sum(sizes) <= longest:
        return text, 0
    head = _fitting(sizes, max(longest - longest // 3, 0))
    tail = _fitting(sizes[:head:-1], max(longest // 3, 0))
    left_out = sum(sizes[head : len(sizes) - tail])
    note = f"[… {left_out:,} characters left out …]"
    parts = ("".join(units[:head]), note, "".join(units[len(units) - tail :]))
    return "\n".join(part for part in parts if part), left_out


def _fitting(sizes: list[int], room: int) -> int:
    """How many of the first units fit."""
    for count, size in enumerate(sizes):
        room -= size
        if room < 0:
            return count
    return len(sizes)
