"""The few words delivery itself says to a person."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

RECOVERED = _("♻️ Recovered reply — this may be a duplicate")
FROM_THREAD = _("↩️ The thread this belongs to is gone, so it is sent here")
ELSEWHERE = _("↪️ The answer stands in another message")
STOPPED = _("⏹ Stopped")


def given_up(count: int, reference: int) -> str:
    """That so many messages are not sent any more; whether they arrived is not always known."""
    words = ngettext(
        "⚠️ A message may not have reached you and was given up. If you miss it, please ask again."
        " (reference: delivery {reference})",
        "⚠️ {count} messages may not have reached you and were given up. If you miss them, please"
        " ask again. (reference: delivery {reference})",
        count,
    )
    return words.format(count=count, reference=reference)
