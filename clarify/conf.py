"""The CLARIFY setting, typed."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings


@dataclass(frozen=True)
class ClarifySettings:
    """How long what is over is kept ([O2]).

    Attributes:
        keep_closed: How long a closed question or approval is kept, with what was said to it.
        keep_permits: How long a lasting approval is kept after it ran out.
    """

    keep_closed: timedelta = timedelta(days=90)
    keep_permits: timedelta = timedelta(days=90)


def clarify_settings() -> ClarifySettings:
    """The settings in force."""
    raw = {key.lower(): value for key, value in getattr(settings, "CLARIFY", {}).items()}
    return ClarifySettings(**raw)
