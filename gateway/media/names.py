"""What a file may be called. Pure.

A name comes from a stranger and ends up in a directory, in a prompt and on a screen: it is made
harmless for all three. It never says where a file lies; the store names files by numbers.
"""

import re
import unicodedata
from collections.abc import Collection

LONGEST = 80
UNNAMED = "file"

_NEVER_SHOWN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_UNFIT = re.compile(r'[<>:"/\\|?*`\[\]]+')
# What Windows would open instead of a file, whatever its suffix.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}$")


def display(name: str) -> str:
    """A name as people may see it: one line, no control or direction characters, not too long.

    Returns:
        The last part of a path; empty if nothing fit to be seen is left.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    seen = "".join(" " if c.isspace() else c for c in last if _is_shown(c))
    tidy = _UNFIT.sub("_", " ".join(seen.split())).strip(". ")
    return _shortened(tidy)


def fitting(name: str, suffix: str, taken: Collection[str]) -> str:
    """A name for a file in a directory that holds `taken` already.

    Args:
        name: What it was called; anything at all.
        suffix: What its kind ends in (`.png`), for a name that has no suffix; may be empty.
        taken: The names there, in lower case.
    """
    shown = display(name).lstrip("-") or UNNAMED
    if _DEVICES.fullmatch(shown):
        shown = f"_{shown}"
    if not _SUFFIX.search(shown):
        shown += suffix
    if shown.lower() not in taken:
        return shown
    ending = _suffix(shown)
    stem = shown.removesuffix(ending)
    number = next(n for n in range(2, len(taken) + 3) if f"{stem}-{n}{ending}".lower() not in taken)
    return f"{stem}-{number}{ending}"


def _is_shown(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) not in _NEVER_SHOWN


def _shortened(name: str) -> str:
    if len(name) <= LONGEST:
        return name
    ending = _suffix(name)
    return name[: LONGEST - len(ending) - 1].rstrip(". ") + "…" + ending


def _suffix(name: str) -> str:
    found = _SUFFIX.search(name)
    return found[0] if found else ""
