"""The few words delivery itself says to a person."""

from django.utils.translation import gettext_lazy as _

RECOVERED = _("♻️ Recovered reply — this may be a duplicate")
FROM_THREAD = _("↩️ The thread this belongs to is gone, so it is sent here")
STOPPED = _("⏹ Stopped")
