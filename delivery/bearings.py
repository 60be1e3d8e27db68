"""What a process is working on at this moment, for the lines that it logs meanwhile ([O1]).

Whoever begins a piece of work says so once; every line that is logged inside, by whatever module,
then carries the ids, and one search finds all that happened to a message, a turn or a delivery.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_facts: ContextVar[Mapping[str, str]] = ContextVar("bearings", default={})  # noqa: B039 - never changed


@contextmanager
def about(**facts: object) -> Iterator[None]:
    """Let every line that is logged inside carry `facts`.

    Args:
        facts: Ids by what they are of: `message`, `turn`, `delivery`, `account`. One that is None
            or empty is left out.
    """
    known = {name: str(value) for name, value in facts.items() if value not in {None, ""}}
    token = _facts.set({**_facts.get(), **known})
    try:
        yield
    finally:
        _facts.reset(token)


def current() -> Mapping[str, str]:
    """What the caller is working on."""
    return _facts.get()
