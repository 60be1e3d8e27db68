"""Ids of people in what is logged: shown as a mark that stays the same, never plainly ([A4]).

Whoever works for somebody says so once (`people`), and no line that is logged meanwhile, by
whatever module or library, shows their ids: not in its sentence, not in what goes with it, and not
in a traceback. One who has an id can find its lines all the same: `manage.py mark ID` gives its
mark.
"""

import hashlib
import hmac
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SHORTEST = 5  # characters; no platform has shorter ids, and so short a number stands for anything
_KEYS = re.compile(r"\bagent(?::[^\s:'\",)]*){3}(?P<ids>(?::[^\s:'\",)]*){3,5})")

_people: ContextVar[frozenset[str]] = ContextVar("people", default=frozenset())


@contextmanager
def people(*ids: str) -> Iterator[None]:
    """Let no line that is logged inside show `ids`; those that are empty or short do not count."""
    known = {one for one in ids if len(one) >= SHORTEST}
    token = _people.set(_people.get() | known)
    try:
        yield
    finally:
        _people.reset(token)


def mark(identity: str, secret: str) -> str:
    """What stands for an id: the same for the same id, and nothing that it could be found from.

    Args:
        identity: An id of a person or of their private chat.
        secret: The key of the installation.
    """
    key = f"delivery.masking:{secret}".encode()
    found = hmac.new(key, identity.encode("utf-8", "replace"), hashlib.sha256)
    return f"id-{found.hexdigest()[:10]}"


def masked(text: str, secret: str) -> str:
    """`text` as it may be logged: without the ids of `people`, and without those in keys."""
    for identity in sorted(_people.get(), key=len, reverse=True):
        if identity in text:
            whole = rf"(?<![^\W_]){re.escape(identity)}(?![^\W_])"
            text = re.sub(whole, mark(identity, secret), text)
    if "agent:" not in text:
        return text
    return _KEYS.sub(lambda found: _without(found, secret), text)


def _without(found: re.Match[str], secret: str) -> str:
    """A conversation key without the ids in it; what is no id is told apart no more."""
    ids = found["ids"]
    return found[0].removesuffix(ids) + ":" + mark(ids, secret)
