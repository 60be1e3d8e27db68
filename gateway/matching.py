"""Which of some names is meant. Pure."""

import difflib
from collections.abc import Iterable


def closest(said: str, names: Iterable[str], *, how_close: float = 0.6) -> str:
    """The name that `said` means; empty if it is none of them.

    Case does not matter; a beginning that only one name has means that one; a slip of the pen is
    forgiven.

    Args:
        said: What was said.
        names: The names.
        how_close: How much must be the same, 0 to 1, for a slip to be forgiven.
    """
    by_case = {name.casefold(): name for name in names}
    wanted = said.strip().casefold()
    if not wanted:
        return ""
    if wanted in by_case:
        return by_case[wanted]
    begun = [name for name in by_case if name.startswith(wanted)]
    if len(begun) == 1:
        return by_case[begun[0]]
    near = difflib.get_close_matches(wanted, by_case, n=1, cutoff=how_close)
    return by_case[near[0]] if near else ""
