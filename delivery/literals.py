"""Values that are written into a statement instead of being given beside it.

SQLite takes an index of some states only where the statement itself names the same states in the
same order; a list of parameters proves nothing to it.
Source: https://www.sqlite.org/partialindex.html, section 3, read 2026-11-30.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import Value
from typing_extensions import override


class _Literal(Value):
    @override
    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        del compiler, connection
        return f"'{self.value}'", ()


def literal(words: Iterable[str]) -> list[Value]:
    """Each of `words` as it stands in the statement.

    Args:
        words: The names of states, from our own tables only.

    Raises:
        ValueError: One of them is more than a name.
    """
    found = list(words)
    for word in found:
        if not word.replace("_", "").isalnum():
            raise ValueError(word)
    return [_Literal(str(word)) for word in found]
