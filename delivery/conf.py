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
        keep_previews: How long a live message is known that no final has replaced.
        keep_closed_chats: How long a chat that refused us counts as closed; then it is tried again.
    """

    validity: timedelta = timedelta(hours=24)
    max_recoveries: int = 3
    keep_settled: timedelta = timedelta(days=7)
    most_settled: int = 200_000
    keep_previews: timedelta = timedelta(days=2)
    keep_closed_chats: timedelta = timedelta(days=365)


def delivery_settings() -> DeliverySettings:
    """The settings in force."""
    raw = {key.lower(): value for key, value in getattr(settings, "DELIVERY", {}).items()}
    return DeliverySettings(**raw)
