"""What is done on a platform at once and owed to nobody: it is dropped where there is no room."""

import logging

from delivery import masking
from delivery.errors import TransportError
from delivery.traffic import Traffic
from gateway.deeds import AckPress, ShowHeard
from gateway.messages import ButtonPress, Form, ids_of
from gateway.ports import Adapter, OpensForms, ShowsHeard

logger = logging.getLogger(__name__)


class Courtesies:
    """Signs that something was heard, for one account; a failure is a line in the log.

    Args:
        adapter: The account's.
        traffic: What it may send now.
        has_toasts: A press is answered with words of its own, beside the message.
    """

    def __init__(self, adapter: Adapter, traffic: Traffic, *, has_toasts: bool) -> None:
        self.adapter, self.traffic, self.has_toasts = adapter, traffic, has_toasts

    async def acknowledge(self, deed: AckPress) -> None:
        """Answer a press: with a form, with words, or by ending its spinner."""
        if not self.traffic.has_room(deed.press.source.address, "acknowledge"):
            return  # a spinner may turn for longer; what is owed may not
        text = "" if deed.is_echo and not self.has_toasts else str(deed.text)
        try:
            if deed.form is not None and await self._has_opened(deed.press, deed.form):
                return
            await self.adapter.acknowledge(deed.press, text=text, alert=deed.alert)
        except TransportError as error:
            with masking.people(*ids_of(deed.press)):
                logger.info("A press could not be acknowledged: %s", error.detail)

    async def show_heard(self, deed: ShowHeard) -> None:
        """Put the sign on a message that it was heard and waits."""
        if not isinstance(self.adapter, ShowsHeard):
            return
        if not self.traffic.has_room(deed.address, "typing"):
            return
        try:
            await self.adapter.show_heard(deed.address, deed.message_id)
        except TransportError as error:
            logger.info("A message bears no sign that it was heard: %s", error.detail)

    async def _has_opened(self, press: ButtonPress, form: Form) -> bool:
        """Whether the presser sees a form; where they do not, words ask for the same."""
        if not isinstance(self.adapter, OpensForms):
            return False
        try:
            await self.adapter.open_form(press, form)
        except TransportError as error:
            logger.info("A form could not be shown: %s", error.detail)
            return False
        return True
