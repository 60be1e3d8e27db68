"""System checks: what is wrong with the installation, and what to do."""

from typing import Any

from django.conf import settings
from django.core import checks

from gateway import platforms
from gateway.conf import gateway_settings


def register() -> None:
    """Register the checks of this app."""
    checks.register(check_platforms)
    checks.register(check_secret_key, deploy=True)


def check_platforms(**_kwargs: Any) -> list[checks.CheckMessage]:
    """Every platform named in the settings can be imported and has a name of its own."""
    try:
        count = len(platforms.installed())
    except (ImportError, AttributeError) as error:
        return [
            checks.Error(
                f"A platform cannot be imported: {error}",
                hint="GATEWAY['PLATFORMS'] lists packages that expose `platform`.",
                id="gateway.E001",
            )
        ]
    if count != len(gateway_settings().platforms):
        return [checks.Error("Two platforms have the same kind.", id="gateway.E002")]
    return []


def check_secret_key(**_kwargs: Any) -> list[checks.CheckMessage]:
    """A key that anybody can guess protects nothing."""
    if settings.SECRET_KEY.startswith("insecure-"):
        return [
            checks.Error(
                "HERMES_SECRET_KEY is not set.",
                hint="Set it to 50 random characters, the same on every host.",
                id="gateway.E003",
            )
        ]
    return []
