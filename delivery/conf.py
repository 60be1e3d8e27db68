"""The DELIVERY setting, typed."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings


@dataclass(frozen=True)
class DeliverySettings:
    """How long a debt lives and how hard it is tried ([D6]).

    Attributes:
        validity: An obligation older than this is abandoned.
        max_recoveries: How often a message whose fate is unknown is sent again.
        keep_settled: How long delivered and abandoned rows are kept.
        most_settled: How many of them are kept at most; what is owed does not count.
    """

    validity: timedelta = timedelta(hours=24)
    max_recoveries: int = 3
    keep_settled: timedelta = timedelta(days=7)
    most_settled: int = 200_000


def delivery_settings() -> DeliverySettings:
    """The settings in force."""
    raw = {key.lower(): value for key, value in getattr(settings, "DELIVERY", {}).items()}
    return DeliverySettings(**raw)
