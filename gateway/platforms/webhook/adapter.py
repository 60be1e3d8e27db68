"""Webhooks out: each part of a message posted to one receiver, signed.

One account is one receiver. `connect` opens nothing: whether the receiver is there shows when
something is posted.
"""

import asyncio
from datetime import UTC, datetime
from urllib.parse import urlsplit

from delivery.addresses import Address
from delivery.errors import (
    AuthenticationRefused,
    NetworkDown,
    OutcomeUnknown,
    Refused,
    Unsupported,
)
from delivery.ports import OutgoingPart, Receipt
from gateway.fetching.errors import FetchError, Forbidden, NoAnswer
from gateway.fetching.posting import GuardedPoster
from gateway.messages import Batch, ButtonPress
from gateway.platforms.webhook import conf, formatting, refusals, signing
from gateway.platforms.webhook.errors import BadSecret
from gateway.ports import AccountConfig, BotIdentity

QUIET_SECONDS = 30


class WebhookAdapter:
    """One receiver.

    Args:
        config: Where it is, and the secret it knows.
        poster: Posts, to where it may.
        is_private_fine: Whoever runs this installation lets it post to private addresses, too.
    """

    def __init__(
        self, config: AccountConfig, poster: GuardedPoster, *, is_private_fine: bool
    ) -> None:
        self.config, self._poster = config, poster
        self._is_private_fine = is_private_fine
        self._url = config.options.get("url", "").strip()
        self._refusal: AuthenticationRefused | None = None

    async def connect(self) -> BotIdentity:
        """Look whether the settings are good.

        After a post that was refused for its signature it says so once, for there is no other way
        to ask: that keeps the account apart for a while and shows staff why, and then the next
        post tells whether it was mended.
        """
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal
        found = conf.problems(self.config, is_private_fine=self._is_private_fine)
        if found:
            raise AuthenticationRefused(" ".join(found))
        host = urlsplit(self._url).hostname or self.config.slug
        return BotIdentity(user_id=host, user_name=host)

    async def disconnect(self) -> None:
        """There is nothing to close: each post has a connection of its own."""

    async def receive(self, cursor: str) -> Batch:
        """Nothing comes in this way: what is posted to us comes in over the site."""
        await asyncio.sleep(QUIET_SECONDS)
        return Batch(cursor, ())

    async def send(self, part: OutgoingPart) -> Receipt:
        """Post the part, signed anew with the time of this try and the id of all tries."""
        body = formatting.body_of(part)
        now = datetime.now(UTC)
        try:
            signed = signing.signed_headers(
                conf.secrets_of(self.config), part.idempotency_key, int(now.timestamp()), body
            )
        except BadSecret as error:
            raise AuthenticationRefused(str(error)) from error
        headers = {"Content-Type": "application/json", **signed}
        try:
            answer = await self._poster.post(self._url, body, headers)
        except Forbidden as error:
            raise Refused(str(error)) from error
        except NoAnswer as error:
            raise OutcomeUnknown(str(error)) from error
        except FetchError as error:
            raise NetworkDown(str(error)) from error
        refusal = refusals.error_for(answer.status, answer.headers, now)
        if isinstance(refusal, AuthenticationRefused):
            self._refusal = refusal
        if refusal is not None:
            raise refusal
        return Receipt(message_id=part.idempotency_key)

    async def edit(self, message_id: str, part: OutgoingPart) -> Receipt:  # noqa: ARG002 - the port
        """What a receiver was told stays told."""
        raise Unsupported

    async def delete(self, address: Address, message_id: str) -> None:  # noqa: ARG002 - the port
        """What a receiver was told stays told."""
        raise Unsupported

    async def typing(self, address: Address) -> None:
        """Nobody watches a receiver."""

    async def acknowledge(self, press: ButtonPress, *, text: str, alert: bool) -> None:
        """There are no buttons."""
