"""Which platforms there are, as delivery sees them. The upper app registers how to find one."""

from collections.abc import Callable

from delivery.errors import UnknownPlatform
from delivery.ports import Outlet

_finders: list[Callable[[str], Outlet | None]] = []


def register_finder(finder: Callable[[str], Outlet | None]) -> None:
    """Let `finder` answer for the platforms it knows (None for the rest)."""
    if finder not in _finders:
        _finders.append(finder)


def outlet(platform: str) -> Outlet:
    """What delivery must know of `platform`.

    Raises:
        UnknownPlatform: Nobody registered it.
    """
    for finder in _finders:
        found = finder(platform)
        if found is not None:
            return found
    message = f"no platform is registered under the name {platform!r}"
    raise UnknownPlatform(message)
