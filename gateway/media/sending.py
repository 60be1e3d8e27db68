"""The last step of a file: the best form that the platform takes, and no upload that can be spared.

A file that the platform has from before is named by its id there. A form that it refuses becomes a
document, and a file that cannot be sent at all a line that says what is missing.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from delivery.addresses import Address
from delivery.content import Media
from delivery.errors import Refused, Unsupported
from delivery.means import Ambience
from delivery.ports import OutgoingPart, Readable, Receipt, Transport
from gateway.fetching.limits import in_words
from gateway.media import forms, shelf
from gateway.ports import OutgoingFile, TakesFiles


def carrier(account: str, transport: Transport, ambience: Ambience) -> Transport:
    """A transport that also sends what lies in the media store.

    Args:
        account: The account's name.
        transport: Its open connection.
        ambience: Database and clock.
    """
    kind = _ReadableCarrier if isinstance(transport, Readable) else _Carrier
    return kind(account, transport, ambience)


class _Carrier:
    """A transport that sends files, made of one that takes them and the store they lie in."""

    def __init__(self, account: str, transport: Transport, ambience: Ambience) -> None:
        self._account, self._transport, self._ambience = account, transport, ambience

    async def send(self, part: OutgoingPart) -> Receipt:
        """Send a message, with its file if it has one."""
        media = part.body.media
        if media is None:
            return await self._transport.send(part)
        if not isinstance(self._transport, TakesFiles):
            return await self._say_instead(part, media)
        for form in forms.worse(media.form):
            try:
                return await self._send_as(self._transport, form, part, media)
            except FileNotFoundError:
                break
            except Refused as error:
                # What it says about the chat or the words, the outbox knows what to do about.
                if type(error) not in {Refused, Unsupported}:
                    raise
        return await self._say_instead(part, media)

    async def edit(self, message_id: str, part: OutgoingPart) -> Receipt:
        """Replace the words of a message."""
        return await self._transport.edit(message_id, part)

    async def delete(self, address: Address, message_id: str) -> None:
        """Remove a message."""
        await self._transport.delete(address, message_id)

    async def typing(self, address: Address) -> None:
        """Show that an answer is being made."""
        await self._transport.typing(address)

    async def _send_as(
        self, platform: TakesFiles, form: str, part: OutgoingPart, media: Media
    ) -> Receipt:
        file = OutgoingFile(form=form, name=media.name, mime_type=media.mime_type)
        known = await self._ask(shelf.known_upload, self._account, form, media.sha256)
        if known:
            try:
                return await platform.send_file(part, replace(file, remote_id=known))
            except Refused as error:
                if type(error) is not Refused:
                    raise
                # It knows the file no longer by that name: give it once more.
                await self._ask(shelf.forget_upload, self._account, form, media.sha256)
        with ExitStack() as opened:
            content = opened.enter_context(shelf.store().open(media.number))
            receipt = await platform.send_file(part, replace(file, content=content))
        if receipt.media_id:
            await self._ask(
                shelf.remember_upload,
                self._account,
                form,
                media.sha256,
                receipt.media_id,
                now=self._ambience.clock(),
            )
        return receipt

    async def _say_instead(self, part: OutgoingPart, media: Media) -> Receipt:
        line = _("📎 %(name)s (%(size)s) could not be sent here.") % {
            "name": media.name,
            "size": in_words(media.size),
        }
        words = "\n\n".join(filter(None, (part.body.text, line)))
        body = replace(part.body, text=words, plain=words, length=len(words), media=None)
        return await self._transport.send(replace(part, body=body))

    async def _ask(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self._ambience.database(function, *args, **kwargs)


class _ReadableCarrier(_Carrier):
    """The same of a transport in which one can look whether a message has arrived."""

    async def look(self, part: OutgoingPart, *, since: datetime) -> Receipt | None:
        """Look whether `part` has arrived."""
        transport = self._transport
        if not isinstance(transport, Readable):  # it was when this was made
            raise Unsupported
        return await transport.look(part, since=since)
