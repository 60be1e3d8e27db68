"""Whether a session has ended by itself, by the clock ([S4]). Pure."""

from datetime import datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from gateway import zones
from gateway.rules import Reset, Rules


class EndReason(StrEnum):
    """Why a session ended, as its row says."""

    NEW = "new"  # /new
    IDLE = "idle"  # nobody spoke for so long
    DAILY = "daily"  # its hour of the day had come
    SUSPENDED = "suspended"  # by staff, by /stop, or because its turns killed their workers
    RESUMED = "resumed"  # another one was taken up again with /resume


def over_by(
    rules: Rules, *, last_word: datetime, now: datetime, zone: ZoneInfo
) -> EndReason | None:
    """Why a session that was last spoken in at `last_word` is over; None if it is not.

    Args:
        rules: What holds in its chat.
        last_word: When anything last happened in it; aware.
        now: The present.
        zone: The installation's time zone, where the rules name none.
    """
    if rules.reset is Reset.IDLE:
        quiet = timedelta(minutes=rules.idle_minutes or 0)
        return EndReason.IDLE if now - last_word >= quiet else None
    if rules.reset is Reset.DAILY:
        own = ZoneInfo(rules.time_zone) if rules.time_zone else zone
        at = zones.last_hour(rules.hour or 0, own, now)
        return EndReason.DAILY if last_word < at else None
    return None
