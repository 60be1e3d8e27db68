"""The registry of platforms: one package each, named in settings, imported when first needed."""

import functools
import importlib

from delivery.ports import Outlet
from gateway.conf import gateway_settings
from gateway.errors import UnknownPlatform
from gateway.ports import Platform, outlet_of


@functools.cache
def installed() -> dict[str, Platform]:
    """Every installed platform by its kind."""
    platforms = [importlib.import_module(path).platform for path in gateway_settings().platforms]
    return {platform.kind: platform for platform in platforms}


def get(kind: str) -> Platform:
    """The platform of that kind.

    Raises:
        UnknownPlatform: It is not installed.
    """
    try:
        return installed()[kind]
    except KeyError:
        known = ", ".join(sorted(installed()))
        message = f"there is no platform {kind!r}; installed are: {known}"
        raise UnknownPlatform(message) from None


@functools.cache
def find_outlet(kind: str) -> Outlet | None:
    """What delivery must know of a platform; None if it is not installed."""
    platform = installed().get(kind)
    return outlet_of(platform) if platform else None
